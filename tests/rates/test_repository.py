"""Recorded quotes on both databases: each quote of the service once, exactly as it was, and deleted when too old."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from bot.infra.db.database import Database
from bot.rates.history import ChartPeriod
from bot.rates.quote_service import MAX_AGE, QuoteService
from bot.rates.repository import QuoteRepository
from bot.settlement.model import Quote, ServiceDown
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

MINUTE = timedelta(minutes=1)


class CallCounter:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1


def recording(store: Database) -> tuple[QuoteService, FakeSettlement, CallCounter]:
    service, on_recorded = FakeSettlement(MovedClock()), CallCounter()
    return QuoteService(store, service, service.clock, on_recorded), service, on_recorded


async def add_quotes(store: Database, *quotes: Quote) -> None:
    async with store.transaction() as tx:
        for quote in quotes:
            assert await QuoteRepository(tx).add(quote)


async def test_a_quote_comes_back_as_it_was_and_is_kept_once(store: Database) -> None:
    quote = Quote(Decimal("1612345678.10"), MovedClock().now() + timedelta(microseconds=7), Decimal("16250.5"), "s")
    await add_quotes(store, quote, replace(quote, fetched_at=quote.fetched_at + MINUTE, usdc_idr=None))
    async with store.transaction() as tx:
        assert not await QuoteRepository(tx).add(replace(quote, btc_idr=Decimal(1)))
        assert await QuoteRepository(tx).find_between(quote.fetched_at, quote.fetched_at) == (quote,)
        latest = await QuoteRepository(tx).get_latest()
    assert latest is not None
    assert (latest.fetched_at, latest.usdc_idr) == (quote.fetched_at + MINUTE, None)


async def test_what_the_service_says_is_recorded_and_told_of_once(store: Database) -> None:
    quotes, service, on_recorded = recording(store)
    assert await quotes.record()
    assert not await quotes.record()  # the service's own time hasn't moved
    service.clock.passes(minutes=2)
    assert await quotes.record()
    assert on_recorded.calls == 2


async def test_a_service_that_is_away_is_no_error(store: Database) -> None:
    quotes, service, on_recorded = recording(store)
    service.reads.append(ServiceDown())
    assert not await quotes.record()
    assert on_recorded.calls == 0


async def test_a_month_is_looked_back_over_in_one_line_to_the_quote_at_its_end(store: Database) -> None:
    quotes, service, _ = recording(store)
    now = service.clock.now()
    seen = [Quote(Decimal(10**9 + hour % 29), now - timedelta(hours=hour)) for hour in range(31 * 24, 0, -1)]
    lowest = Quote(Decimal(7 * 10**8), now - timedelta(days=20, minutes=30))
    await add_quotes(store, *seen, lowest)
    quote = Quote(Decimal(1_100_000_000), now)
    history = await quotes.history(ChartPeriod.MONTH, quote)
    assert (history.since, history.until) == (now - timedelta(days=30), now)
    assert (history.lowest, history.highest) == (lowest.btc_idr, quote.btc_idr)
    assert len({point.at for point in history.points}) == len(history.points)
    day = await quotes.history(ChartPeriod.DAY, quote)
    assert [point.at for point in day.points] == [now - timedelta(hours=hour) for hour in range(24, -1, -1)]


async def test_what_is_too_old_for_any_chart_is_forgotten(store: Database) -> None:
    quotes, service, _ = recording(store)
    now = service.clock.now()
    await add_quotes(store, *(Quote(Decimal(10**9), now - MAX_AGE + MINUTE * step) for step in (-1, 1)))
    assert await quotes.prune() == 1
    async with store.reading() as tx:
        assert len(await QuoteRepository(tx).find_between(now - 2 * MAX_AGE, now)) == 1
