"""Records the rate as time goes by, and forgets what is too old for any chart."""

from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.rates.recording import Quotes

FORGET_EVERY: Final = timedelta(hours=6)


class QuoteRecorder:
    """One `tick` records one quote; `interval` is the seconds between two."""

    def __init__(self, quotes: Quotes, clock: Clock, interval: float) -> None:
        self._quotes = quotes
        self._clock = clock
        self._interval = interval
        self._forget_at: datetime | None = None

    async def tick(self) -> float:
        """Record what the service says; how long until the next time."""
        await self._quotes.record()
        now = self._clock.now()
        if self._forget_at is None or now >= self._forget_at:
            await self._quotes.forget()
            self._forget_at = now + FORGET_EVERY
        return self._interval
