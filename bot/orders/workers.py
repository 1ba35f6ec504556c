"""What orders need done again and again, besides the polling (`tracking/poller.py`)."""

from datetime import timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.orders.placement.reconciler import Reconciler
from bot.orders.repository import OrderRepository
from bot.orders.tracking.observer import Observer

EVERY_SECOND: Final = 1.0
WHILE_LOOKING: Final = 2.0
"""Seconds between two searches for orders with an unknown outcome."""

EVERY_MINUTE: Final = 60.0
FAR_AHEAD: Final = timedelta(days=1)
"""Every open order is polled much sooner than that."""


class OrderWorkers:
    """Each method returns the seconds until its next call."""

    def __init__(self, observer: Observer, reconciler: Reconciler) -> None:
        self._observer = observer
        self._reconciler = reconciler

    async def check_times(self) -> float:
        """Close questions that are over, report paid orders that take too long, skip orders that can't be read."""
        await self._observer.skip_unreadable()
        await self._observer.close_offers()
        await self._observer.mark_overdue()
        return EVERY_SECOND

    async def reconcile(self) -> float:
        """Look for orders with an unknown outcome."""
        looked_for = await self._reconciler.run_once()
        return WHILE_LOOKING if looked_for else EVERY_SECOND


class MalformedOrderFinder:
    """Read the orders that seem to be due too far ahead.

    SQLite compares times as text, so a malformed one can come after all others, and nobody would ever read its row.
    Once read it is noted, and treated as any unreadable row.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def tick(self) -> float:
        """Do it once, and return the seconds until the next time."""
        from_then = self._clock.now() + FAR_AHEAD
        async with self._database.reading() as tx:
            for is_paid in (True, False):
                await OrderRepository(tx).due_after(from_then, is_paid=is_paid)
        return EVERY_MINUTE
