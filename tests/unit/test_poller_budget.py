"""Whatever number of orders there is, the service is asked no more than the budget allows, in any second."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, cast

import pytest

from bot.actions.budget import Budget
from bot.actions.ports import Newest
from bot.domain.order import Order, OrderReport, Phase
from bot.workers.poller import Poller
from tests.contract.store_builders import an_order
from tests.virtual_time import in_virtual_time, now

PER_SECOND = 10.0
INTERVAL = timedelta(seconds=5)
ZERO = datetime(2026, 11, 21, tzinfo=UTC)


class LoopClock:
    def now(self) -> datetime:
        return ZERO + timedelta(seconds=now())


class Town:
    """Orders in memory, a service that answers in a while, and the times of all requests."""

    def __init__(self, count: int, paid: int = 0, takes: float = 0.2) -> None:
        self.due_at = dict.fromkeys(range(count), ZERO)
        self.paid = paid
        self.takes = takes
        self.asked: list[tuple[float, str]] = []
        self.looked: Counter[int] = Counter()

    def order(self, number: int) -> Order:
        return an_order(f"R{number}", service_id=str(number), phase=Phase.OPEN, state="IDLE")

    # The store, as far as the poller looks into it.
    def reading(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @property
    def orders(self) -> Any:
        return self

    async def due(self, at: datetime, limit: int) -> tuple[Order, ...]:
        due = [number for number, when in self.due_at.items() if when <= at]
        due.sort(key=lambda number: (number >= self.paid, self.due_at[number]))
        return tuple(self.order(number) for number in due[:limit])

    async def by_service_id(self, ids: Any) -> dict[str, Order]:
        return {each: self.order(int(each)) for each in ids}

    # The service.
    async def newest(self, limit: int) -> Newest:
        self.asked.append((now(), "list"))
        await asyncio.sleep(self.takes)
        newest = sorted(self.due_at, reverse=True)[:limit]
        return Newest(tuple(OrderReport(service_id=str(number), state="IDLE") for number in newest), ZERO)

    async def look_up(self, service_id: str) -> OrderReport:
        self.asked.append((now(), service_id))
        await asyncio.sleep(self.takes)
        return OrderReport(service_id=service_id, state="IDLE")

    # The observer.
    async def observe(self, reference: str, _: OrderReport) -> None:
        self.looked[int(reference[1:])] += 1
        self.due_at[int(reference[1:])] = LoopClock().now() + INTERVAL


async def watch(town: Town, seconds: float) -> None:
    budget = Budget(PER_SECOND, clock=now)
    poller = Poller(
        store=cast("Any", town),
        settlement=cast("Any", town),
        observer=cast("Any", town),
        clock=LoopClock(),
        budget=budget,
        interval=INTERVAL,
    )
    end = now() + seconds
    while now() < end:
        pause = await poller.tick()
        await asyncio.sleep(pause)


def most_in_a_second(town: Town) -> int:
    times = [at for at, _ in town.asked]
    return max(sum(1 for at in times[index : index + 30] if at < start + 0.999) for index, start in enumerate(times))


@pytest.mark.parametrize("count", [1, 2, 3, 100, 1000, 10_000])
def test_the_budget_is_kept_in_every_second(count: int) -> None:
    town = Town(count)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(town, 60)

    a_minute()
    assert most_in_a_second(town) <= PER_SECOND
    per_order = [[at for at, about in town.asked if about == str(number)] for number in range(min(count, 300))]
    gaps = [later - earlier for times in per_order for earlier, later in pairwise(times)]
    assert all(gap >= 1 for gap in gaps)


def test_a_hundred_orders_cost_no_more_than_the_list() -> None:
    town = Town(100)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(town, 60)

    a_minute()
    assert {about for _, about in town.asked} == {"list"}
    assert len(town.asked) <= 60
    assert min(town.looked.values()) >= 10


def test_paid_orders_are_looked_at_first_among_ten_thousand() -> None:
    town = Town(10_000, paid=40)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(town, 60)

    a_minute()
    assert all(town.looked[number] >= 9 for number in range(40))


def test_every_order_gets_its_turn_though_none_is_on_the_list() -> None:
    town = Town(400)

    @in_virtual_time
    async def two_minutes() -> None:
        await watch(town, 120)

    two_minutes()
    assert all(town.looked[number] >= 2 for number in range(400))


def test_a_service_a_third_of_a_second_away_is_still_asked_often() -> None:
    town = Town(1000, takes=0.3)

    @in_virtual_time
    async def a_minute() -> None:
        await watch(town, 60)

    a_minute()
    assert len(town.asked) > 60 * PER_SECOND * 0.6
