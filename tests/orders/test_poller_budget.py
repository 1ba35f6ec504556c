"""The poller stays within the request budget in every second, however many orders there are."""

from itertools import pairwise

import pytest

from bot.settlement.budget import Budget
from tests.orders.fake_orders import FakeOrders
from tests.virtual_time import in_virtual_time, now

PER_SECOND = 10.0


async def watch(orders: FakeOrders, seconds: float) -> None:
    await orders.watch(seconds, Budget(PER_SECOND, clock=now))


def count_busiest_second(orders: FakeOrders) -> int:
    times = [at for at, _ in orders.asked]
    return max(sum(1 for at in times[index : index + 30] if at < start + 0.999) for index, start in enumerate(times))


@pytest.mark.parametrize("count", [1, 2, 3, 100, 1000, 10_000])
def test_the_budget_is_kept_in_every_second(count: int) -> None:
    orders = FakeOrders(count)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(orders, 60)

    a_minute()
    assert count_busiest_second(orders) <= PER_SECOND
    per_order = [[at for at, about in orders.asked if about == str(number)] for number in range(min(count, 300))]
    gaps = [later - earlier for times in per_order for earlier, later in pairwise(times)]
    assert all(gap >= 1 for gap in gaps)


def test_a_hundred_orders_cost_no_more_than_the_list() -> None:
    orders = FakeOrders(100)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(orders, 60)

    a_minute()
    assert {about for _, about in orders.asked} == {"list"}
    assert len(orders.asked) <= 60
    assert min(map(len, orders.polled.values())) >= 10


def test_paid_orders_are_looked_at_often_among_ten_thousand() -> None:
    orders = FakeOrders(10_000, paid=40)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(orders, 60)

    a_minute()
    assert all(len(orders.polled[number]) >= 6 for number in range(40))
