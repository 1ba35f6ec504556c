"""Measurements of the bot's own records, kept in memory for half an hour."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from bot.core.clock import Clock
from bot.core.sample_size import SAMPLE_PERIOD
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.settlement.catalogue import CachedValue

T = TypeVar("T")

CACHED_FOR: Final = timedelta(minutes=30)

Measure = Callable[[Transaction, datetime, datetime], Awaitable[T | None]]
"""Measures the records created between two times. Returns None if there are too few."""


class CachedMeasurement(Generic[T]):
    """Measure the records of the last 30 days, and keep the result."""

    def __init__(self, database: Database, clock: Clock, measure: Measure[T]) -> None:
        self._database = database
        self._clock = clock
        self._measure = measure
        self._shared = CachedValue(self._read, CACHED_FOR, clock)

    async def get(self) -> T | None:
        """Return the measurement, or None if there are too few records or the database doesn't answer."""
        try:
            return await self._shared.get()
        except StoreDown:
            return None

    async def _read(self) -> T | None:
        now = self._clock.now()
        async with self._database.reading() as tx:
            return await self._measure(tx, now - SAMPLE_PERIOD, now)
