"""Measurements of the bot's own records, kept in memory."""

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Final, Generic, TypeVar

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.settlement.catalogue import CachedValue

T = TypeVar("T")

CACHED_FOR: Final = timedelta(minutes=30)


class CachedMeasurement(ABC, Generic[T]):
    """Measure records of the bot, and keep the result for `keep_for`."""

    def __init__(self, database: Database, clock: Clock, keep_for: timedelta = CACHED_FOR) -> None:
        self._database = database
        self._clock = clock
        self._shared = CachedValue(self._measure, keep_for, clock)

    async def get(self) -> T | None:
        """Return the measurement, or None if there are too few records or the database doesn't answer."""
        try:
            return await self._shared.get()
        except StoreDown:
            return None

    @abstractmethod
    async def _measure(self) -> T | None:
        """Read and measure the records. Return None if there are too few."""
