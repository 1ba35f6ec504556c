"""Notifications, their queues, and the outcomes of an attempt to send one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, Self, TypeVar


class Queue(StrEnum):
    """A queue of notifications. Each keeps its order within a chat, and no queue waits for another.

    Attributes:
        slots: how many are sent at once. So slow pictures and many quotes never delay money.
        max_tries: a notification is given up after so many. None for never. 24 take about four hours.
    """

    slots: int
    max_tries: int | None

    URGENT = "urgent", 48, None  # most are about money
    # Edits and removals of messages that were sent, and what is due hours later. Only those about one subject keep
    # their order.
    EDITS = "edits", 24, 24
    EXTRA = "extra", 24, 24  # pictures, files and conversation
    BULK = "bulk", 128, None  # one message to many users, within the limit for bulk. All slots only if it is paid for

    def __new__(cls, name: str, slots: int = 0, max_tries: int | None = None) -> Self:
        """Create the queue that rows store by this name."""
        member = str.__new__(cls, name)
        member._value_, member.slots, member.max_tries = name, slots, max_tries
        return member


BACKLOG_QUEUES: Final = (Queue.URGENT, Queue.EDITS, Queue.EXTRA)
"""The queues whose waiting notifications are a backlog. Those in bulk are sent at the pace of a broadcast."""

KEEP_SENT: Final = timedelta(days=30)
"""How long the bot keeps a notification after it was sent or given up."""


@dataclass(frozen=True, slots=True)
class NoPayload:
    """The payload of a notification that has no data beyond its kind."""


Payload = TypeVar("Payload")


class NotificationKind(StrEnum):
    """The kinds of notification of one feature. Each has the name that rows store, its payload's type, and its queue.

        class RateNotification(NotificationKind):
            DAILY_QUOTE = "daily_quote", DailyQuote, Queue.BULK
            PRICE_ALERT = "rate_alert", PriceReached, Queue.BULK

    A payload is a frozen dataclass. Its fields are JSON values, times, decimals and enums.
    """

    payload: type[Any]
    queue: Queue

    def __new__(cls, name: str, payload: type[Any] = NoPayload, queue: Queue = Queue.URGENT) -> Self:
        """Create the kind with this name."""
        member = str.__new__(cls, name)
        member._value_, member.payload, member.queue = name, payload, queue
        return member

    def create(
        self, chat_id: int, subject: str, payload: Payload, now: datetime, mark: str = ""
    ) -> "Notification[Payload]":
        """Return a notification of this kind that is due now."""
        return Notification(
            chat_id=chat_id,
            subject=subject,
            kind=self,
            mark=mark,
            queue=self.queue,
            payload=payload,
            due_at=now,
            created_at=now,
        )


def format_subject(*parts: object) -> str:
    """Return the subject of a row as text, such as "order:R2345AB". No code parses it."""
    return ":".join(str(part) for part in parts)


def format_mark(*parts: object) -> str:
    """Return the text that distinguishes rows of one subject and kind, such as "order.7". No code parses it."""
    return ".".join(str(part) for part in parts)


def format_moment(moment: datetime) -> str:
    """Return a time as a part of a subject or a mark, exact to the microsecond."""
    return f"{moment:%Y%m%dT%H%M%S%f}"


class NotificationStatus(StrEnum):
    """The status of a notification."""

    WAITING = "waiting"
    SENDING = "sending"  # saved before the request: after a crash it may have arrived
    SENT = "sent"
    UNDELIVERABLE = "undeliverable"


P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification(Generic[P_co]):
    """One row of the outbox, unique by subject, kind, mark and chat. Rows of a chat are sent in the order of `id`.

    `kind` is a member of a feature's `NotificationKind`, or its name if the row was only read.
    """

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    mark: str = ""
    queue: Queue = Queue.URGENT
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
"""A row as it was read, with its payload as JSON."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """The message of a notification: the id of the notification's row, its kind, and Telegram's id of the message."""

    notification_id: int
    kind: str
    message_id: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many notifications have waited too long, and since when the oldest has waited."""

    count: int = 0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The notification reached its chat, or nothing needed to be sent."""

    message_id: int | None = None
    topic_id: int | None = None
    """The topic of the message, in a chat with topics."""

    without_picture: bool = False
    """Telegram rejected the picture, so the message was sent as text."""

    others: tuple[StoredNotification, ...] = ()
    """Later notifications of the chat that the same message has shown. They are finished with this one."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """The notification isn't sent yet. Try again in `after` seconds. `maybe_sent`: the request may have arrived."""

    after: float
    maybe_sent: bool = False


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """The notification can't be sent: the chat can't be reached (`whole_chat`), or Telegram rejects the message."""

    reason: str
    whole_chat: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable(Undeliverable):
    """Nobody can read the notification or its subject. No follow-up is called."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """This version doesn't know its kind or a value. It stays as it is until an operator decides."""


@dataclass(frozen=True, slots=True)
class ChatMoved(Undeliverable):
    """Nothing was sent, because the chat has another id now. The notification can be sent there."""

    new_chat_id: int = 0


DeliveryOutcome = Sent | RetryLater | Undeliverable | ChatMoved | Unknown
"""The outcome of one attempt to send a notification."""


class NotificationSender(Protocol):
    """Turns a notification into a message in the reader's language, and sends, edits or deletes that message."""

    async def send(self, notification: StoredNotification, /) -> DeliveryOutcome:
        """Make one attempt. Raise no errors of Telegram or the network."""
        ...
