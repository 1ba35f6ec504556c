"""A broadcast reaches each subscriber once. Operators can pause, resume, stop and retry it."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import text

from bot.broadcasts.deliveries import LiveMessages
from bot.broadcasts.model import BroadcastStatus, DeliveryStatus, Progress
from bot.infra.telegram.outbound.sender import Invalid, TryLater
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.broadcasts.builders import BLOCKED, PAUSE, RESUME, RETRY_UNKNOWN, STOP, BotProcess, shorten_pauses
from tests.orders.order_system import OSCAR
from tests.users.stored_data import delete_user

DELIVERED, WAITING, UNKNOWN = DeliveryStatus.DELIVERED, DeliveryStatus.WAITING, DeliveryStatus.UNKNOWN


@pytest.fixture
async def bot(file: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BotProcess]:
    shorten_pauses(monkeypatch)
    bot = BotProcess(file)
    yield bot
    await bot.stop()


async def test_every_subscriber_gets_it_once_and_the_report_is_saved(bot: BotProcess) -> None:
    people = await bot.add_subscribers(300)
    await bot.begin()
    assert await bot.get_report() == {"delivered": 300}
    assert sorted(bot.telegram.reached) == list(people)
    ended = await bot.get_broadcast()
    assert ended.status is BroadcastStatus.DONE
    assert ended.ended_at is not None


async def test_only_a_few_messages_are_in_the_outbox_ahead(bot: BotProcess) -> None:
    await bot.add_subscribers(300)
    bot.telegram.max_requests = 0
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.waiting) >= 20)
    assert len(await bot.find_messages()) == 120, "three seconds of them"


async def test_who_subscribes_later_gets_the_next_one(bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    bot.telegram.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 50)
    later = bot.clock.now()
    async with bot.store.transaction() as tx:
        await UserRepository(tx).save(User(id=201, created_at=later, language_code="en"))
        await SubscriptionRepository(tx).save(Subscription(user_id=201, subscribed_at=later))
        await SubscriptionRepository(tx).delete(200)
    bot.telegram.max_requests = None
    bot.telegram.gate.set()
    assert await bot.get_report() == {"delivered": 199}
    assert sorted(bot.telegram.reached) == list(people)[:199], "nor does who has unsubscribed before their turn"


async def test_each_reads_it_in_their_language(bot: BotProcess) -> None:
    await bot.add_subscribers(3)
    async with bot.store.transaction() as tx:
        await UserRepository(tx).save(User(id=2, created_at=bot.clock.now(), locale="id"))
    broadcast = replace(await bot.add_confirmed(), texts={"en": "Hello", "id": "Halo"})
    await bot.deliveries.begin(broadcast)
    bot.lead()
    await bot.get_report()
    assert bot.telegram.texts == {1: "Hello", 2: "Halo", 3: "Hello"}


async def test_in_quiet_hours_it_comes_without_a_sound(bot: BotProcess) -> None:
    people = await bot.add_subscribers(30)
    night = replace(Subscription(user_id=7, subscribed_at=bot.clock.now()), quiet_from=16 * 60, quiet_until=17 * 60)
    async with bot.store.transaction() as tx:
        await SubscriptionRepository(tx).save(night)  # it is 16:30 in Jakarta
        await SubscriptionRepository(tx).save(replace(night, user_id=8, quiet_from=17 * 60, quiet_until=16 * 60))
        await UserRepository(tx).save(User(id=9, created_at=bot.clock.now(), time_zone="Asia/Tokyo"))
        await SubscriptionRepository(tx).save(replace(night, user_id=9, quiet_from=18 * 60, quiet_until=19 * 60))
    await bot.begin()
    await bot.get_report()
    assert sorted(bot.telegram.reached) == list(people)
    assert bot.telegram.sent_silently == {7, 9}


async def test_messages_are_sent_beside_one_another(bot: BotProcess) -> None:
    await bot.add_subscribers(100)
    await bot.begin()
    await bot.get_report()
    assert bot.telegram.max_concurrent > 5


async def test_a_broadcast_to_nobody_ends_at_once(bot: BotProcess) -> None:
    await bot.begin()
    assert await bot.get_report() == {}
    assert (await bot.get_broadcast()).status is BroadcastStatus.DONE


class ShownProgress(LiveMessages):
    """Live messages that only record what they show. The first attempts fail."""

    def __init__(self, bot: BotProcess, failures: int = 0) -> None:
        super().__init__(bot.infra, bot.deliveries)
        self.shown: list[Progress] = []
        self._failures = failures

    async def _edit_or_send(self, progress: Progress) -> int | None:
        self.shown.append(progress)
        return None if len(self.shown) <= self._failures else 7


async def test_a_broadcast_that_ends_before_the_first_tick_is_shown(bot: BotProcess) -> None:
    await bot.add_subscribers(3)
    await bot.begin()
    await bot.get_report()
    live = ShownProgress(bot, failures=1)
    for _ in range(3):
        await live.tick()
    assert [(each.is_final, each.counts) for each in live.shown] == [(True, {DELIVERED: 3})] * 2
    assert (await bot.get_broadcast()).message_id == 7
    await live.begin_to_lead()
    await live.tick()
    assert len(live.shown) == 3, "the leader before may have left it out of date"


async def test_a_paused_broadcast_is_shown_and_counted_once(bot: BotProcess) -> None:
    await bot.add_subscribers(3)
    bot.telegram.max_requests = 0
    await bot.begin()
    live = ShownProgress(bot)
    await live.tick()
    await bot.deliveries.decide("b1", PAUSE, OSCAR)
    await bot.wait_until_idle()
    for _ in range(3):
        await live.tick()
    assert [each.broadcast.status for each in live.shown] == [BroadcastStatus.RUNNING, BroadcastStatus.PAUSED]


async def test_a_broadcast_starts_once(bot: BotProcess) -> None:
    people = await bot.add_subscribers(20)
    confirmed = await bot.add_confirmed()
    begun = await asyncio.gather(bot.deliveries.begin(confirmed), bot.deliveries.begin(confirmed))
    assert sum(each is not None for each in begun) == 1
    bot.lead()
    await bot.get_report()
    assert sorted(bot.telegram.reached) == list(people)


async def test_those_who_blocked_the_bot_are_unsubscribed(bot: BotProcess) -> None:
    await bot.add_subscribers(100)
    blocked = range(20, 101, 20)
    bot.telegram.script(blocked, BLOCKED)
    await bot.begin()
    assert await bot.get_report() == {"delivered": 95, "blocked": 5}
    async with bot.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 95
        people = [await UserRepository(tx).get(number) for number in blocked]
    assert all(user is not None and user.blocked_at is not None for user in people)
    await bot.begin("b2")
    assert await bot.get_report("b2") == {"delivered": 95}


async def test_a_user_who_cannot_be_read_holds_up_nobody(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    async with bot.store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = 3"))
    bot.telegram.script([3], BLOCKED)
    await bot.begin()
    assert await bot.get_report() == {"delivered": 9, "blocked": 1}


async def test_what_telegram_refuses_is_listed_as_failed_and_holds_up_nobody(bot: BotProcess) -> None:
    await bot.add_subscribers(50)
    bot.telegram.script([7, 8], Invalid("wrong"))
    await bot.begin()
    assert await bot.get_report() == {"delivered": 48, "failed": 2}


async def test_what_may_have_arrived_is_unknown_until_an_operator_retries_it(bot: BotProcess) -> None:
    people = await bot.add_subscribers(50)
    bot.telegram.script([7, 8], TryLater(0, maybe_sent=True))
    await bot.begin()
    assert await bot.get_report() == {"delivered": 48, "unknown": 2}
    assert await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)
    assert await bot.get_report() == {"delivered": 50}
    assert not await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR), "there is nothing left to retry"
    assert (await bot.get_broadcast()).status is BroadcastStatus.DONE
    assert sorted(bot.telegram.reached) == list(people)


async def test_who_unsubscribed_since_is_not_reached_by_a_retry(bot: BotProcess) -> None:
    await bot.add_subscribers(50)
    bot.telegram.script([7, 8, 9], TryLater(0, maybe_sent=True))
    await bot.begin()
    assert await bot.get_report() == {"delivered": 47, "unknown": 3}
    async with bot.store.transaction() as tx:
        await SubscriptionRepository(tx).delete(7)
        await UserRepository(tx).save(User(id=8, created_at=bot.clock.now(), deletion_requested_at=bot.clock.now()))
    assert await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)
    assert await bot.get_report() == {"delivered": 48, "unknown": 2}
    assert not await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR), "nobody is left to retry"
    assert {7, 8}.isdisjoint(bot.telegram.reached)


async def test_after_thirty_days_an_ended_broadcast_is_not_opened_again(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    bot.telegram.script([7], TryLater(0, maybe_sent=True))
    await bot.begin()
    await bot.get_report()
    bot.clock.passes(days=31)
    assert not await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)
    assert (await bot.get_broadcast()).status is BroadcastStatus.DONE


async def test_who_comes_back_later_is_not_reached_by_a_retry(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    async with bot.store.transaction() as tx:
        await UserRepository(tx).save(User(id=10, created_at=bot.clock.now(), blocked_at=bot.clock.now()))
    bot.telegram.script([7], TryLater(0, maybe_sent=True))
    await bot.begin()
    assert await bot.get_report() == {"delivered": 8, "unknown": 1}
    async with bot.store.transaction() as tx:
        await UserRepository(tx).save(User(id=10, created_at=bot.clock.now()))
    await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)
    assert await bot.get_report() == {"delivered": 9}
    assert 10 not in bot.telegram.reached


async def test_a_paused_broadcast_waits_until_it_is_resumed(bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    bot.telegram.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.waiting) >= 20)
    began = time.monotonic()
    assert await bot.deliveries.decide("b1", PAUSE, OSCAR)
    assert not await bot.deliveries.decide("b1", PAUSE, OSCAR), "the second operator sees how it stands"
    await bot.wait_until_idle()
    assert time.monotonic() - began < 1, "what waits at the limiter is called off"
    assert await bot.count_deliveries() == {DELIVERED: 50, WAITING: 150}, "what hadn't left is waiting again"
    bot.telegram.max_requests = None
    bot.telegram.gate.set()
    await asyncio.sleep(0.1)
    assert len(bot.telegram.requested) == 50
    assert await bot.deliveries.decide("b1", RESUME, OSCAR)
    assert await bot.get_report() == {"delivered": 200}
    assert sorted(bot.telegram.reached) == list(people)


async def test_a_paused_broadcast_holds_up_no_other_message_of_the_chat(bot: BotProcess) -> None:
    await bot.add_subscribers(5)
    bot.telegram.max_requests = 0
    await bot.begin("b1")
    await bot.wait_until(lambda: len(bot.telegram.waiting) >= 5)
    await bot.deliveries.decide("b1", PAUSE, OSCAR)
    await bot.wait_until_idle()
    bot.telegram.max_requests = None
    await bot.begin("b2")
    assert await bot.get_report("b2") == {"delivered": 5}


async def test_a_stopped_broadcast_ends_with_its_report(bot: BotProcess) -> None:
    await bot.add_subscribers(200)
    bot.telegram.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 50)
    both = await asyncio.gather(bot.deliveries.decide("b1", STOP, OSCAR), bot.deliveries.decide("b1", STOP, OSCAR))
    assert sorted(both) == [False, True]
    assert await bot.get_report() == {"delivered": 50, "waiting": 150}
    assert (await bot.get_broadcast()).status is BroadcastStatus.STOPPED
    assert not await bot.deliveries.decide("b1", RESUME, OSCAR)
    assert not await bot.deliveries.decide("b1", RETRY_UNKNOWN, OSCAR)


async def test_who_paused_resumed_and_stopped_it_is_recorded_once_each(bot: BotProcess) -> None:
    await bot.add_subscribers(20)
    bot.telegram.max_requests = 5
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 5)
    for decision in (PAUSE, PAUSE, RESUME, PAUSE, STOP, STOP):
        await bot.deliveries.decide("b1", decision, OSCAR)
    await bot.get_report()
    async with bot.store.reading() as tx:
        entries = reversed(await AuditRepository(tx).page())
    assert [(each.actor_id, each.action, each.subject, each.detail) for each in entries] == [
        (OSCAR, AuditAction.BROADCAST, "broadcast:b1", word) for word in ("paused", "running", "paused", "stopped")
    ]


async def test_a_paused_one_can_be_stopped_too(bot: BotProcess) -> None:
    await bot.add_subscribers(20)
    bot.telegram.max_requests = 5
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 5)
    await bot.deliveries.decide("b1", PAUSE, OSCAR)
    await bot.wait_until_idle()
    assert await bot.deliveries.decide("b1", STOP, OSCAR)
    assert await bot.get_report() == {"delivered": 5, "waiting": 15}
    assert "b1" in bot.deliveries.changed


async def test_an_operator_decides_in_another_process_than_the_one_that_delivers(file: str, bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    other = BotProcess(file)
    bot.telegram.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 50)
    assert await other.deliveries.decide("b1", PAUSE, OSCAR)
    await bot.wait_until_idle()
    assert await other.count_deliveries() == {DELIVERED: 50, WAITING: 150}
    assert await other.deliveries.decide("b1", RESUME, OSCAR)
    bot.telegram.max_requests = 100
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 100)
    assert await other.deliveries.decide("b1", STOP, OSCAR)
    assert await bot.get_report() == {"delivered": 100, "waiting": 100}
    assert len(set(bot.telegram.reached)) == 100
    assert set(bot.telegram.reached) <= set(people)
    assert other.telegram.requested == []
    await other.stop()


async def test_the_progress_adds_up_all_the_time(bot: BotProcess) -> None:
    await bot.add_subscribers(300)
    await bot.begin()
    seen = []
    while (await bot.get_broadcast()).report is None:
        seen.append(await bot.count_deliveries())
        await asyncio.sleep(0.01)
    assert all(sum(counts.values()) == 300 for counts in seen)
    last = await bot.deliveries.get_progress("b1")
    assert last is not None
    assert last.is_final
    assert last.counts == {DELIVERED: 300}


async def test_two_broadcasts_run_beside_one_another(bot: BotProcess) -> None:
    people = await bot.add_subscribers(50)
    await bot.begin("b1")
    await bot.begin("b2")
    await bot.get_report("b1")
    await bot.get_report("b2")
    assert Counter(bot.telegram.reached) == dict.fromkeys(people, 2)


async def test_the_result_of_a_user_deleted_meanwhile_is_not_saved(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    bot.telegram.max_requests = 0
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.waiting) == 10)
    async with bot.store.transaction() as tx:
        await delete_user(tx, 3)
    bot.telegram.max_requests = None
    bot.telegram.gate.set()
    assert await bot.get_report() == {"delivered": 9}
