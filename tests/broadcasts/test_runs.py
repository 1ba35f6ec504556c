"""A whole broadcast on each database: delivered, paused, interrupted by a crash and resumed."""

import asyncio
from collections import Counter

from bot.broadcasts.model import BroadcastStatus
from bot.rates.repository import SubscriptionRepository
from tests.broadcasts.builders import BLOCKED, PAUSE, RESUME, BotProcess
from tests.orders.order_system import OSCAR


async def test_a_broadcast_is_delivered_whatever_the_database(database: str) -> None:
    bot = BotProcess(database)
    await bot.add_subscribers(150)
    bot.telegram.script(range(1, 6), BLOCKED)
    bot.telegram.max_requests = 60
    await bot.begin()
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 60)
    paused = await asyncio.gather(bot.deliveries.decide("b1", PAUSE, OSCAR), bot.deliveries.decide("b1", PAUSE, OSCAR))
    assert sorted(paused) == [False, True]
    await bot.wait_until_idle()
    bot.telegram.max_requests = 100
    await bot.deliveries.decide("b1", RESUME, OSCAR)
    await bot.wait_until(lambda: len(bot.telegram.requested) >= 100)
    await bot.kill()
    second = BotProcess(database)
    second.lead()
    report = await second.get_report()
    unknown = report.pop("unknown", 0)
    assert report == {"delivered": 145 - unknown, "blocked": 5}
    assert (await second.get_broadcast()).status is BroadcastStatus.DONE
    assert set((Counter(bot.telegram.reached) + Counter(second.telegram.reached)).values()) == {1}
    async with second.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 145
    await second.stop()
