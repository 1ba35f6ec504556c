"""Remember which orders users are viewing, so that they are polled first.

This is kept in memory only, because it only changes the sequence of polling. After a restart, open pages are recorded
again at their next request.
"""

from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from bot.core.clock import Clock

K = TypeVar("K", bound=Hashable)

VIEWED_FOR = timedelta(seconds=30)
"""An open page sends a request at least every 15 seconds."""

MAX_VIEWED = 200
"""The most recent keys are kept. More couldn't be polled first anyway."""


class ViewedOrders:
    """The open payment pages, and the users who have just sent a message or pressed a button."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: _Recent[str] = _Recent()
        self._users: _Recent[int] = _Recent()

    def record_viewed_page(self, reference: str) -> None:
        """Record that the payment page of an order is open."""
        self._pages.add(reference, self._clock.now())

    def record_active_user(self, user_id: int) -> None:
        """Record that a user has just sent a message or pressed a button."""
        self._users.add(user_id, self._clock.now())

    def references(self) -> tuple[str, ...]:
        """Return the orders whose pages are open."""
        return self._pages.since(self._clock.now() - VIEWED_FOR)

    def users(self) -> tuple[int, ...]:
        """Return the users who are active."""
        return self._users.since(self._clock.now() - VIEWED_FOR)


class _Recent(Generic[K]):
    """Keys with the time of their last use, the most recent last."""

    def __init__(self) -> None:
        self._seen_at: OrderedDict[K, datetime] = OrderedDict()

    def add(self, key: K, at: datetime) -> None:
        self._seen_at[key] = at
        self._seen_at.move_to_end(key)
        if len(self._seen_at) > MAX_VIEWED:
            self._seen_at.popitem(last=False)

    def since(self, earliest: datetime) -> tuple[K, ...]:
        while self._seen_at and next(iter(self._seen_at.values())) <= earliest:
            self._seen_at.popitem(last=False)
        return tuple(self._seen_at)
