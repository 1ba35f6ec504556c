"""Notifications, the queues that they wait in, and what can come of sending one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, Self, TypeVar


class Queue(StrEnum):
    """Where a message waits. In a chat each queue keeps its order, and none waits for another."""

    MONEY = "money"
    EXTRA = "extra"  # pictures, files and talk: a bounded number of tries
    RATE = "rate"


EXTRA_TRIES: Final = 24
"""A message in `Queue.EXTRA` is given up after so many tries, some four hours after the first."""


@dataclass(frozen=True, slots=True)
class NoPayload:
    """The payload of a notification that says nothing beyond its kind."""


class NotificationKind(StrEnum):
    """The kinds of notification of one feature. Each has a name, which rows store, and the type of its payload.

        class RateNotification(NotificationKind):
            DAILY_QUOTE = "daily_quote", DailyQuote
            PRICE_ALERT = "rate_alert", PriceReached

    A payload is a frozen dataclass of what JSON can hold, of times, decimals and enums.
    """

    payload: type[Any]

    def __new__(cls, name: str, payload: type[Any] = NoPayload) -> Self:
        """Create the member that rows name so."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.payload = payload
        return member


def subject_key(*parts: object) -> str:
    """Return the text by which a row knows its subject, such as "order:R2345AB". Nothing reads it back."""
    return ":".join(str(part) for part in parts)


def mark_of(*parts: object) -> str:
    """Return the text that tells a row from others of its subject and kind, such as "order.7". Nothing reads it."""
    return ".".join(str(part) for part in parts)


class NotificationStatus(StrEnum):
    """How far a notification is on its way to the user."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    SENT = "sent"
    UNDELIVERABLE = "undeliverable"


P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification(Generic[P_co]):
    """One row of the outbox. Unique by (subject, kind, mark, chat); rows of one chat are sent in the order of `id`.

    `kind` is a member of a feature's `NotificationKind`, or its name where the row was only read.
    """

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    mark: str = ""
    queue: Queue = Queue.MONEY
    payload: P_co
    status: NotificationStatus = NotificationStatus.WAITING
    attempts: int = 0
    maybe_sent: bool = False
    due_at: datetime
    created_at: datetime
    message_id: int | None = None
    sent_at: datetime | None = None
    failure: str | None = None


StoredNotification = Notification[Mapping[str, object]]
"""A row as it was read: nobody has looked at its payload yet."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Notifications that have waited too long: how many, and since when the oldest."""

    count: int = 0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The notification reached its chat, or nothing needed to be sent."""

    message_id: int | None = None
    topic_id: int | None = None
    """The topic that it stands in, where there are topics."""

    without_picture: bool = False
    """Its picture was refused, so it was sent as text."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Not sent yet: again in `after` seconds. `maybe_sent` where the request may have arrived."""

    after: float
    maybe_sent: bool = False


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """It will never be sent: the chat can't be reached (`whole_chat`) or the message itself is refused."""

    reason: str
    whole_chat: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable(Undeliverable):
    """The notification, or what it is about, can't be read. Nothing follows from that."""


@dataclass(frozen=True, slots=True)
class ChatMoved(Undeliverable):
    """Nothing was sent: the chat has another id from now on, where it can be sent."""

    new_chat_id: int = 0


DeliveryOutcome = Sent | RetryLater | Undeliverable | ChatMoved
"""What came of one attempt at a notification."""


class NotificationSender(Protocol):
    """Turns one notification into a message in its reader's language, and sends, edits or deletes."""

    async def send(self, notification: StoredNotification, /) -> DeliveryOutcome:
        """Make one attempt; never raise for anything that Telegram can answer."""
        ...
