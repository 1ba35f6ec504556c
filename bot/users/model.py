"""Users and what they did, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.zones import zone_of

FAREWELL: Final = "farewell"
"""The kind of the last message to a user whose data was just deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has written to the bot in private; there the chat's id is the person's own.

    `suggestion` is the code of the phrase that was suggested to them last; without a phrase of their own, their first
    invoice bears that one. `notices` is what they chose about being told (kind -> how), where it differs from the
    usual. `awaits` names the question outside of a draft whose typed answer is waited for
    (`infra/telegram/ui/questions.py`), and `answered_update_id` the last update that has answered one. `seen_at` is
    when they last acted, to a day. An empty `time_zone` is one that they haven't chosen: Jakarta's is presumed.
    `username` is their public name, in small letters and without @.
    """

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = ""
    blocked_at: datetime | None = None
    created_at: datetime
    phrase: str | None = field(default=None, repr=False)
    suggestion: str | None = field(default=None, repr=False)
    notices: Mapping[str, str] | None = None
    awaits: str | None = None
    answered_update_id: int | None = None
    delete_asked_at: datetime | None = None
    seen_at: datetime | None = None
    username: str | None = None

    @property
    def zone(self) -> ZoneInfo:
        """The time they live by."""
        return zone_of(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAct:
    """Something a person did, as an event: never what they wrote. `what` is a word of ours ("pressed.look")."""

    person_id: int
    reference: str = ""
    at: datetime
    what: str
