"""Subscriptions on both databases: stored as chosen, claimed once, and deleted with the user."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.infra.db.database import Database
from bot.rates.repository import AlertRepository, SubscriptionRepository
from bot.users.repository import UserRepository
from tests.rates.builders import a_subscription, an_alert
from tests.times import DAY, NOW, SECOND
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import delete_user

HOUR = timedelta(hours=1)


@pytest.fixture
async def store_with_users(store: Database) -> Database:
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA))
        await UserRepository(tx).save(a_user(SARI))
    return store


async def test_a_subscription_comes_back_as_it_was_and_is_replaced(store_with_users: Database) -> None:
    whole = a_subscription(daily_minute=450, next_daily_at=NOW + HOUR, quiet_from=1320, quiet_until=420)
    async with store_with_users.transaction() as tx:
        assert await SubscriptionRepository(tx).get(EMMA) is None
        await SubscriptionRepository(tx).save(whole)
        assert await SubscriptionRepository(tx).get(EMMA) == whole
        await SubscriptionRepository(tx).save(a_subscription())
        assert await SubscriptionRepository(tx).get(EMMA) == a_subscription()
        assert await SubscriptionRepository(tx).count() == 1


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


async def test_an_alert_comes_back_as_it_was_and_is_replaced(store_with_users: Database) -> None:
    resting = an_alert(is_above=False, cooldown_seconds=3600, cooldown_until=NOW + HOUR)
    async with store_with_users.transaction() as tx:
        await AlertRepository(tx).save(an_alert())
        assert await AlertRepository(tx).get("a1") == an_alert()
        await AlertRepository(tx).save(resting)
        assert await AlertRepository(tx).get("a1") == resting
        assert await AlertRepository(tx).get("a2") is None
        await AlertRepository(tx).save(an_alert("a0", created_at=NOW + SECOND))
        await AlertRepository(tx).save(an_alert("b1", SARI))
        assert [each.id for each in await AlertRepository(tx).find_by_user(EMMA)] == ["a1", "a0"]
        assert await AlertRepository(tx).delete("a1")
        assert not await AlertRepository(tx).delete("a1")


async def test_awake_is_what_neither_rests_nor_has_expired(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await AlertRepository(tx).save(an_alert("awake"))
        await AlertRepository(tx).save(an_alert("rested", cooldown_until=NOW))
        await AlertRepository(tx).save(an_alert("rests", cooldown_until=NOW + SECOND))
        await AlertRepository(tx).save(an_alert("over", expires_at=NOW))
        assert {each.id for each in await AlertRepository(tx).find_active(NOW)} == {"awake", "rested"}
        assert await AlertRepository(tx).delete_expired(NOW + SECOND) == 1
        assert await AlertRepository(tx).get("over") is None


async def test_only_an_alert_that_is_awake_is_laid_to_rest(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await AlertRepository(tx).save(an_alert(cooldown_seconds=3600))
        assert await AlertRepository(tx).start_cooldown("a1", NOW, NOW + HOUR)
        assert not await AlertRepository(tx).start_cooldown("a1", NOW, NOW + 2 * HOUR)
        assert await AlertRepository(tx).get("a1") == an_alert(cooldown_seconds=3600, cooldown_until=NOW + HOUR)
        assert await AlertRepository(tx).start_cooldown("a1", NOW + HOUR, NOW + 2 * HOUR)
        assert not await AlertRepository(tx).start_cooldown("a1", NOW + 31 * DAY, NOW + 32 * DAY)
        assert not await AlertRepository(tx).start_cooldown("a2", NOW, NOW + HOUR)


async def test_it_is_quiet_by_each_users_own_clock(store: Database) -> None:
    zones = {1: "Asia/Tokyo", 2: "", 3: "Asia/Tokyo", 4: "Asia/Tokyo"}
    async with store.transaction() as tx:
        for user_id, zone in zones.items():
            await UserRepository(tx).save(a_user(user_id, time_zone=zone))
        # 18:30 in Tokyo, 16:30 in Jakarta
        for user_id, hours in {1: (18, 19), 2: (18, 19), 3: (None, None)}.items():
            start, end = (None if hour is None else hour * 60 for hour in hours)
            await SubscriptionRepository(tx).save(a_subscription(user_id, quiet_from=start, quiet_until=end))
        assert await SubscriptionRepository(tx).find_quiet([1, 2, 3, 4, 5], NOW) == {1}
        assert await SubscriptionRepository(tx).find_quiet([2, 3], NOW) == frozenset()
        assert await SubscriptionRepository(tx).find_quiet([], NOW) == frozenset()


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


async def test_an_alert_alone_is_something_to_stop(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await AlertRepository(tx).save(an_alert())
        assert await SubscriptionRepository(tx).delete(EMMA)


async def test_a_forgotten_user_wishes_for_nothing(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await SubscriptionRepository(tx).save(a_subscription(daily_minute=1, next_daily_at=NOW))
        await AlertRepository(tx).save(an_alert())
        await AlertRepository(tx).save(an_alert("b1", SARI))
    async with store_with_users.transaction() as tx:
        assert await delete_user(tx, EMMA)
    async with store_with_users.reading() as tx:
        assert await SubscriptionRepository(tx).find_due(NOW) == ()
        assert await AlertRepository(tx).get("a1") is None
        assert await AlertRepository(tx).get("b1") is not None
        assert await SubscriptionRepository(tx).count() == 0


async def test_keeping_a_user_keeps_their_wishes(store_with_users: Database) -> None:
    async with store_with_users.transaction() as tx:
        await SubscriptionRepository(tx).save(a_subscription())
        await AlertRepository(tx).save(an_alert())
        await UserRepository(tx).save(a_user(EMMA, locale="id"))
        assert await SubscriptionRepository(tx).get(EMMA) == a_subscription()
        assert await AlertRepository(tx).find_by_user(EMMA) == (an_alert(),)
