"""A broadcast reaches each subscriber once. Operators can pause, resume, stop and retry it."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.infra.telegram.outbound.sender import Invalid, TryLater
from bot.rates.repository import SubscriptionRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.broadcasts.builders import BLOCKED, PAUSE, RESUME, RETRY_UNKNOWN, STOP, BotProcess, shorten_pauses
from tests.orders.order_system import OSCAR

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
