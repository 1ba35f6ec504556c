"""What orders need done again and again, besides the polling (`tracking/poller.py`)."""

from typing import Final

from bot.orders.placement.reconciler import Reconciler
from bot.orders.tracking.observer import Observer

EVERY_SECOND: Final = 1.0
WHILE_LOOKING: Final = 2.0
"""Seconds between two searches for orders with an unknown outcome."""


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
