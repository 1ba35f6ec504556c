"""Record quotes over time, and read their history."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.rates.history import ChartPeriod, RateHistory, RatePoint, make_history, thin_points, to_points
from bot.rates.repository import QuoteRepository
from bot.settlement.model import Quote, Settlement, SettlementFailure

log = structlog.get_logger(__name__)

MAX_AGE: Final = timedelta(days=400)
QUERY_SPAN: Final = timedelta(days=1)
"""The time span of one query. A month has many thousand rows, which would block the event loop."""

POINTS_PER_QUERY: Final = 300


class QuoteService:
    """Record and read quotes. `on_recorded` is called after each new quote."""

    def __init__(
        self, database: Database, settlement: Settlement, clock: Clock, on_recorded: Callable[[], None]
    ) -> None:
        self._database = database
        self._settlement = settlement
        self._clock = clock
        self._on_recorded = on_recorded

    async def record(self) -> bool:
        """Save the current quote. Return False if it is already saved, or if the service has none."""
        try:
            quote = await self._settlement.quote()
        except SettlementFailure as failure:
            log.warning("quote_not_recorded", error=type(failure).__name__)
            return False
        async with self._database.transaction() as tx:
            is_new = await QuoteRepository(tx).add(quote)
        if is_new:
            self._on_recorded()
        return is_new

    async def prune(self) -> int:
        """Delete quotes that are too old for any chart, and return how many."""
        async with self._database.transaction() as tx:
            return await QuoteRepository(tx).delete_before(self._clock.now() - MAX_AGE)

    async def history(self, period: ChartPeriod, quote: Quote) -> RateHistory:
        """Return the history of the period before `quote`. The quote itself doesn't have to be recorded."""
        seen: list[RatePoint] = []
        for since, until in _query_spans(quote.fetched_at - period.length, quote.fetched_at):
            async with self._database.reading() as tx:
                seen += thin_points(to_points(await QuoteRepository(tx).find_between(since, until)), POINTS_PER_QUERY)
        return make_history(period, seen, quote)


def _query_spans(since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """Return consecutive spans that cover this time without overlap."""
    count = -(-(until - since) // QUERY_SPAN)
    last = timedelta(microseconds=1)
    return [(since + n * QUERY_SPAN, min(since + (n + 1) * QUERY_SPAN, until) - last) for n in range(count)]
