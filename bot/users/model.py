"""Users and what they did, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.zones import zone_of
from bot.infra.outbox.model import NotificationKind
from bot.infra.telegram.inbound.model import ChatState


@dataclass(frozen=True, slots=True)
class DeletedUser:
    """The language of a user whose row is gone: the one they had chosen, and that of their app."""

    locale: str | None
    language_code: str | None


class UserNotification(NotificationKind):
    """Notifications about the user's own data."""

    DATA_DELETED = "data_deleted", DeletedUser
    """The last message to a user whose data was just deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user who has written to the bot in private. The chat has the same id.

    Attributes:
        time_zone: empty until the user chooses one. Jakarta's is presumed until then.
        suggested_phrase: the code of the phrase that was suggested last. It is on the first invoice of a user who has
            chosen no phrase.
        notification_preferences: how notifications arrive, where the user has changed it: topic -> way
            (`orders/preferences.py`).
        open_question: the question outside of a draft that waits for a typed answer (`questions.py`).
        answered_update_id: the last update that has answered such a question.
        chat: the state of the chat, which is read with the user and saved apart (`UserRepository.save_chats`).
        last_seen_at: when the user last acted, to a day.
        username: the public name, in small letters and without @.
    """

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = ""
    blocked_at: datetime | None = None
    created_at: datetime
    phrase: str | None = field(default=None, repr=False)
    suggested_phrase: str | None = field(default=None, repr=False)
    notification_preferences: Mapping[str, str] | None = None
    open_question: str | None = None
    answered_update_id: int | None = None
    deletion_requested_at: datetime | None = None
    last_seen_at: datetime | None = None
    username: str | None = None
    chat: ChatState | None = field(default=None, compare=False)

    @property
    def zone(self) -> ZoneInfo:
        """The user's time zone."""
        return zone_of(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """An event of a user, never what they wrote. `event` is a `UserEvent` or the result of `pressed`."""

    user_id: int
    reference: str = ""
    at: datetime
    event: str


PRESSED: Final = "pressed."
"""Before the name of a button under an order's message."""


class UserEvent(StrEnum):
    """What users do, except for buttons that they press."""

    OPENED_TICKET = "asked"  # wrote to support, and a ticket was opened by it
    ADDED_MESSAGE = "said"  # wrote more
    REOPENED = "reopened"
    RATED_GOOD = "rated.good"
    RATED_BAD = "rated.bad"
    BLOCKED = "blocked"  # the bot
    CAME_BACK = "came_back"


def press_event(action: str) -> str:
    """Return the event of a button under an order's message. `action` is what its data says."""
    return PRESSED + action
