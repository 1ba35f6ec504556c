"""Two processes, a user who presses any button at any time, and an unreliable service. The tests check invariants only.

The sequences are random but the same in every run. Each seed is one draft and its orders.
"""

import asyncio
import random
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from bot.checkout.draft import OrderDraft
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.placement.service import ConfirmationOutdated
from bot.settlement.errors import KeyRefused, NoAnswer, Refused, SlowDown
from tests.examples import examples
from tests.orders.order_system import EMMA, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

ANSWERS: list[str | Exception] = [
    "answer",
    "lost_before",
    "lost_after",
    "never_reached",
    Refused(),
    KeyRefused(),
]
MONEY = [
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.EXPIRED,
    OrderNotification.INVOICE,
]


class RandomSteps:
    """Take random steps with one draft. `posts` counts the user's decisions that allow a POST."""

    def __init__(self, seed: int, systems: list[OrderSystem], draft: OrderDraft) -> None:
        self.chance = random.Random(seed)
        self.systems = systems
        self.service: FakeSettlement = systems[0].service
        self.draft = draft
        self.posts = 0
        self.delivering = asyncio.Lock()
        """A chat belongs to one process at a time: only that one sends."""

        self.steps: list[Any] = [
            self.confirm,
            self.try_again,
            self.drop,
            self.accept,
            self.find_lost_orders,
            self.poll,
            self.deliver,
            self.pass_time,
            self.change_service,
            self.pay_order,
        ]

    @property
    def system(self) -> OrderSystem:
        return self.chance.choice(self.systems)

    async def step(self) -> None:
        """Take some steps at the same time."""
        at_once = self.chance.choices(self.steps, k=self.chance.randint(1, 3))
        await asyncio.gather(*(each(self.system) for each in at_once))

    async def confirm(self, system: OrderSystem) -> None:
        with suppress(ConfirmationOutdated, NoAnswer, SlowDown, KeyRefused):
            await system.confirm(self.draft)
            self.posts = max(self.posts, 1)

    async def latest(self, system: OrderSystem) -> Order | None:
        orders = await system.all_orders()
        return self.chance.choice(orders) if orders else None

    async def try_again(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is None:
            return
        with suppress(NoAnswer, SlowDown, KeyRefused):
            if await system.orders.try_again(order.reference):
                self.posts += 1

    async def drop(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is not None and self.chance.random() < 0.3:
            await system.orders.drop(order.reference)

    async def accept(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is not None:
            with suppress(NoAnswer, SlowDown, KeyRefused):
                await system.orders.accept(order.reference)

    async def find_lost_orders(self, system: OrderSystem) -> None:
        await system.lost_orders.run_once()

    async def poll(self, system: OrderSystem) -> None:
        await system.poller.tick()
        await system.tracker.check_deadlines()

    async def deliver(self, system: OrderSystem) -> None:
        async with self.delivering:
            await system.deliver()

    async def pass_time(self, system: OrderSystem) -> None:
        system.clock.passes(seconds=self.chance.choice([1, 5, 20, 61, 61, 900]))

    async def change_service(self, _: OrderSystem) -> None:
        self.service.listed = self.chance.random() < 0.7
        self.service.places.append(self.chance.choice(ANSWERS))
        self.service.locked_rate = self.chance.choice([None, self.service.rate / Decimal(2)])
        if self.service.gate is not None:
            self.service.gate.set()
        self.service.gate = asyncio.Event() if self.chance.random() < 0.4 else None
        if self.chance.random() < 0.3:
            self.service.reads.append(self.chance.choice([NoAnswer(), SlowDown(retry_after=3), KeyRefused()]))

    async def pay_order(self, system: OrderSystem) -> None:
        shown = set(system.sender.payment_requests())
        for service_id, record in self.service.records.items():
            if record.bolt11 in shown and record.state in {"ROUTE_SHOWN", "LN_INVOICE_PAID"}:
                self.service.becomes(service_id, self.chance.choice(["LN_INVOICE_PAID", "COMPLETED", "FAILED"]))


@pytest.mark.parametrize("seed", range(examples(24)))
async def test_no_order_of_events_shows_two_invoices_or_posts_unasked(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement, seed: int
) -> None:
    other_system.sender.sent = system.sender.sent
    steps = RandomSteps(seed, [system, other_system], await system.draft())
    for _ in range(60):
        await steps.step()
        assert service.times("place") <= steps.posts
    if service.gate is not None:
        service.gate.set()
    for each in steps.systems:
        await each.orders.submission.wait()
    await wait_until_settled(steps)
    assert len(set(system.sender.payment_requests())) <= 1
    kinds = system.sender.kinds()
    for notice in MONEY:
        told = [(each.subject, each.kind) for each in system.sender.sent if each.kind == notice]
        assert len(told) == len(set(told)), notice
    assert kinds.count(OrderNotification.SENT) + kinds.count(OrderNotification.FAILED) <= 1


async def wait_until_settled(steps: RandomSteps) -> None:
    """Let days pass. Then no order is open or searched for, and all notifications are sent."""
    steps.service.reads.clear()
    steps.service.listed = True
    system = steps.systems[0]
    for _ in range(20):
        system.clock.passes(hours=3)
        await system.lost_orders.run_once()
        await system.tracker.check_deadlines()
        await system.poller.tick()
        await system.deliver()
    left = {order.phase for order in await system.all_orders(EMMA)}
    paid = any(order.is_paid and not order.is_ended for order in await system.all_orders(EMMA))
    assert left <= {Phase.REFUSED, Phase.ABANDONED, Phase.DONE} | ({Phase.OPEN} if paid else set())
    async with system.store.reading() as tx:
        assert not await OutboxRepository(tx).find_heads(tuple(Queue))
