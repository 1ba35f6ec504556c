"""Quotes, subscriptions and alerts are read as they were saved, on both databases."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.infra.db.database import Database
from bot.rates.model import ChartPeriod
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.rates.service import MAX_AGE, QuoteService
from bot.settlement.model import Quote
from bot.users.repository import UserRepository
from tests.rates.builders import a_subscription, an_alert
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.times import DAY, NOW, SECOND
from tests.users.builders import EMMA, SARI, a_user

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


def at(minutes: int) -> Quote:
    return Quote(Decimal(1_700_000_000 + minutes), NOW + minutes * MINUTE, source="s")


HOUR = timedelta(hours=1)


@pytest.fixture
async def store_with_users(store: Database) -> Database:
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA))
        await UserRepository(tx).save(a_user(SARI))
    return store


async def test_what_is_due_comes_the_longest_waiting_first(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await SubscriptionRepository(tx).save(a_subscription(EMMA, daily_minute=1, next_daily_at=NOW))
        await SubscriptionRepository(tx).save(a_subscription(SARI, daily_minute=1, next_daily_at=NOW - SECOND))
        assert [each.user_id for each in await SubscriptionRepository(tx).find_due(NOW)] == [SARI, EMMA]
        assert [each.user_id for each in await SubscriptionRepository(tx).find_due(NOW, 1)] == [SARI]
        assert [each.user_id for each in await SubscriptionRepository(tx).find_due(NOW - SECOND)] == [SARI]
        await SubscriptionRepository(tx).save(a_subscription(SARI))
        assert [each.user_id for each in await SubscriptionRepository(tx).find_due(NOW + DAY)] == [EMMA]


async def test_a_daily_quote_is_taken_up_once_and_not_after_a_change(store_with_users: Database) -> None:
    due = a_subscription(daily_minute=1, next_daily_at=NOW, quiet_from=5, quiet_until=6)
    async with store_with_users.transaction() as tx:
        assert not await SubscriptionRepository(tx).set_next_daily(EMMA, NOW, NOW + DAY)
        await SubscriptionRepository(tx).save(due)
        assert not await SubscriptionRepository(tx).set_next_daily(EMMA, NOW + SECOND, NOW + DAY)
        assert await SubscriptionRepository(tx).set_next_daily(EMMA, NOW, NOW + DAY)
        assert not await SubscriptionRepository(tx).set_next_daily(EMMA, NOW, NOW + DAY)
        assert await SubscriptionRepository(tx).get(EMMA) == replace(due, next_daily_at=NOW + DAY)
        assert await SubscriptionRepository(tx).set_next_daily(EMMA, NOW + DAY, None)
        assert await SubscriptionRepository(tx).find_due(NOW + 9 * DAY) == ()


async def test_only_an_alert_that_is_awake_is_laid_to_rest(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await AlertRepository(tx).save(an_alert(cooldown_seconds=3600))
        assert await AlertRepository(tx).start_cooldown("a1", NOW, NOW + HOUR)
        assert not await AlertRepository(tx).start_cooldown("a1", NOW, NOW + 2 * HOUR)
        assert await AlertRepository(tx).get("a1") == an_alert(cooldown_seconds=3600, cooldown_until=NOW + HOUR)
        assert await AlertRepository(tx).start_cooldown("a1", NOW + HOUR, NOW + 2 * HOUR)
        assert not await AlertRepository(tx).start_cooldown("a1", NOW + 31 * DAY, NOW + 32 * DAY)
        assert not await AlertRepository(tx).start_cooldown("a2", NOW, NOW + HOUR)


async def test_stopping_ends_all_of_one_user_alone(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        for user_id in (EMMA, SARI):
            await SubscriptionRepository(tx).save(a_subscription(user_id))
            await AlertRepository(tx).save(an_alert(f"a{user_id}", user_id))
        assert await SubscriptionRepository(tx).delete(EMMA)
        assert not await SubscriptionRepository(tx).delete(EMMA)
        assert await SubscriptionRepository(tx).get(EMMA) is None
        assert await AlertRepository(tx).find_by_user(EMMA) == ()
        assert await SubscriptionRepository(tx).get(SARI) == a_subscription(SARI)
        assert len(await AlertRepository(tx).find_by_user(SARI)) == 1
