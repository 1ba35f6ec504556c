"""The figures of destinations, measured regularly from the bot's own orders and kept in memory."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from bot.core.clock import Clock
from bot.core.sample_size import SAMPLE_PERIOD
from bot.infra.db.database import Database
from bot.orders.destinations.model import DestinationsHealth, PayoutTimes, Usual, judge, measure
from bot.orders.destinations.repository import DestinationRepository, PayoutTimeRepository
from bot.orders.measurement import CACHED_FOR, CachedMeasurement
from bot.settlement.catalogue import CachedValue

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
