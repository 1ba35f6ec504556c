"""The reader of a screen, and times, days and pieces of text as messages show them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from bot.core.date_ranges import Span
from bot.core.errors import Rejection, Remark
from bot.core.text import plain
from bot.core.zones import PRESUMED
from bot.infra.i18n import Html, Translator, as_html

NAME_SHOWN = 40
"""Characters. A longer name would push other text out of the caption of a picture."""


def clip(text: str, longest: int = NAME_SHOWN) -> str:
    """Return `text`, shortened to `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def quote_input(text: str) -> str:
    """Return the beginning of what a user typed, on one line and without characters that would hide or turn text."""
    return clip(plain(text)) or "…"


def format_clock(t: Translator, moment: datetime, zone: tzinfo) -> Html:
    """Return the time of day in the user's zone, with the zone's name.

    All times of an order have this form, so that they can be compared. While the zone is presumed, a tap on the time
    shows it in the zone of the device: without a format, apps show the text as it is.
    """
    clock = t.clock(moment, zone)
    return as_html(clock) if zone is not PRESUMED else _tag_time(clock, moment)


def format_clock_of_device(t: Translator, moment: datetime) -> Html:
    """Return the time of day that each app shows in the zone of its device, for a text that many users get.

    An app that can't do so shows it in the presumed zone.
    """
    return _tag_time(t.clock(moment, PRESUMED), moment, "t")


def _tag_time(shown: str, moment: datetime, how: str = "") -> Html:
    attribute = f' format="{how}"' if how else ""
    return Html(f'<tg-time unix="{int(moment.timestamp())}"{attribute}>{shown}</tg-time>')


def format_time(t: Translator, moment: datetime, now: datetime, zone: tzinfo, *, round_up: bool = True) -> str:
    """Return the time in the user's zone, with its day where that isn't today.

    `round_up` rounds to the next full minute, for times in the future.
    """
    if round_up and (moment.second or moment.microsecond):
        moment = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
    is_today = moment.astimezone(zone).date() == now.astimezone(zone).date()
    return t.clock(moment, zone) if is_today else t.date_time(moment, zone)


def format_day(t: Translator, moment: datetime, now: datetime, zone: tzinfo) -> str:
    """Return the day in the user's zone: "today", "17 Aug", in another year "17 Aug 2025"."""
    day, today = moment.astimezone(zone).date(), now.astimezone(zone).date()
    return t.plain("infra.time.today") if day == today else t.date(moment, zone, with_year=day.year != today.year)


def format_span(t: Translator, span: Span, zone: tzinfo) -> str:
    """Return a period in the user's zone, from when to when."""
    first, end = t.date_time(span.since, zone), t.date_time(span.until, zone)
    return f"{first} – {end}"  # noqa: RUF001  a dash between two times


def format_arguments(t: Translator, message: Rejection | Remark, now: datetime, zone: tzinfo) -> dict[str, object]:
    """Return the arguments of the message's text, with times as the user reads them."""
    return {
        name: format_time(t, value, now, zone) if isinstance(value, datetime) else value
        for name, value in message.arguments.items()
    }


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
        """Return a time of day in the reader's zone as `format_clock` does."""
        return format_clock(self.t, moment, self.zone)

    def format_time(self, moment: datetime, *, round_up: bool = True) -> str:
        """Return a time in the reader's zone as `format_time` does."""
        return format_time(self.t, moment, self.now, self.zone, round_up=round_up)

    def format_day(self, moment: datetime) -> str:
        """Return a day in the reader's zone as `format_day` does."""
        return format_day(self.t, moment, self.now, self.zone)

    def format_rejection(self, rejection: Rejection) -> Html:
        """Return the reason of a rejection, in the reader's language and time zone."""
        return self.t(rejection.key, **format_arguments(self.t, rejection, self.now, self.zone))

    def name_of(self, user_id: int) -> str:
        """Return a user's name, or their id if the name isn't known. For buttons and alerts."""
        return clip(self.names.get(user_id, "")) or str(user_id)

    def format_user(self, user_id: int) -> Html:
        """Return a customer as staff see them: the name, and the id to copy and to search for."""
        name, code = self.names.get(user_id), f"<code>{user_id}</code>"
        return Html(f"{as_html(clip(name))} ({code})" if name else code)

    def format_staff(self, staff_id: int) -> Html:
        """Return a member of staff by name, or by id if the name isn't known."""
        name = self.names.get(staff_id)
        return Html(f"<b>{as_html(clip(name))}</b>" if name else f"<code>{staff_id}</code>")

    def mention(self, staff_id: int) -> Html:
        """Return a mention of a member of staff by name. It notifies them."""
        return Html(f'<a href="tg://user?id={staff_id}">{as_html(self.name_of(staff_id))}</a>')
