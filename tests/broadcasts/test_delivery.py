"""A broadcast reaches each subscriber once. Operators can pause, resume, stop and retry it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

import pytest
from sqlalchemy import text

from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.broadcasts.run import Progress
from bot.broadcasts.workers import LiveMessageWorker
from bot.infra.outbox.model import RetryLater, Undeliverable
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.users.repository import UserRepository
from tests.broadcasts.builders import BLOCKED, BotProcess, shorten_pauses
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
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)
    ended = await bot.get_broadcast()
    assert (ended.status, ended.report) == (BroadcastStatus.DONE, {"delivered": 300})
    assert ended.ended_at is not None


async def test_in_quiet_hours_it_comes_without_a_sound(bot: BotProcess) -> None:
    people = await bot.add_subscribers(30)
    night = replace(Subscription(user_id=7, subscribed_at=bot.clock.now()), quiet_from=16 * 60, quiet_until=17 * 60)
    async with bot.store.transaction() as tx:
        await SubscriptionRepository(tx).save(night)  # it is 16:00 in Jakarta
        await SubscriptionRepository(tx).save(replace(night, user_id=8, quiet_from=17 * 60, quiet_until=16 * 60))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)
    assert bot.sender.sent_silently == {7}


async def test_messages_are_sent_beside_one_another(bot: BotProcess) -> None:
    await bot.add_subscribers(100)
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert bot.sender.max_concurrent > 5


async def test_a_broadcast_to_nobody_ends_at_once(bot: BotProcess) -> None:
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    ended = await bot.get_broadcast()
    assert (ended.status, ended.report) == (BroadcastStatus.DONE, {})


async def test_a_broadcast_that_ends_before_the_first_tick_is_shown(bot: BotProcess) -> None:
    class FakeLiveMessages:
        def __init__(self) -> None:
            self.shown: list[Progress] = []

        async def show(self, progress: Progress) -> int | None:
            self.shown.append(progress)
            return None if len(self.shown) == 1 else 7

    await bot.add_subscribers(3)
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    messages = FakeLiveMessages()
    live = LiveMessageWorker(bot.deliveries, cast("Any", messages))
    for _ in range(3):
        await live.tick()
    assert [(each.is_final, each.counts) for each in messages.shown] == [(True, {DELIVERED: 3})] * 2
    assert (await bot.get_broadcast()).message_id == 7


async def test_a_broadcast_starts_once(bot: BotProcess) -> None:
    people = await bot.add_subscribers(20)
    confirmed = await bot.add_confirmed()
    begun = await asyncio.gather(bot.deliveries.begin(confirmed), bot.deliveries.begin(confirmed))
    assert sum(each is not None for each in begun) == 1
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)


async def test_those_who_blocked_the_bot_are_unsubscribed(bot: BotProcess) -> None:
    await bot.add_subscribers(100)
    blocked = range(20, 101, 20)
    bot.sender.script(blocked, BLOCKED)
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 95, "blocked": 5}
    async with bot.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 95
        people = [await UserRepository(tx).get(number) for number in blocked]
    assert all(user is not None and user.blocked_at is not None for user in people)
    assert await bot.deliveries.begin(await bot.add_confirmed("b2")) is not None
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast("b2")).report == {"delivered": 95}


async def test_a_user_who_cannot_be_read_holds_up_nobody(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    async with bot.store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = 3"))
    bot.sender.script([3], BLOCKED)
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 9, "blocked": 1}


async def test_what_telegram_refuses_is_listed_as_failed_and_holds_up_nobody(bot: BotProcess) -> None:
    await bot.add_subscribers(50)
    bot.sender.script([7, 8], Undeliverable("wrong"))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 48, "failed": 2}


async def test_what_may_have_arrived_is_unknown_until_an_operator_retries_it(bot: BotProcess) -> None:
    people = await bot.add_subscribers(50)
    bot.sender.script([7, 8], RetryLater(0, maybe_sent=True))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 48, "unknown": 2}
    assert await bot.deliveries.retry_unknown("b1", OSCAR) == 2
    assert await bot.deliveries.retry_unknown("b1", OSCAR) == 0, "a second press does nothing"
    await bot.deliveries.resume_runs()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 50}
    assert sorted(bot.sender.reached) == list(people)


async def test_a_paused_broadcast_waits_until_it_is_resumed(bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    bot.sender.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 50)
    assert await bot.deliveries.pause("b1", OSCAR) is not None
    assert await bot.deliveries.pause("b1", OSCAR) is None, "the second operator sees how it stands"
    await bot.deliveries.wait_until_idle()
    counts = await bot.count_deliveries()
    assert counts == {DELIVERED: 50, WAITING: 150}, "what hadn't left is waiting again"
    bot.sender.max_requests = None
    await bot.deliveries.resume_runs()
    assert not bot.deliveries.is_busy
    assert await bot.deliveries.resume("b1", OSCAR) is not None
    await bot.deliveries.resume_runs()
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)


async def test_a_stopped_broadcast_ends_with_its_report(bot: BotProcess) -> None:
    await bot.add_subscribers(200)
    bot.sender.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 50)
    both = await asyncio.gather(bot.deliveries.stop("b1", OSCAR), bot.deliveries.stop("b1", OSCAR))
    assert sum(each is not None for each in both) == 1
    await bot.deliveries.wait_until_idle()
    stopped = await bot.get_broadcast()
    assert (stopped.status, stopped.report) == (BroadcastStatus.STOPPED, {"delivered": 50, "waiting": 150})
    assert await bot.deliveries.resume("b1", OSCAR) is None
    assert await bot.deliveries.retry_unknown("b1", OSCAR) == 0


async def test_who_paused_resumed_and_stopped_it_is_recorded_once_each(bot: BotProcess) -> None:
    await bot.add_subscribers(20)
    bot.sender.max_requests = 5
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 5)
    act = bot.deliveries
    for step in (act.pause, act.pause, act.resume, act.pause, act.stop, act.stop):
        await step("b1", OSCAR)
    await act.wait_until_idle()
    async with bot.store.reading() as tx:
        entries = reversed(await AuditRepository(tx).page())
    assert [(each.actor_id, each.action, each.subject, each.detail) for each in entries] == [
        (OSCAR, AuditAction.BROADCAST, "broadcast:b1", word) for word in ("paused", "running", "paused", "stopped")
    ]


async def test_a_paused_one_can_be_stopped_too(bot: BotProcess) -> None:
    await bot.add_subscribers(20)
    bot.sender.max_requests = 5
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 5)
    await bot.deliveries.pause("b1", OSCAR)
    await bot.deliveries.wait_until_idle()
    assert await bot.deliveries.stop("b1", OSCAR) is not None
    assert (await bot.get_broadcast()).report is None
    await bot.deliveries.resume_runs()
    assert (await bot.get_broadcast()).report == {"delivered": 5, "waiting": 15}
    assert "b1" in await bot.deliveries.pop_changed()


async def test_an_operator_decides_in_another_process_than_the_one_that_delivers(file: str, bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    other = BotProcess(file)
    bot.sender.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 50)
    assert await other.deliveries.pause("b1", OSCAR) is not None
    await bot.deliveries.wait_until_idle()
    assert await bot.count_deliveries() == {DELIVERED: 50, WAITING: 150}
    assert await other.deliveries.resume("b1", OSCAR) is not None
    assert not other.deliveries.is_busy
    bot.sender.max_requests = 100
    await bot.deliveries.resume_runs()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 100)
    assert await other.deliveries.stop("b1", OSCAR) is not None
    await bot.deliveries.wait_until_idle()
    stopped = await bot.get_broadcast()
    assert (stopped.status, stopped.report) == (BroadcastStatus.STOPPED, {"delivered": 100, "waiting": 100})
    assert sorted(bot.sender.reached) == sorted(people)[:100]
    assert other.sender.requested == []
    await other.stop()


async def test_a_process_that_leads_again_delivers_again(bot: BotProcess) -> None:
    people = await bot.add_subscribers(200)
    bot.sender.max_requests = 50
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 50)
    await bot.deliveries.close(1)
    await bot.deliveries.resume_runs()
    assert not bot.deliveries.is_busy
    bot.sender.max_requests = None
    await bot.deliveries.recover()
    await bot.deliveries.resume_runs()
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)


async def test_the_progress_adds_up_all_the_time(bot: BotProcess) -> None:
    await bot.add_subscribers(300)
    await bot.begin()
    seen = []
    while bot.deliveries.is_busy:
        progress = await bot.deliveries.get_progress("b1")
        assert progress is not None
        seen.append(progress.counts)
        await asyncio.sleep(0.01)
    assert all(sum(counts.values()) in {0, 300} for counts in seen)
    assert all(count >= 0 for counts in seen for count in counts.values())
    last = await bot.deliveries.get_progress("b1")
    assert last is not None
    assert last.is_final
    assert last.counts == {DELIVERED: 300}


async def test_two_broadcasts_run_beside_one_another(bot: BotProcess) -> None:
    people = await bot.add_subscribers(50)
    await bot.begin("b1")
    await bot.begin("b2")
    await bot.deliveries.wait_until_idle()
    assert Counter(bot.sender.reached) == dict.fromkeys(people, 2)


async def test_the_result_of_a_user_deleted_meanwhile_is_not_saved(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    bot.sender.max_requests = 0
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.waiting) == 10)
    async with bot.store.transaction() as tx:
        await delete_user(tx, 3)
    bot.sender.max_requests = None
    bot.sender.gate.set()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 9}
