"""A broadcast reaches everybody once, whatever comes of single messages, and goes on or ends at an operator's word."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import text

from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.broadcasts.run import Progress
from bot.broadcasts.worker import LiveProgress
from bot.infra.outbox.model import RetryLater, Undeliverable
from bot.rates.model import Subscription
from bot.rates.subscription_repository import SubscriptionRepository
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.users.repository import UserRepository
from tests.broadcasts.world import BLOCKED, Desk, rest_briefly
from tests.deleting import delete_user
from tests.orders.order_world import OSCAR

DELIVERED, WAITING, UNKNOWN = DeliveryStatus.DELIVERED, DeliveryStatus.WAITING, DeliveryStatus.UNKNOWN


@pytest.fixture
async def desk(file: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    rest_briefly(monkeypatch)
    desk = Desk(file)
    yield desk
    await desk.leaves()


async def test_everybody_is_told_once_and_the_report_is_kept(desk: Desk) -> None:
    people = await desk.subscribers(300)
    await desk.begins()
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)
    ended = await desk.broadcast()
    assert (ended.status, ended.report) == (BroadcastStatus.DONE, {"delivered": 300})
    assert ended.ended_at is not None


async def test_where_it_is_quiet_it_comes_without_a_sound(desk: Desk) -> None:
    people = await desk.subscribers(30)
    night = replace(Subscription(person_id=7, since=desk.clock.now()), quiet_from=16 * 60, quiet_until=17 * 60)
    async with desk.store.transaction() as tx:
        await SubscriptionRepository(tx).save(night)  # it is four in the afternoon in Jakarta
        await SubscriptionRepository(tx).save(replace(night, person_id=8, quiet_from=17 * 60, quiet_until=16 * 60))
    await desk.begins()
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)
    assert desk.courier.silently == {7}


async def test_messages_are_sent_beside_one_another(desk: Desk) -> None:
    await desk.subscribers(100)
    await desk.begins()
    await desk.delivering.settle()
    assert desk.courier.most_at_once > 5


async def test_a_broadcast_to_nobody_ends_at_once(desk: Desk) -> None:
    await desk.begins()
    await desk.delivering.settle()
    ended = await desk.broadcast()
    assert (ended.status, ended.report) == (BroadcastStatus.DONE, {})


async def test_one_that_ends_before_anybody_has_looked_is_shown_all_the_same(desk: Desk) -> None:
    class Window:
        def __init__(self) -> None:
            self.shown: list[Progress] = []

        async def show(self, progress: Progress) -> int | None:
            self.shown.append(progress)
            return None if len(self.shown) == 1 else 7

    await desk.subscribers(3)
    await desk.begins()
    await desk.delivering.settle()
    window = Window()
    live = LiveProgress(desk.delivering, window)
    for _ in range(3):
        await live.tick()
    assert [(each.is_final, each.counts) for each in window.shown] == [(True, {DELIVERED: 3})] * 2
    assert (await desk.broadcast()).message_id == 7


async def test_one_is_begun_once(desk: Desk) -> None:
    people = await desk.subscribers(20)
    confirmed = await desk.confirmed()
    begun = await asyncio.gather(desk.delivering.begin(confirmed), desk.delivering.begin(confirmed))
    assert sum(each is not None for each in begun) == 1
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)


async def test_those_who_blocked_the_bot_are_unsubscribed(desk: Desk) -> None:
    await desk.subscribers(100)
    blocked = range(20, 101, 20)
    desk.courier.says(blocked, BLOCKED)
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 95, "blocked": 5}
    async with desk.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 95
        people = [await UserRepository(tx).get(number) for number in blocked]
    assert all(person is not None and person.blocked_at is not None for person in people)
    assert await desk.delivering.begin(await desk.confirmed("b2")) is not None
    await desk.delivering.settle()
    assert (await desk.broadcast("b2")).report == {"delivered": 95}


async def test_a_user_who_cannot_be_read_holds_up_nobody(desk: Desk) -> None:
    await desk.subscribers(10)
    async with desk.store._writer.begin() as connection:
        await connection.execute(text("UPDATE users SET phrase = 's1.no.key' WHERE id = 3"))
    desk.courier.says([3], BLOCKED)
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 9, "blocked": 1}


async def test_what_telegram_refuses_is_listed_as_failed_and_holds_up_nobody(desk: Desk) -> None:
    await desk.subscribers(50)
    desk.courier.says([7, 8], Undeliverable("wrong"))
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 48, "failed": 2}


async def test_what_may_have_arrived_is_unknown_and_sent_again_only_at_an_operators_word(desk: Desk) -> None:
    people = await desk.subscribers(50)
    desk.courier.says([7, 8], RetryLater(0, maybe_told=True))
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 48, "unknown": 2}
    assert await desk.delivering.retry_unknown("b1", OSCAR) == 2
    assert await desk.delivering.retry_unknown("b1", OSCAR) == 0, "a second press does nothing"
    await desk.delivering.take_up()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 50}
    assert sorted(desk.courier.reached) == list(people)


async def test_a_paused_one_rests_until_it_is_resumed(desk: Desk) -> None:
    people = await desk.subscribers(200)
    desk.courier.lets_go = 50
    await desk.begins()
    await desk.until(lambda: len(desk.courier.left) >= 50)
    assert await desk.delivering.pause("b1", OSCAR) is not None
    assert await desk.delivering.pause("b1", OSCAR) is None, "the second operator sees how it stands"
    await desk.delivering.settle()
    counts = await desk.counts()
    assert counts == {DELIVERED: 50, WAITING: 150}, "what hadn't left is waiting again"
    desk.courier.lets_go = None
    await desk.delivering.take_up()
    assert not desk.delivering.is_busy
    assert await desk.delivering.resume("b1", OSCAR) is not None
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)


async def test_a_stopped_one_ends_with_its_report(desk: Desk) -> None:
    await desk.subscribers(200)
    desk.courier.lets_go = 50
    await desk.begins()
    await desk.until(lambda: len(desk.courier.left) >= 50)
    both = await asyncio.gather(desk.delivering.stop("b1", OSCAR), desk.delivering.stop("b1", OSCAR))
    assert sum(each is not None for each in both) == 1
    await desk.delivering.settle()
    stopped = await desk.broadcast()
    assert (stopped.status, stopped.report) == (BroadcastStatus.STOPPED, {"delivered": 50, "waiting": 150})
    assert await desk.delivering.resume("b1", OSCAR) is None
    assert await desk.delivering.retry_unknown("b1", OSCAR) == 0


async def test_who_paused_resumed_and_stopped_it_is_written_down_once_each(desk: Desk) -> None:
    await desk.subscribers(20)
    desk.courier.lets_go = 5
    await desk.begins()
    await desk.until(lambda: len(desk.courier.left) >= 5)
    act = desk.delivering
    for step in (act.pause, act.pause, act.resume, act.pause, act.stop, act.stop):
        await step("b1", OSCAR)
    await act.settle()
    async with desk.store.reading() as tx:
        trail = reversed(await AuditRepository(tx).page())
    assert [(each.actor_id, each.action, each.subject, each.detail) for each in trail] == [
        (OSCAR, AuditAction.BROADCAST, "broadcast:b1", word) for word in ("paused", "running", "paused", "stopped")
    ]


async def test_a_paused_one_can_be_stopped_too(desk: Desk) -> None:
    await desk.subscribers(20)
    desk.courier.lets_go = 5
    await desk.begins()
    await desk.until(lambda: len(desk.courier.left) >= 5)
    await desk.delivering.pause("b1", OSCAR)
    await desk.delivering.settle()
    assert await desk.delivering.stop("b1", OSCAR) is not None
    assert (await desk.broadcast()).report == {"delivered": 5, "waiting": 15}


async def test_the_progress_adds_up_all_the_time(desk: Desk) -> None:
    await desk.subscribers(300)
    await desk.begins()
    seen = []
    while desk.delivering.is_busy:
        progress = await desk.delivering.progress("b1")
        assert progress is not None
        seen.append(progress.counts)
        await asyncio.sleep(0.01)
    assert all(sum(counts.values()) in {0, 300} for counts in seen)
    assert all(count >= 0 for counts in seen for count in counts.values())
    last = await desk.delivering.progress("b1")
    assert last is not None
    assert last.is_final
    assert last.counts == {DELIVERED: 300}


async def test_two_broadcasts_run_beside_one_another(desk: Desk) -> None:
    people = await desk.subscribers(50)
    await desk.begins("b1")
    await desk.begins("b2")
    await desk.delivering.settle()
    assert Counter(desk.courier.reached) == dict.fromkeys(people, 2)


async def test_the_outcome_of_somebody_forgotten_meanwhile_is_nobodys(desk: Desk) -> None:
    await desk.subscribers(10)
    desk.courier.lets_go = 0
    await desk.begins()
    await desk.until(lambda: len(desk.courier.held) == 10)
    async with desk.store.transaction() as tx:
        await delete_user(tx, 3)
    desk.courier.lets_go = None
    desk.courier.gate.set()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 9}
