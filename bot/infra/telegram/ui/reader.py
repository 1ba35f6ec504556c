"""The reader of a screen: language, time zone, current time, and for staff the names of users."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui import formatting


@dataclass(frozen=True, slots=True)
class Reader:
    """The language, time zone and current time (in UTC) of the user who reads a screen.

    `names` has names of the users on a screen for staff, by id. It can lack some.
    """

    t: Translator
    zone: tzinfo
    now: datetime
    names: Mapping[int, str] = field(default_factory=dict)

    def format_clock(self, moment: datetime) -> Html:
        """Return a time of day in the reader's zone as `formatting.format_clock` does."""
        return formatting.format_clock(self.t, moment, self.zone)

    def format_time(self, moment: datetime, *, round_up: bool = True) -> str:
        """Return a time in the reader's zone as `formatting.format_time` does."""
        return formatting.format_time(self.t, moment, self.now, self.zone, round_up=round_up)

    def format_day(self, moment: datetime) -> str:
        """Return a day in the reader's zone as `formatting.format_day` does."""
        return formatting.format_day(self.t, moment, self.now, self.zone)

    def name_of(self, user_id: int) -> str:
        """Return a user's name, or their id if the name isn't known. For buttons and alerts."""
        return formatting.clip(self.names.get(user_id, "")) or str(user_id)

    def format_user(self, user_id: int) -> Html:
        """Return a customer as staff see them: the name, and the id to copy and to search for."""
        name, code = self.names.get(user_id), f"<code>{user_id}</code>"
        return Html(f"{as_html(formatting.clip(name))} ({code})" if name else code)

    def format_staff(self, staff_id: int) -> Html:
        """Return a member of staff by name, or by id if the name isn't known."""
        name = self.names.get(staff_id)
        return Html(f"<b>{as_html(formatting.clip(name))}</b>" if name else f"<code>{staff_id}</code>")

    def mention(self, staff_id: int) -> Html:
        """Return a mention of a member of staff by name. It notifies them."""
        return Html(f'<a href="tg://user?id={staff_id}">{as_html(self.name_of(staff_id))}</a>')
