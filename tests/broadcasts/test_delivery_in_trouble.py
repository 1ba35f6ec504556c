"""A broadcast reaches each subscriber once, despite refusals, failures, crashes and a database that is down."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.run import MAX_REJECTIONS, PostponedReaders
from bot.infra.outbox.model import RetryLater, Undeliverable
from tests.broadcasts.builders import BotProcess, FakeSender, shorten_pauses

DELIVERED, WAITING, UNKNOWN = DeliveryStatus.DELIVERED, DeliveryStatus.WAITING, DeliveryStatus.UNKNOWN


@pytest.fixture
async def bot(file: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BotProcess]:
    shorten_pauses(monkeypatch)
    bot = BotProcess(file)
    yield bot
    await bot.stop()


async def test_a_refusal_for_too_many_messages_loses_nobody(bot: BotProcess) -> None:
    people = await bot.add_subscribers(60)
    bot.sender.script(range(10, 60, 10), RetryLater(0.05), RetryLater(0.05))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)
    assert (await bot.get_broadcast()).report == {"delivered": 60}


async def test_a_storm_of_refusals_loses_and_doubles_nobody(bot: BotProcess) -> None:
    people = await bot.add_subscribers(40)
    bot.sender.script(people, RetryLater(0.01))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)


async def test_one_chat_that_is_always_refused_does_not_hold_up_the_others_for_ever(bot: BotProcess) -> None:
    await bot.add_subscribers(200)
    bot.sender.script([1], *[RetryLater(0.01)] * 50)
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 199, "failed": 1}


async def test_one_chat_with_a_pause_of_an_hour_comes_last_and_holds_up_nobody(bot: BotProcess) -> None:
    people = await bot.add_subscribers(60)
    bot.sender.script(people[10:11], RetryLater(3600))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 60}
    assert bot.sender.reached[-1] == people[10], "the limiter holds it until its pause is over"


def test_several_readers_refused_in_a_row_mean_a_limit_for_all() -> None:
    postponed = PostponedReaders()
    assert not postponed.record_refusal(1, until=100.0)
    assert not postponed.are_several
    assert not postponed.record_refusal(1, until=200.0)
    assert not postponed.are_several, "the same reader again says nothing about the others"
    postponed.record_refusal(2, until=50.0)
    assert postponed.are_several
    assert postponed.find_ids(60.0) == {1, 2}
    postponed.record_delivery()
    assert not postponed.are_several
    assert postponed.find_ids(60.0) == {1}
    assert postponed.find_ids(200.0) == set()


async def test_an_unexpected_error_after_the_request_is_unknown(bot: BotProcess) -> None:
    await bot.add_subscribers(10)
    bot.sender.script([3], RuntimeError("after it left"))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    assert (await bot.get_broadcast()).report == {"delivered": 9, "unknown": 1}


async def test_a_message_that_is_rejected_for_all_pauses_the_broadcast(bot: BotProcess) -> None:
    people = await bot.add_subscribers(500)
    bot.sender.script(people, Undeliverable("can't parse entities"))
    await bot.begin()
    await bot.deliveries.wait_until_idle()
    counts = await bot.count_deliveries()
    assert (await bot.get_broadcast()).status is BroadcastStatus.PAUSED
    assert MAX_REJECTIONS <= counts[DeliveryStatus.FAILED] < 200


async def test_a_crash_leaves_out_and_doubles_nobody_except_those_listed(file: str) -> None:
    first = BotProcess(file)
    people = await first.add_subscribers(300)
    first.sender.max_requests = 120
    await first.begin()
    await first.wait_until(lambda: len(first.sender.requested) >= 120)
    await first.kill()
    second = BotProcess(file, FakeSender())
    await second.deliveries.recover()
    await second.deliveries.resume_runs()
    await second.deliveries.wait_until_idle()
    report = dict((await second.get_broadcast()).report or {})
    unknown = report.pop("unknown", 0)
    assert 0 < unknown <= 80, "only what was in hand"
    assert report == {"delivered": 300 - unknown}
    reached = Counter(first.sender.reached) + Counter(second.sender.reached)
    assert set(reached.values()) == {1}
    async with second.store.reading() as tx:
        listed = {each.user_id for each in await DeliveryRepository(tx).with_status("b1", UNKNOWN)}
    assert set(people) - reached.keys() <= listed
    await second.stop()


async def test_a_normal_shutdown_leaves_nobody_unknown(file: str) -> None:
    first = BotProcess(file)
    people = await first.add_subscribers(300)
    first.sender.max_requests = 120
    await first.begin()
    await first.wait_until(lambda: len(first.sender.requested) >= 120)
    await first.stop()
    second = BotProcess(file)
    await second.deliveries.recover()
    await second.deliveries.resume_runs()
    await second.deliveries.wait_until_idle()
    assert (await second.get_broadcast()).report == {"delivered": 300}
    assert sorted(first.sender.reached + second.sender.reached) == list(people)
    await second.stop()


async def test_a_broadcast_stopped_during_a_crash_gets_its_report(file: str) -> None:
    first = BotProcess(file)
    await first.add_subscribers(30)
    first.sender.max_requests = 5
    await first.begin()
    await first.wait_until(lambda: len(first.sender.requested) >= 5)
    stopped = replace(await first.get_broadcast(), status=BroadcastStatus.STOPPED)
    async with first.store.transaction() as tx:
        await BroadcastRepository(tx).save(stopped)
    await first.kill()
    second = BotProcess(file)
    assert await second.deliveries.recover() == ("b1",)
    ended = await second.get_broadcast()
    assert ended.ended_at is not None
    assert sum((ended.report or {}).values()) == 30
    await second.stop()


@pytest.mark.parametrize("when", ["fails_before", "fails_after"])
async def test_a_database_that_is_away_for_a_moment_loses_and_doubles_nobody(bot: BotProcess, when: str) -> None:
    people = await bot.add_subscribers(200)
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.reached) >= 40)
    setattr(bot.failing, when, 1)
    await bot.wait_until(lambda: getattr(bot.failing, when) == 0)
    await bot.wait_until(lambda: len(bot.sender.reached) >= 100)
    setattr(bot.failing, when, 1)
    await bot.deliveries.wait_until_idle()
    assert sorted(bot.sender.reached) == list(people)
    assert (await bot.get_broadcast()).report == {"delivered": 200}
