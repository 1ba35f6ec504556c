"""The rate as the bot has seen it itself: recorded as time goes by, and looked back over."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.rates.history import Period, RateHistory, RatePoint, history_of, points_of, thinned
from bot.rates.repository import QuoteRepository
from bot.settlement.model import Quote, Settlement, SettlementFailure

log = structlog.get_logger(__name__)

KEEP_QUOTES: Final = timedelta(days=400)
AT_ONCE: Final = timedelta(days=1)
"""So much is read in one go: a month is many thousand rows, and others are waiting for the loop."""

POINTS_OF_A_PART: Final = 300


class Quotes:
    """Records and looks back. `on_recorded` is called after each quote that is new."""

    def __init__(self, store: Database, settlement: Settlement, clock: Clock, on_recorded: Callable[[], None]) -> None:
        self._store = store
        self._settlement = settlement
        self._clock = clock
        self._on_recorded = on_recorded

    async def record(self) -> bool:
        """Keep what the service says now; False where that is kept already, or nothing can be had."""
        try:
            quote = await self._settlement.quote()
        except SettlementFailure as failure:
            log.warning("quote_not_recorded", error=type(failure).__name__)
            return False
        async with self._store.transaction() as tx:
            is_new = await QuoteRepository(tx).add(quote)
        if is_new:
            self._on_recorded()
        return is_new

    async def forget(self) -> int:
        """Delete what is too old to be looked at; how many there were."""
        async with self._store.transaction() as tx:
            return await QuoteRepository(tx).forget(self._clock.now() - KEEP_QUOTES)

    async def history(self, period: Period, quote: Quote) -> RateHistory:
        """The period that ends with `quote`, which is its last point whether it has been recorded or not."""
        seen: list[RatePoint] = []
        for since, until in _parts(quote.fetched_at - period.length, quote.fetched_at):
            async with self._store.reading() as tx:
                seen += thinned(points_of(await QuoteRepository(tx).between(since, until)), POINTS_OF_A_PART)
        return history_of(period, seen, quote)


def _parts(since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """One after the other, without a moment in two of them."""
    count = -(-(until - since) // AT_ONCE)
    last = timedelta(microseconds=1)
    return [(since + n * AT_ONCE, min(since + (n + 1) * AT_ONCE, until) - last) for n in range(count)]
