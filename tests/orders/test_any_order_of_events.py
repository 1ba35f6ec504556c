"""Two processes, a person who taps anything at any time, and a service that answers as it likes: invariants only.

The sequences are random but the same in every run. Each seed is a life of one wish and its orders.
"""

import asyncio
import random
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from bot.checkout.draft import OrderDraft
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.placement.service import ConfirmationOutdated
from bot.settlement.model import KeyRefused, Refused, ServiceDown, SlowDown
from tests.examples import examples
from tests.orders.order_system import EMMA, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

ANSWERS: list[str | Exception] = ["answer", "lost_before", "lost_after", "never_reached", Refused("no"), KeyRefused()]
MONEY = [
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.EXPIRED,
    OrderNotification.INVOICE,
]


class Life:
    """Random steps of one wish's life; `posts` counts the decisions that allow a POST."""

    def __init__(self, seed: int, systems: list[OrderSystem], draft: OrderDraft) -> None:
        self.chance = random.Random(seed)
        self.systems = systems
        self.service: FakeSettlement = systems[0].service
        self.draft = draft
        self.posts = 0
        self.steps: list[Any] = [
            self.confirms,
            self.tries_again,
            self.drops,
            self.accepts,
            self.looks,
            self.poll,
            self.deliver,
            self.time_passes,
            self.service_changes,
            self.service_pays,
        ]

    @property
    def system(self) -> OrderSystem:
        return self.chance.choice(self.systems)

    async def step(self) -> None:
        """Some things at the same time."""
        at_once = self.chance.choices(self.steps, k=self.chance.randint(1, 3))
        await asyncio.gather(*(each(self.system) for each in at_once))

    async def confirms(self, system: OrderSystem) -> None:
        with suppress(ConfirmationOutdated, ServiceDown, SlowDown, KeyRefused):
            await system.confirm(self.draft)
            self.posts = max(self.posts, 1)

    async def latest(self, system: OrderSystem) -> Order | None:
        orders = await system.all_orders()
        return self.chance.choice(orders) if orders else None

    async def tries_again(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is not None and await system.orders.try_again(order.reference):
            self.posts += 1

    async def drops(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is not None and self.chance.random() < 0.3:
            await system.orders.drop(order.reference)

    async def accepts(self, system: OrderSystem) -> None:
        order = await self.latest(system)
        if order is not None:
            await system.orders.accept_price(order.reference)

    async def looks(self, system: OrderSystem) -> None:
        await system.reconciler.run_once()

    async def poll(self, system: OrderSystem) -> None:
        await system.poller.tick()
        await system.observer.close_offers()

    async def deliver(self, system: OrderSystem) -> None:
        await system.deliver()

    async def time_passes(self, system: OrderSystem) -> None:
        system.clock.passes(seconds=self.chance.choice([1, 5, 20, 61, 61, 900]))

    async def service_changes(self, _: OrderSystem) -> None:
        self.service.listed = self.chance.random() < 0.7
        self.service.places.append(self.chance.choice(ANSWERS))
        self.service.locked_rate = self.chance.choice([None, self.service.rate / Decimal(2)])
        if self.service.gate is not None:
            self.service.gate.set()
        self.service.gate = asyncio.Event() if self.chance.random() < 0.4 else None
        if self.chance.random() < 0.3:
            self.service.reads.append(self.chance.choice([ServiceDown(), SlowDown(3), KeyRefused()]))

    async def service_pays(self, system: OrderSystem) -> None:
        shown = set(system.sender.payment_requests())
        for service_id, record in self.service.records.items():
            if record.bolt11 in shown and record.state in {"ROUTE_SHOWN", "LN_INVOICE_PAID"}:
                self.service.becomes(service_id, self.chance.choice(["LN_INVOICE_PAID", "COMPLETED", "FAILED"]))


@pytest.mark.parametrize("seed", range(examples(40)))
async def test_no_order_of_events_shows_two_invoices_or_posts_unasked(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement, seed: int
) -> None:
    other_system.sender.sent = system.sender.sent
    life = Life(seed, [system, other_system], await system.draft())
    for _ in range(60):
        await life.step()
        assert service.times("place") <= life.posts
    if service.gate is not None:
        service.gate.set()
    for each in life.systems:
        await each.orders.submission.wait()
    await settles_down(life)
    assert len(set(system.sender.payment_requests())) <= 1
    kinds = system.sender.kinds()
    for notice in MONEY:
        told = [(each.subject, each.kind) for each in system.sender.sent if each.kind == notice]
        assert len(told) == len(set(told)), notice
    assert kinds.count(OrderNotification.SENT) + kinds.count(OrderNotification.FAILED) <= 1


async def settles_down(life: Life) -> None:
    """Days later nothing is left open, looked for or untold."""
    life.service.reads.clear()
    life.service.listed = True
    system = life.systems[0]
    for _ in range(20):
        system.clock.passes(hours=3)
        await system.reconciler.run_once()
        await system.observer.close_offers()
        await system.poller.tick()
        await system.deliver()
    left = {order.phase for order in await system.all_orders(EMMA)}
    paid = any(order.is_paid and not order.is_ended for order in await system.all_orders(EMMA))
    assert left <= {Phase.REFUSED, Phase.ABANDONED, Phase.DONE} | ({Phase.OPEN} if paid else set())
    async with system.store.reading() as tx:
        assert await OutboxRepository(tx).find_next_due() is None
