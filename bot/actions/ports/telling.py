"""What the use cases need of the rest of the world: the time, and somebody who tells the news."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.actions.ports.broadcasts import Broadcast, Delivery
from bot.actions.ports.records import News


class Clock(Protocol):
    """The time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """The time now, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """The news reached its chat, or nothing needed to be sent."""

    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class TellLater:
    """Not told yet: again in `after` seconds. `maybe_told` where the request may have arrived."""

    after: float
    maybe_told: bool = False


@dataclass(frozen=True, slots=True)
class Untellable:
    """It will never be told: the chat can't be reached (`whole_chat`) or the message itself is refused."""

    reason: str
    whole_chat: bool = False


class Teller(Protocol):
    """Turns one piece of news into a message in its reader's language, and sends, edits or deletes."""

    async def tell(self, news: News) -> Told | TellLater | Untellable:
        """One attempt; never raises for anything that Telegram may answer."""
        ...


Outcome = Told | TellLater | Untellable


class Courier(Protocol):
    """Brings one broadcast to one person."""

    async def bring(self, broadcast: Broadcast, delivery: Delivery, leaves: Callable[[], None]) -> Outcome:
        """One attempt; calls `leaves` when the request is made: cancelled before that, nothing was sent."""
        ...
