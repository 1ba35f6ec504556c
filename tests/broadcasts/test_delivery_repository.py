"""Deliveries: who is in the audience, each delivery is claimed once, and what remains after a crash."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

from sqlalchemy import insert, select

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus, Delivery, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.core.locales import LOCALES, codes_of
from bot.infra.db.database import Database
from bot.infra.i18n import choose_locale
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.tables import subscriptions
from bot.users.model import User
from bot.users.repository import UserRepository
from bot.users.tables import users
from tests.examples import examples
from tests.times import NOW, SECOND

DAY = timedelta(days=1)
LONG_AGO = NOW - 90 * DAY
WAITING, SENDING, DELIVERED = DeliveryStatus.WAITING, DeliveryStatus.SENDING, DeliveryStatus.DELIVERED
UNKNOWN = DeliveryStatus.UNKNOWN


def a_broadcast(broadcast_id: str = "b1", **changes: Any) -> Broadcast:
    known: dict[str, Any] = {"operator_id": 2001, "status": BroadcastStatus.RUNNING, "created_at": NOW}
    return Broadcast(**{**known, "id": broadcast_id, **changes})


async def add_subscriber(store: Database, user_id: int, **changes: Any) -> None:
    user = User(**{"id": user_id, "created_at": LONG_AGO, "language_code": "en", **changes})
    async with store.transaction() as tx:
        await UserRepository(tx).save(user)
        await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=LONG_AGO))


async def create_deliveries(store: Database, broadcast: Broadcast | None = None) -> int:
    broadcast = broadcast or a_broadcast()
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(broadcast)
        return await DeliveryRepository(tx).create(broadcast, NOW)


async def users_with(store: Database, status: DeliveryStatus) -> list[int]:
    async with store.reading() as tx:
        return [each.user_id for each in await DeliveryRepository(tx).with_status("b1", status)]


async def test_the_audience_is_every_reachable_subscriber_who_is_not_being_deleted(store: Database) -> None:
    for number in (1, 2, 3):
        await add_subscriber(store, number)
    await add_subscriber(store, 4, blocked_at=NOW)
    await add_subscriber(store, 5, deletion_requested_at=NOW)
    async with store.transaction() as tx:
        await UserRepository(tx).save(User(id=6, created_at=NOW))
    assert await create_deliveries(store) == 3
    assert await users_with(store, WAITING) == [1, 2, 3]


async def test_each_is_written_to_in_the_language_they_read(store: Database) -> None:
    await add_subscriber(store, 1, language_code="en-GB")
    await add_subscriber(store, 2, language_code="en", locale="id")
    await add_subscriber(store, 3, language_code="fr")
    await add_subscriber(store, 4, language_code=None)
    await add_subscriber(store, 5, language_code="ID")
    async with store.reading() as tx:
        assert await DeliveryRepository(tx).count_readers(Audience(), NOW) == {"en": 3, "id": 2}
        assert await DeliveryRepository(tx).count_readers(Audience(locale="id"), NOW) == {"id": 2}
    assert await create_deliveries(store, a_broadcast(audience=Audience(locale="en"))) == 3
    async with store.transaction() as tx:
        claimed = await DeliveryRepository(tx).claim("b1", 9, NOW)
    assert [(each.user_id, each.locale) for each in claimed] == [(1, "en"), (3, "en"), (4, "en")]


async def test_a_broadcast_and_all_other_messages_have_the_same_language_whatever_an_app_calls_it(
    store: Database,
) -> None:
    codes = [code for locale in LOCALES for code in codes_of(locale)]
    tags = [
        tag for code in codes for tag in (code, code.upper(), f"{code}-XX", f"{code}_xx", f"{code}x", f"{code}x-XX")
    ]
    others = [None, "", "-", "-id", "i", "msx", "fr-CA", "xx-id"]
    users = list(enumerate(product([*others, *codes, *map(str.upper, codes)], [*others, *tags])))
    async with store.transaction() as tx:
        for number, (chosen, of_app) in users:
            user = User(id=number + 1, created_at=LONG_AGO, locale=chosen, language_code=of_app)
            await UserRepository(tx).save(user)
            await SubscriptionRepository(tx).save(Subscription(user_id=user.id, subscribed_at=LONG_AGO))
    written = a_broadcast()
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(written)
        await DeliveryRepository(tx).create(written, NOW)
        claimed = await DeliveryRepository(tx).claim(written.id, len(users) + 1, NOW)
        counted = await DeliveryRepository(tx).count_readers(Audience(), NOW)
    expected = [choose_locale(chosen, of_app) for _, (chosen, of_app) in users]
    found = [(users[each.user_id - 1], each.locale) for each in claimed]
    assert found == list(zip(users, expected, strict=True))
    assert counted == Counter(expected)


async def test_an_app_in_a_near_language_is_not_in_the_audience_of_indonesian_broadcasts(store: Database) -> None:
    await add_subscriber(store, 1, language_code="ms")
    await add_subscriber(store, 2, language_code="jv-ID")
    async with store.reading() as tx:
        assert await DeliveryRepository(tx).count_readers(Audience(locale="id"), NOW) == {}


async def test_an_app_in_indonesian_by_its_old_code_gets_broadcasts_in_indonesian(store: Database) -> None:
    await add_subscriber(store, 1, language_code="in")
    await add_subscriber(store, 2, language_code="in_ID")
    await add_subscriber(store, 3, language_code="inh")  # Ingush
    async with store.reading() as tx:
        assert await DeliveryRepository(tx).count_readers(Audience(), NOW) == {"id": 2, "en": 1}


async def test_who_was_here_lately_is_active(store: Database) -> None:
    await add_subscriber(store, 1)
    await add_subscriber(store, 2, last_seen_at=NOW - 6 * DAY)
    await add_subscriber(store, 3, last_seen_at=NOW - 8 * DAY)
    await add_subscriber(store, 4, created_at=NOW - DAY)
    assert await create_deliveries(store, a_broadcast(audience=Audience(active_days=7))) == 2
    assert await users_with(store, WAITING) == [2, 4]


async def test_each_delivery_is_claimed_once_in_the_order_of_the_users_ids(store: Database) -> None:
    for number in (5, 3, 1, 4, 2):
        await add_subscriber(store, number)
    await create_deliveries(store)
    claimed_ids: list[int] = []
    for _ in range(4):
        async with store.transaction() as tx:
            claimed = await DeliveryRepository(tx).claim("b1", 2, NOW)
        assert all(each.status is SENDING and each.at == NOW for each in claimed)
        claimed_ids += [each.user_id for each in claimed]
    assert claimed_ids == [1, 2, 3, 4, 5]


async def test_some_readers_can_be_excluded(store: Database) -> None:
    for number in (1, 2, 3):
        await add_subscriber(store, number)
    await create_deliveries(store)
    async with store.transaction() as tx:
        assert [each.user_id for each in await DeliveryRepository(tx).claim("b1", 9, NOW, excluded=[1, 3])] == [2]
        assert await DeliveryRepository(tx).claim("b1", 9, NOW, excluded=[1, 3]) == ()


async def test_results_are_saved_and_counted(store: Database) -> None:
    for number in range(1, 7):
        await add_subscriber(store, number)
    await create_deliveries(store)
    async with store.transaction() as tx:
        a, b, c, _, e = await DeliveryRepository(tx).claim("b1", 5, NOW)
        blocked = replace(b, status=DeliveryStatus.BLOCKED, at=NOW + SECOND, failure="bot was blocked by the user")
        await DeliveryRepository(tx).record([replace(a, status=DELIVERED), blocked, replace(c, status=UNKNOWN)])
        await DeliveryRepository(tx).record([])
        await DeliveryRepository(tx).release("b1", [e.user_id])
    async with store.reading() as tx:
        counts = await DeliveryRepository(tx).counts("b1")
        assert await DeliveryRepository(tx).with_status("b1", DeliveryStatus.BLOCKED) == (blocked,)
    assert counts == {DELIVERED: 1, DeliveryStatus.BLOCKED: 1, UNKNOWN: 1, SENDING: 1, WAITING: 2}
    async with store.transaction() as tx:
        assert [each.user_id for each in await DeliveryRepository(tx).claim("b1", 9, NOW)] == [5, 6]


async def test_only_claimed_deliveries_can_be_released(store: Database) -> None:
    for number in (1, 2):
        await add_subscriber(store, number)
    await create_deliveries(store)
    async with store.transaction() as tx:
        first, _ = await DeliveryRepository(tx).claim("b1", 2, NOW)
        await DeliveryRepository(tx).record([replace(first, status=DELIVERED)])
        await DeliveryRepository(tx).release("b1", [1, 2])
    assert (await users_with(store, DELIVERED), await users_with(store, WAITING)) == ([1], [2])


async def test_what_a_crash_leaves_claimed_is_unknown_until_an_operator_retries_it(store: Database) -> None:
    for number in (1, 2, 3):
        await add_subscriber(store, number)
    await create_deliveries(store)
    await create_deliveries(store, a_broadcast("b2"))
    async with store.transaction() as tx:
        await DeliveryRepository(tx).claim("b1", 2, NOW)
        await DeliveryRepository(tx).claim("b2", 1, NOW)
        assert await DeliveryRepository(tx).mark_interrupted("b1") == 2
        assert await DeliveryRepository(tx).mark_interrupted("b1") == 0
    assert (await users_with(store, UNKNOWN), await users_with(store, WAITING)) == ([1, 2], [3])
    async with store.transaction() as tx:
        assert await DeliveryRepository(tx).retry_unknown("b1") == 2
        assert (await DeliveryRepository(tx).counts("b2"))[SENDING] == 1
    assert await users_with(store, WAITING) == [1, 2, 3]


async def test_thousands_of_deliveries_are_added_and_claimed_at_once(store: Database) -> None:
    size = examples(2_000)
    await add_subscriber(store, 1)
    async with store.transaction() as tx:
        for table, key in ((users, "id"), (subscriptions, "user_id")):
            one = dict((await tx.connection.execute(select(table))).mappings().one())
            await tx.connection.execute(insert(table), [{**one, key: number} for number in range(2, size + 1)])
    assert await create_deliveries(store) == size
    async with store.transaction() as tx:
        claimed = await DeliveryRepository(tx).claim("b1", size, NOW)
        await DeliveryRepository(tx).record([replace(each, status=DELIVERED) for each in claimed])
    async with store.reading() as tx:
        assert await DeliveryRepository(tx).counts("b1") == {DELIVERED: size}


async def test_a_ledger_has_one_row_for_each_user(store: Database) -> None:
    await add_subscriber(store, 1)
    await create_deliveries(store)
    async with store.transaction() as tx:
        (one,) = await DeliveryRepository(tx).claim("b1", 9, NOW)
    assert one == Delivery(broadcast_id="b1", user_id=1, locale="en", status=SENDING, at=NOW)
