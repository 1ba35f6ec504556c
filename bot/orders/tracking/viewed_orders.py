"""Remember which orders users are viewing, so that the leader polls them first.

This is kept in memory only, because it only changes the sequence of polling. A process announces what is viewed there
to the others, and one of them leads. A lost announcement is repeated while the page is open. After a restart, open
pages are recorded again at their next request.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from bot.core.clock import Clock

K = TypeVar("K", bound=Hashable)

VIEWED_FOR = timedelta(seconds=30)
"""An open page sends a request at least every 15 seconds."""

ANNOUNCE_EVERY: Final = timedelta(seconds=5)
"""How often a process announces the same page or user."""

MAX_VIEWED = 200
"""The most recent keys are kept. More couldn't be polled first anyway."""

PAGE, USER = "viewed-page:", "active-user:"
"""The beginnings of announcements. The order's reference or the user's id follows."""


class ViewedOrders:
    """The open payment pages, and the users who have just sent a message or pressed a button."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: _Recent[str] = _Recent()
        self._users: _Recent[int] = _Recent()
        self._announced: _Recent[str] = _Recent()
        self.announce: Callable[[str], None] = lambda _: None
        """Sends an announcement to the other processes. `bot/process.py` sets it if there can be others."""

    def record_viewed_page(self, reference: str) -> None:
        """Record that the payment page of an order is open."""
        self._pages.add(reference, self._clock.now())
        self._announce(f"{PAGE}{reference}")

    def record_active_user(self, user_id: int) -> None:
        """Record that a user has just sent a message or pressed a button."""
        self._users.add(user_id, self._clock.now())
        self._announce(f"{USER}{user_id}")

    def record_announcement(self, announcement: str) -> bool:
        """Record what another process has announced. Return False if it is about something else."""
        if announcement.startswith(PAGE):
            self._pages.add(announcement.removeprefix(PAGE), self._clock.now())
            return True
        if announcement.startswith(USER):
            self._users.add(int(announcement.removeprefix(USER)), self._clock.now())
            return True
        return False

    def references(self) -> tuple[str, ...]:
        """Return the orders whose pages are open."""
        return self._pages.since(self._clock.now() - VIEWED_FOR)

    def users(self) -> tuple[int, ...]:
        """Return the users who are active."""
        return self._users.since(self._clock.now() - VIEWED_FOR)

    def _announce(self, announcement: str) -> None:
        now = self._clock.now()
        self._announced.forget_until(now - ANNOUNCE_EVERY)
        if announcement not in self._announced:
            self._announced.add(announcement, now)
            self.announce(announcement)


class _Recent(Generic[K]):
    """Keys with the time of their last use, the most recent last."""

    def __init__(self) -> None:
        self._seen_at: OrderedDict[K, datetime] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._seen_at

    def add(self, key: K, at: datetime) -> None:
        self._seen_at[key] = at
        self._seen_at.move_to_end(key)
        if len(self._seen_at) > MAX_VIEWED:
            self._seen_at.popitem(last=False)

    def forget_until(self, earliest: datetime) -> None:
        while self._seen_at and next(iter(self._seen_at.values())) <= earliest:
            self._seen_at.popitem(last=False)

    def since(self, earliest: datetime) -> tuple[K, ...]:
        self.forget_until(earliest)
        return tuple(self._seen_at)
