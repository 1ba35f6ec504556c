"""Record the rate over time, and delete what is too old for any chart."""

from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.rates.quote_service import QuoteService

PRUNE_EVERY: Final = timedelta(hours=6)


class QuoteRecorder:
    """Record one quote per `tick`. `interval` is the seconds between two."""

    def __init__(self, quotes: QuoteService, clock: Clock, interval: float) -> None:
        self._quotes = quotes
        self._clock = clock
        self._interval = interval
        self._prune_at: datetime | None = None

    async def tick(self) -> float:
        """Record the current quote, and return the seconds until the next time."""
        await self._quotes.record()
        now = self._clock.now()
        if self._prune_at is None or now >= self._prune_at:
            await self._quotes.prune()
            self._prune_at = now + PRUNE_EVERY
        return self._interval
