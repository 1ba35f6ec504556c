"""Notifications, the queues that they wait in, and what can come of sending one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol


class Queue(StrEnum):
    """Where a message waits. In a chat each queue keeps its order, and none waits for another."""

    MONEY = "money"
    EXTRA = "extra"  # pictures, files and talk: a bounded number of tries
    RATE = "rate"


EXTRA_TRIES: Final = 24
"""A message in `Queue.EXTRA` is given up after so many tries, some four hours after the first."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of notification, and the mark that tells several of one subject apart (`card_edit:7`)."""

    name: str
    mark: str = ""

    @classmethod
    def parse(cls, text: str) -> "Kind":
        """Return the kind that `str` has written: the mark follows the first colon."""
        name, _, mark = text.partition(":")
        return cls(name, mark)

    def __str__(self) -> str:
        """Return the kind as a row stores it."""
        return f"{self.name}:{self.mark}" if self.mark else self.name


class NotificationStatus(StrEnum):
    """How far a notification is on its way to the user."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    TOLD = "told"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One row of the outbox. Unique by (subject, kind, chat); rows of one chat are told in the order of `id`."""

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    queue: Queue = Queue.MONEY
    payload: Mapping[str, object] = field(default_factory=dict)
    status: NotificationStatus = NotificationStatus.WAITING
    attempts: int = 0
    maybe_told: bool = False
    due_at: datetime
    created_at: datetime
    message_id: int | None = None
    told_at: datetime | None = None
    failure: str | None = None

    @property
    def kind_name(self) -> str:
        """Return the kind without its mark."""
        return Kind.parse(self.kind).name

    @property
    def kind_mark(self) -> str:
        """Return what tells this notification from others of its kind and subject; "" if nothing does."""
        return Kind.parse(self.kind).mark


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
    """Not told yet: again in `after` seconds. `maybe_told` where the request may have arrived."""

    after: float
    maybe_told: bool = False


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """It will never be told: the chat can't be reached (`whole_chat`) or the message itself is refused."""

    reason: str
    whole_chat: bool = False


@dataclass(frozen=True, slots=True)
class ChatMoved(Undeliverable):
    """Nothing was told, for the chat has another id from now on: there it can be told."""

    new_chat_id: int = 0


DeliveryOutcome = Sent | RetryLater | Undeliverable | ChatMoved
"""What came of one attempt at a notification."""


class NotificationSender(Protocol):
    """Turns one notification into a message in its reader's language, and sends, edits or deletes."""

    async def tell(self, notification: Notification, /) -> DeliveryOutcome:
        """Make one attempt; never raise for anything that Telegram can answer."""
        ...
