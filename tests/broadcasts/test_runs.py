"""A whole broadcast on each database: delivered, paused, interrupted by a crash and resumed."""

import asyncio
from collections import Counter

from bot.broadcasts.model import BroadcastStatus
from bot.rates.repository import SubscriptionRepository
from tests.broadcasts.builders import BLOCKED, BotProcess
from tests.orders.order_system import OSCAR


async def test_a_broadcast_is_delivered_whatever_the_database(database: str) -> None:
    bot = BotProcess(database)
    await bot.add_subscribers(150)
    bot.sender.script(range(1, 6), BLOCKED)
    bot.sender.max_requests = 60
    await bot.begin()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 60)
    paused = await asyncio.gather(bot.deliveries.pause("b1", OSCAR), bot.deliveries.pause("b1", OSCAR))
    assert sum(each is not None for each in paused) == 1
    await bot.deliveries.wait_until_idle()
    bot.sender.max_requests = 100
    await bot.deliveries.resume("b1", OSCAR)
    await bot.deliveries.resume_runs()
    await bot.wait_until(lambda: len(bot.sender.requested) >= 100)
    await bot.kill()
    second = BotProcess(database)
    await second.deliveries.recover()
    await second.deliveries.resume_runs()
    await second.deliveries.wait_until_idle()
    ended = await second.get_broadcast()
    unknown = (ended.report or {}).get("unknown", 0)
    assert ended.status is BroadcastStatus.DONE
    assert ended.report == {"delivered": 145 - unknown, "blocked": 5} | ({"unknown": unknown} if unknown else {})
    assert set((Counter(bot.sender.reached) + Counter(second.sender.reached)).values()) == {1}
    async with second.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 145
    await second.stop()
