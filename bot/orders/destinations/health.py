"""Measurements of the bot's own records, kept in memory: payout times, and how each destination is doing."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Generic, TypeVar

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.orders.destinations.model import SAMPLE_PERIOD, DestinationsHealth, PayoutTimes, Usual, judge, measure
from bot.orders.destinations.repository import DestinationRepository, PayoutTimeRepository
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


JUDGED_EVERY: Final = timedelta(minutes=1)
"""How often recent transfers are read. What is usual changes slowly and is read every half hour."""


class PayoutTimeMeasurement(CachedMeasurement[PayoutTimes]):
    """Measure the payout times of completed orders to all destinations together."""

    async def _measure(self) -> PayoutTimes | None:
        now = self._clock.now()
        async with self._database.reading() as tx:
            times = await PayoutTimeRepository(tx).between(now - SAMPLE_PERIOD, now)
        return times if times is not None and times.has_enough_samples else None


class DestinationHealthService(CachedMeasurement[DestinationsHealth]):
    """Say how each destination is doing. The monitor, the review and the wallet pages ask it, so all say the same."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock, JUDGED_EVERY)
        self._usual = CachedValue(self._measure_usual, CACHED_FOR, clock)

    async def _measure(self) -> DestinationsHealth:
        usual, now = await self._usual.get(), self._clock.now()
        async with self._database.reading() as tx:
            recent = await DestinationRepository(tx).recent(now)
        return await asyncio.to_thread(judge, usual, recent, now)

    async def _measure_usual(self) -> Mapping[str, Usual]:
        now = self._clock.now()
        async with self._database.reading() as tx:
            histories = await DestinationRepository(tx).histories(now - SAMPLE_PERIOD, now)
        return await asyncio.to_thread(
            lambda: {each.method.key(): measure(each, now) for each in histories},
        )
