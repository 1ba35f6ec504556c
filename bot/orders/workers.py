"""The regular jobs of orders, except the polling (`tracking/poller.py`)."""

from datetime import timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.workers import run_each
from bot.orders.placement.lost_orders import LostOrders
from bot.orders.repository import OrderRepository
from bot.orders.tracking.observer import Observer

EVERY_TWO_SECONDS: Final = 2.0

EVERY_MINUTE: Final = 60.0
FAR_AHEAD: Final = timedelta(days=1)
"""Every open order is due much sooner than that."""


class OrderWorkers:
    """Run the jobs. Each method returns the seconds until its next call."""

    def __init__(self, observer: Observer, lost_orders: LostOrders) -> None:
        self._observer = observer
        self._lost_orders = lost_orders

    async def check_times(self) -> float:
        """Close old questions, report paid orders that take too long, and put off unreadable ones."""
        await run_each("expiries", (self._observer.put_off_unreadable, self._observer.check_times), lambda step: step())
        return EVERY_TWO_SECONDS

    async def find_lost_orders(self) -> float:
        """Look for orders with an unknown result."""
        await self._lost_orders.run_once()
        return EVERY_TWO_SECONDS


class MalformedOrderFinder:
    """Read the orders that are due implausibly late, because their times may be malformed.

    SQLite compares times as text. So a malformed time can sort after all others, and its row would never be read. Once
    it is read, it is recorded as an unreadable row.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def tick(self) -> float:
        """Read the orders once, and return the seconds until the next time."""
        far_ahead = self._clock.now() + FAR_AHEAD
        async with self._database.reading() as tx:
            for is_paid in (True, False):
                await OrderRepository(tx).due_after(far_ahead, is_paid=is_paid)
        return EVERY_MINUTE
