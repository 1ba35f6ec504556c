"""A whole broadcast on each of the databases: delivered, paused, broken off and taken up again."""

import asyncio
from collections import Counter

from bot.broadcasts.model import BroadcastStatus
from bot.rates.subscription_repository import SubscriptionRepository
from tests.broadcasts.world import BLOCKED, Desk
from tests.orders.order_world import OSCAR


async def test_a_broadcast_is_delivered_whatever_the_database(database: str) -> None:
    desk = Desk(database)
    await desk.subscribers(150)
    desk.courier.says(range(1, 6), BLOCKED)
    desk.courier.lets_go = 60
    await desk.begins()
    await desk.until(lambda: len(desk.courier.left) >= 60)
    paused = await asyncio.gather(desk.delivering.pause("b1", OSCAR), desk.delivering.pause("b1", OSCAR))
    assert sum(each is not None for each in paused) == 1
    await desk.delivering.settle()
    desk.courier.lets_go = 100
    await desk.delivering.resume("b1", OSCAR)
    await desk.until(lambda: len(desk.courier.left) >= 100)
    await desk.dies()
    second = Desk(database)
    await second.delivering.recover()
    await second.delivering.take_up()
    await second.delivering.settle()
    ended = await second.broadcast()
    unknown = (ended.report or {}).get("unknown", 0)
    assert ended.status is BroadcastStatus.DONE
    assert ended.report == {"delivered": 145 - unknown, "blocked": 5} | ({"unknown": unknown} if unknown else {})
    assert set((Counter(desk.courier.reached) + Counter(second.courier.reached)).values()) == {1}
    async with second.store.reading() as tx:
        assert await SubscriptionRepository(tx).count() == 145
    await second.leaves()
