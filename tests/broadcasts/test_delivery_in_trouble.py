"""A broadcast through refusals, failures, crashes and a database that is away: nobody twice, and nobody left out."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.run import FAILURES_BORNE
from bot.infra.outbox.model import RetryLater, Undeliverable
from tests.broadcasts.world import Courier, Desk, rest_briefly

DELIVERED, WAITING, UNKNOWN = DeliveryStatus.DELIVERED, DeliveryStatus.WAITING, DeliveryStatus.UNKNOWN


@pytest.fixture
async def desk(file: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    rest_briefly(monkeypatch)
    desk = Desk(file)
    yield desk
    await desk.leaves()


async def test_a_refusal_for_its_frequency_is_no_loss(desk: Desk) -> None:
    people = await desk.subscribers(60)
    desk.courier.says(range(10, 60, 10), RetryLater(0.05), RetryLater(0.05))
    await desk.begins()
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)
    assert (await desk.broadcast()).report == {"delivered": 60}


async def test_a_storm_of_refusals_loses_and_doubles_nobody(desk: Desk) -> None:
    people = await desk.subscribers(40)
    desk.courier.says(people, RetryLater(0.01))
    await desk.begins()
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)


async def test_one_chat_that_is_always_refused_does_not_hold_up_the_others_for_ever(desk: Desk) -> None:
    await desk.subscribers(200)
    desk.courier.says([1], *[RetryLater(0.01)] * 50)
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 199, "failed": 1}


async def test_a_failure_of_ours_before_the_request_is_no_unknown(desk: Desk) -> None:
    await desk.subscribers(10)
    desk.courier.says([3], RuntimeError("after it left"))
    await desk.begins()
    await desk.delivering.settle()
    assert (await desk.broadcast()).report == {"delivered": 9, "unknown": 1}


async def test_a_message_that_everybody_is_refused_pauses_the_broadcast(desk: Desk) -> None:
    people = await desk.subscribers(500)
    desk.courier.says(people, Undeliverable("can't parse entities"))
    await desk.begins()
    await desk.delivering.settle()
    counts = await desk.counts()
    assert (await desk.broadcast()).status is BroadcastStatus.PAUSED
    assert FAILURES_BORNE <= counts[DeliveryStatus.FAILED] < 200


async def test_a_crash_leaves_nobody_out_and_tells_nobody_twice_except_those_listed(file: str) -> None:
    first = Desk(file)
    people = await first.subscribers(300)
    first.courier.lets_go = 120
    await first.begins()
    await first.until(lambda: len(first.courier.left) >= 120)
    await first.dies()
    second = Desk(file, Courier())
    await second.delivering.recover()
    await second.delivering.take_up()
    await second.delivering.settle()
    report = dict((await second.broadcast()).report or {})
    unknown = report.pop("unknown", 0)
    assert 0 < unknown <= 80, "only what was in hand"
    assert report == {"delivered": 300 - unknown}
    told = Counter(first.courier.reached) + Counter(second.courier.reached)
    assert set(told.values()) == {1}
    async with second.store.reading() as tx:
        listed = {each.person_id for each in await DeliveryRepository(tx).with_status("b1", UNKNOWN)}
    assert set(people) - told.keys() <= listed
    await second.leaves()


async def test_a_calm_ending_leaves_nobody_unknown(file: str) -> None:
    first = Desk(file)
    people = await first.subscribers(300)
    first.courier.lets_go = 120
    await first.begins()
    await first.until(lambda: len(first.courier.left) >= 120)
    await first.leaves()
    second = Desk(file)
    await second.delivering.recover()
    await second.delivering.take_up()
    await second.delivering.settle()
    assert (await second.broadcast()).report == {"delivered": 300}
    assert sorted(first.courier.reached + second.courier.reached) == list(people)
    await second.leaves()


async def test_one_stopped_in_the_moment_of_a_crash_gets_its_report(file: str) -> None:
    first = Desk(file)
    await first.subscribers(30)
    first.courier.lets_go = 5
    await first.begins()
    await first.until(lambda: len(first.courier.left) >= 5)
    stopped = replace(await first.broadcast(), status=BroadcastStatus.STOPPED)
    async with first.store.transaction() as tx:
        await BroadcastRepository(tx).save(stopped)
    await first.dies()
    second = Desk(file)
    assert await second.delivering.recover() == ("b1",)
    ended = await second.broadcast()
    assert ended.ended_at is not None
    assert sum((ended.report or {}).values()) == 30
    await second.leaves()


@pytest.mark.parametrize("when", ["fails_before", "fails_after"])
async def test_a_database_that_is_away_for_a_moment_loses_and_doubles_nobody(desk: Desk, when: str) -> None:
    people = await desk.subscribers(200)
    await desk.begins()
    await desk.until(lambda: len(desk.courier.reached) >= 40)
    setattr(desk.moody, when, 1)
    await desk.until(lambda: getattr(desk.moody, when) == 0)
    await desk.until(lambda: len(desk.courier.reached) >= 100)
    setattr(desk.moody, when, 1)
    await desk.delivering.settle()
    assert sorted(desk.courier.reached) == list(people)
    assert (await desk.broadcast()).report == {"delivered": 200}
