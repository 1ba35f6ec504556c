"""No order is read twice within a second, by any part of the bot. Different orders never wait for each other."""

import asyncio
from itertools import pairwise

from bot.settlement.budget import OrderPace
from tests.virtual_time import in_virtual_time, now


@in_virtual_time
async def test_looks_at_one_order_are_a_second_apart() -> None:
    turns, at = OrderPace(now), list[float]()

    async def look() -> None:
        await turns.take("svc-1")
        at.append(now())

    await asyncio.gather(*(look() for _ in range(5)))
    await asyncio.sleep(0.5)
    await look()
    assert all(later - earlier >= 1 for earlier, later in pairwise(at))
    assert at[0] == 1000


@in_virtual_time
async def test_different_orders_do_not_wait() -> None:
    turns = OrderPace(now)
    await asyncio.gather(*(turns.take(f"svc-{number}") for number in range(500)))
    assert now() == 1000


@in_virtual_time
async def test_an_order_looked_at_long_ago_does_not_wait() -> None:
    turns = OrderPace(now)
    await turns.take("svc-1")
    await asyncio.sleep(5)
    await turns.take("svc-1")
    assert now() == 1005
