"""Record quotes over time, and queue daily quotes and alerts."""

from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.rates.quote_service import QuoteService
from bot.rates.scheduler import RateScheduler

PRUNE_EVERY: Final = timedelta(hours=6)
EVERY_SECONDS: Final = 5.0
SOON_SECONDS: Final = 0.5
"""The pause while there is more to queue. By then Telegram may have accepted some messages."""


class QuoteRecorder:
    """Record a quote at each `tick`. `interval` is the seconds between two."""

    def __init__(self, quotes: QuoteService, clock: Clock, interval: float) -> None:
        self._quotes = quotes
        self._clock = clock
        self._interval = interval
        self._prune_at: datetime | None = None

    async def tick(self) -> float:
        """Record the current quote, and return the seconds until the next call."""
        await self._quotes.record()
        now = self._clock.now()
        if self._prune_at is None or now >= self._prune_at:
            await self._quotes.prune()
            self._prune_at = now + PRUNE_EVERY
        return self._interval


class SubscriptionWorker:
    """Queue due daily quotes, and alerts that the newest quote meets, at each `tick`."""

    def __init__(self, scheduler: RateScheduler) -> None:
        self._scheduler = scheduler

    async def tick(self) -> float:
        """Queue as many notifications as the outbox may hold, and return the seconds until the next call."""
        dailies_left = await self._scheduler.queue_due()
        await self._scheduler.check_latest()
        alerts_left = await self._scheduler.queue_met()
        return SOON_SECONDS if dailies_left or alerts_left else EVERY_SECONDS
