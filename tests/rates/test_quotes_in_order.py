"""Quotes are stored once, exactly, and read in order, on both databases."""

from datetime import timedelta
from decimal import Decimal

from bot.infra.db.database import Database
from bot.rates.repository import QuoteRepository
from bot.settlement.model import Quote
from tests.times import NOW

MINUTE = timedelta(minutes=1)
EXACT = Quote(Decimal("1700123456.780000001"), NOW, Decimal("16345.50"), "binance")


async def keep(store: Database, *quotes: Quote) -> list[bool]:
    async with store.transaction() as tx:
        return [await QuoteRepository(tx).add(quote) for quote in quotes]


def at(minutes: int) -> Quote:
    return Quote(Decimal(1_700_000_000 + minutes), NOW + minutes * MINUTE, source="s")


async def test_a_quote_comes_back_as_it_was(store: Database) -> None:
    assert await keep(store, EXACT) == [True]
    async with store.reading() as tx:
        found = await QuoteRepository(tx).get_latest()
    assert found == EXACT
    assert str(found.btc_idr) == "1700123456.780000001" if found else False


async def test_the_services_quote_of_one_moment_is_kept_once(store: Database) -> None:
    other = Quote(Decimal(1), NOW)
    assert await keep(store, EXACT, other, at(1)) == [True, False, True]
    async with store.reading() as tx:
        assert await QuoteRepository(tx).find_between(NOW, NOW) == (EXACT,)


async def test_between_takes_both_ends_oldest_first(store: Database) -> None:
    await keep(store, *(at(minutes) for minutes in (3, 0, 2, 1, 4)))
    async with store.reading() as tx:
        assert await QuoteRepository(tx).find_between(NOW + MINUTE, NOW + 3 * MINUTE) == (at(1), at(2), at(3))
        assert await QuoteRepository(tx).find_between(NOW + 5 * MINUTE, NOW + 9 * MINUTE) == ()


async def test_the_latest_is_that_of_the_services_time(store: Database) -> None:
    async with store.reading() as tx:
        assert await QuoteRepository(tx).get_latest() is None
    await keep(store, at(2), at(1))
    async with store.reading() as tx:
        assert await QuoteRepository(tx).get_latest() == at(2)


async def test_old_ones_are_forgotten(store: Database) -> None:
    await keep(store, *(at(minutes) for minutes in range(5)))
    async with store.transaction() as tx:
        assert await QuoteRepository(tx).delete_before(NOW + 3 * MINUTE) == 3
        assert await QuoteRepository(tx).delete_before(NOW + 3 * MINUTE) == 0
        assert await QuoteRepository(tx).find_between(NOW, NOW + 9 * MINUTE) == (at(3), at(4))
