"""Who is in the audience of a broadcast, in which language and order, and what became of its messages."""

from collections import Counter
from datetime import timedelta
from itertools import product
from typing import Any

from bot.broadcasts.messages import reader_notifications
from bot.broadcasts.model import MAYBE_ARRIVED, Audience, Broadcast, BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import DeliveryRepository
from bot.core.locales import LOCALES, codes_of
from bot.infra.db.database import Database
from bot.infra.i18n import choose_locale
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import due_heads
from tests.times import NOW, SECOND

DAY = timedelta(days=1)
LONG_AGO = NOW - 90 * DAY


def a_broadcast(broadcast_id: str = "b1", **changes: Any) -> Broadcast:
    known: dict[str, Any] = {
        "operator_id": 2001,
        "status": BroadcastStatus.RUNNING,
        "created_at": NOW,
        "started_at": NOW,
        "next_reader": 0,
    }
    return Broadcast(**{**known, "id": broadcast_id, **changes})


async def add_subscriber(store: Database, user_id: int, **changes: Any) -> None:
    user = User(**{"id": user_id, "created_at": LONG_AGO, "language_code": "en", **changes})
    async with store.transaction() as tx:
        await UserRepository(tx).save(user)
        await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=LONG_AGO))


async def find_readers(store: Database, broadcast: Broadcast | None = None, limit: int = 10_000) -> list[int]:
    async with store.reading() as tx:
        return [*await DeliveryRepository(tx).find_readers(broadcast or a_broadcast(), limit)]


async def test_the_audience_is_every_reachable_subscriber_who_is_not_being_deleted(store: Database) -> None:
    for number in (1, 2, 3):
        await add_subscriber(store, number)
    await add_subscriber(store, 4, blocked_at=NOW)
    await add_subscriber(store, 5, deletion_requested_at=NOW)
    async with store.transaction() as tx:
        await UserRepository(tx).save(User(id=6, created_at=NOW))
    assert await find_readers(store) == [1, 2, 3]
    assert await find_readers(store, a_broadcast(started_at=LONG_AGO - SECOND)) == [], "all have subscribed since"


async def test_a_broadcast_and_all_other_messages_have_the_same_language_whatever_an_app_calls_it(
    store: Database,
) -> None:
    codes = [code for locale in LOCALES for code in codes_of(locale)]
    tags = [
        tag for code in codes for tag in (code, code.upper(), f"{code}-XX", f"{code}_xx", f"{code}x", f"{code}x-XX")
    ]
    others = [None, "", "-", "-id", "i", "msx", "fr-CA", "xx-id"]
    users = list(enumerate(product([*others, *codes, *map(str.upper, codes)], [*others, *tags]), 1))
    async with store.transaction() as tx:
        for number, (chosen, of_app) in users:
            user = User(id=number, created_at=LONG_AGO, locale=chosen, language_code=of_app)
            await UserRepository(tx).save(user)
            await SubscriptionRepository(tx).save(Subscription(user_id=user.id, subscribed_at=LONG_AGO))
        counted = await DeliveryRepository(tx).count_readers(Audience(), NOW)
    expected = {number: choose_locale(chosen, of_app) for number, (chosen, of_app) in users}
    for locale in LOCALES:
        found = await find_readers(store, a_broadcast(audience=Audience(locale=locale)))
        assert found == [number for number, read in expected.items() if read == locale]
    assert counted == Counter(expected.values())


async def test_results_are_counted_by_what_became_of_the_messages(store: Database) -> None:
    broadcast = a_broadcast(size=9)
    async with store.transaction() as tx:
        outbox, deliveries = OutboxRepository(tx), DeliveryRepository(tx)
        await outbox.add(reader_notifications(broadcast, range(1, 8), NOW))
        await outbox.add(reader_notifications(a_broadcast("b2"), [1], NOW))
        sent, blocked, failed, unknown, sending, *_ = [each.id for each in await deliveries.find_unsent()]
        await outbox.record_sent({sent: 7}, NOW + 9 * SECOND)
        await outbox.give_up(blocked, "bot was blocked by the user")
        await deliveries.record_blocked(blocked)
        await outbox.give_up(failed, "can't parse entities")
        await outbox.give_up(unknown, MAYBE_ARRIVED)
        await outbox.mark_sending([sending], NOW)
        progress = await deliveries.read_progress(broadcast, NOW + 10 * SECOND)
        later = await deliveries.read_progress(broadcast, NOW + 30 * SECOND)
    assert progress.counts == {
        DeliveryStatus.DELIVERED: 1,
        DeliveryStatus.BLOCKED: 1,
        DeliveryStatus.FAILED: 1,
        DeliveryStatus.UNKNOWN: 1,
        DeliveryStatus.SENDING: 1,
        DeliveryStatus.WAITING: 4,
    }
    assert (progress.per_second, later.per_second) == (0.1, 0.0)


async def test_only_what_waits_and_cannot_have_arrived_is_taken_back(store: Database) -> None:
    async with store.transaction() as tx:
        outbox, deliveries = OutboxRepository(tx), DeliveryRepository(tx)
        await outbox.add(reader_notifications(a_broadcast(), [4, 5, 6, 7], NOW))
        ids = [each.id for each in await deliveries.find_unsent()]
        await outbox.mark_sending(ids[:2], NOW)
        await outbox.postpone(ids[0], NOW, maybe_sent=True)
        assert await deliveries.take_back(ids) == 6
        assert [each.id for each in await deliveries.find_unsent()] == ids[:2]
        assert await deliveries.take_back(ids) is None


UNSUBSCRIBED = 4


async def test_what_may_have_arrived_is_unknown_until_an_operator_retries_it(store: Database) -> None:
    for number in (1, 2, 3):
        await add_subscriber(store, number)
    async with store.transaction() as tx:
        outbox, deliveries = OutboxRepository(tx), DeliveryRepository(tx)
        await outbox.add(reader_notifications(a_broadcast(), [1, 2, UNSUBSCRIBED], NOW))
        await outbox.add(reader_notifications(a_broadcast("b2"), [3], NOW))
        ids = [each.id for each in await deliveries.find_unsent()]
        await outbox.mark_sending(ids, NOW)
        assert set((await outbox.mark_sending(ids, NOW)).values()) == {True}, "a process was killed in between"
        for each in ids:
            await outbox.give_up(each, MAYBE_ARRIVED)
        assert [await deliveries.retry_unknown("b1", NOW) for _ in range(2)] == [2, 0]
    async with store.reading() as tx:
        waiting = await due_heads(tx, NOW, queue=Queue.BULK)
    assert [(each.chat_id, each.maybe_sent, each.attempts) for each in waiting] == [(1, False, 0), (2, False, 0)]
