"""What the use cases need of the rest of the world: somebody who tells the news."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bot.broadcasts.model import Broadcast, Delivery
from bot.orders.order import Order
from bot.staff.model import Reveal
from bot.users.model import Notification


@dataclass(frozen=True, slots=True)
class Sent:
    """The news reached its chat, or nothing needed to be sent."""

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


class Renderer(Protocol):
    """Turns one piece of news into a message in its reader's language, and sends, edits or deletes."""

    async def tell(self, news: Notification) -> Sent | RetryLater | Undeliverable:
        """One attempt; never raises for anything that Telegram may answer."""
        ...


Outcome = Sent | RetryLater | Undeliverable


class Courier(Protocol):
    """Brings one broadcast to one person."""

    async def bring(self, broadcast: Broadcast, delivery: Delivery, leaves: Callable[[], None]) -> Outcome:
        """One attempt; calls `leaves` when the request is made: cancelled before that, nothing was sent."""
        ...


class RevealScreen(Protocol):
    """The one message in which a member of staff sees a full recipient, in their private chat."""

    async def open(self, staff_id: int, order: Order) -> Outcome:
        """Send it, with nothing in it yet that isn't masked; it can't be forwarded."""
        ...

    async def show(self, reveal: Reveal, order: Order) -> Outcome:
        """Put the full recipient in."""
        ...

    async def mask(self, reveal: Reveal, order: Order | None) -> Outcome:
        """Take it out again; `Sent` too where there is no such message any more."""
        ...
