"""A fake database, service and tracker for `Poller` in virtual time. They record when each order is polled."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any, cast
from unittest import mock

from bot.infra.workers import Wakeup
from bot.orders.order import Order, Phase
from bot.orders.tracking.poller import Poller
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.settlement.access import SettlementAccess
from bot.settlement.budget import Budget
from bot.settlement.model import NewestOrders, OrderReport, OrderStep
from tests.infra.builders import an_infra
from tests.orders.builders import an_order
from tests.settlement.builders import a_report
from tests.virtual_time import now

INTERVAL = timedelta(seconds=5)
ZERO = datetime(2026, 11, 21, tzinfo=UTC)


class LoopClock:
    def now(self) -> datetime:
        return ZERO + timedelta(seconds=now())


class FakeOrders:
    """`count` orders that never change. The oldest `paid` are paid. It acts as database, service and tracker."""

    def __init__(self, count: int, paid: int = 0, takes: float = 0.2) -> None:
        self.paid = paid
        self.takes = takes
        self.asked: list[tuple[float, str]] = []
        self.polled: dict[int, list[float]] = {number: [] for number in range(count)}
        self.viewed = ViewedOrders(LoopClock())
        self._orders = [self._order(number) for number in range(count)]
        # All have the same interval, so the order that was polled last is due last.
        self._due_at: dict[bool, OrderedDict[int, datetime]] = {True: OrderedDict(), False: OrderedDict()}
        for number, order in enumerate(self._orders):
            self._due_at[order.is_paid][number] = ZERO
        newest = reversed(self._orders[-100:])
        self._newest = NewestOrders(
            tuple(a_report(service_id=str(each.service_id), state="IDLE") for each in newest), ZERO
        )

    def poller(self, budget: Budget) -> Poller:
        mine = cast("Any", self)
        access = SettlementAccess(settlement=mine, catalogue=mine, budget=budget, health=mine, health_changed=Wakeup())
        return Poller(an_infra(mine, LoopClock()), access, mine, self.viewed, INTERVAL)

    async def watch(
        self, seconds: float, budget: Budget, meanwhile: Callable[["FakeOrders"], None] = lambda _: None
    ) -> None:
        """Poll for `seconds`. Call `meanwhile` before each tick."""
        poller, end = self.poller(budget), now() + seconds
        with mock.patch("bot.orders.tracking.poller.OrderRepository", return_value=self):
            while now() < end:
                meanwhile(self)
                await asyncio.sleep(await poller.tick())

    def _order(self, number: int) -> Order:
        step = OrderStep.PAID if number < self.paid else OrderStep.CREATED
        return an_order(f"R{number}", service_id=str(number), phase=Phase.OPEN, state="IDLE", step=step)

    # The database and its repository, as far as the poller uses them.
    def reading(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def due(self, at: datetime, *, is_paid: bool, limit: int) -> tuple[Order, ...]:
        return tuple(self._orders[number] for number in islice(self._due(at, is_paid=is_paid), limit))

    async def count_due(self, at: datetime, *, is_paid: bool) -> int:
        return sum(1 for _ in self._due(at, is_paid=is_paid))

    async def due_if_viewed(self, references: Any, _users: Any, _at: datetime, before: datetime, limit: int) -> Any:
        viewed = [self._orders[int(reference[1:])] for reference in references]
        due = [order for order in viewed if self._polled_at(order) <= before]
        return tuple(due[:limit])

    async def expiring(self, _at: datetime, _limit: int) -> tuple[Order, ...]:
        return ()

    async def polled_by_service_id(self, ids: Any) -> dict[str, Order]:
        return {each: self._orders[int(each)] for each in ids}

    def _due(self, at: datetime, *, is_paid: bool) -> Any:
        items = self._due_at[is_paid].items()
        return (number for number, when in takewhile(lambda item: item[1] <= at, items))

    def _polled_at(self, order: Order) -> datetime:
        return self._due_at[order.is_paid][int(order.reference[1:])] - INTERVAL

    # The service.
    async def newest(self, _limit: int) -> NewestOrders:
        self.asked.append((now(), "list"))
        for report in self._newest.reports:
            self.polled[int(report.service_id)].append(now())
        await asyncio.sleep(self.takes)
        return self._newest

    async def look_up(self, service_id: str) -> OrderReport:
        self.asked.append((now(), service_id))
        self.polled[int(service_id)].append(now())
        await asyncio.sleep(self.takes)
        return a_report(service_id=service_id, state="IDLE")

    # The tracker.
    async def apply_reports(self, reports: Mapping[str, OrderReport], *, asked_at: datetime) -> Sequence[Exception]:
        for reference, report in reports.items():
            await self.apply_report(reference, report, asked_at=asked_at)
        return ()

    async def apply_report(self, reference: str, _: OrderReport, *, asked_at: datetime) -> None:  # noqa: ARG002
        number = int(reference[1:])
        due_at = self._due_at[self._orders[number].is_paid]
        due_at[number] = LoopClock().now() + INTERVAL
        due_at.move_to_end(number)
