"""Six hours of orders without a difference: the reconciliation names none, and shows the whole time.

Rows follow the service as the poller has them follow it, by the same rules and later than the service, but many in one
transaction. With the real poller it takes minutes.
"""

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from bot.core.money import Amount
from bot.infra.db.transaction import Transaction
from bot.operations.reconciliation.service import ReconciliationWorker
from bot.orders.order import Order, Phase, advance, make_payable, new_intent, payer_in_chat
from bot.orders.poll_intervals import next_poll_at
from bot.orders.repository import OrderRepository
from bot.orders.tracking.tracker import expire_or_close
from bot.rates.model import estimate
from bot.settlement.model import CreatedOrder
from tests.operations.reconciled import alarms, make_orders_of_others, reconciliation_of
from tests.orders.order_system import REQUEST, RULES, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

ORDERS = 500
BATCH = 5
SECONDS = 6 * 3_600 / ORDERS
LIFE = ("LN_INVOICE_PAID", "USDT_RECEIVED", "COMPLETED")


class Day:
    """Orders that are placed, paid, sent and polled, until the day is over."""

    def __init__(self, system: OrderSystem) -> None:
        self.system = system
        self.chance = random.Random(30)
        self.moving: dict[str, list[str]] = {}
        self.orders: dict[str, Order] = {}
        self.left_out = set[str]()

    async def go_on(self, numbers: Iterable[int]) -> None:
        """Place orders with these numbers, let the service work on older ones, and read some of what has changed."""
        async with self.system.store.transaction() as tx:
            for number in numbers:
                self.system.clock.passes(seconds=SECONDS)
                self._move()
                if number % 10 == 0:
                    make_orders_of_others(self.system, 1, every=0)
                else:
                    await self._place(tx, number)
            for service_id in list(self.orders):
                # No order waits for longer than the poller's longest interval.
                if service_id in self.left_out or self.chance.random() < 0.6:
                    await self._poll(tx, service_id)
                    self.left_out.discard(service_id)
                else:
                    self.left_out.add(service_id)

    def _move(self) -> None:
        for service_id, states in list(self.moving.items()):
            if self.chance.random() < 0.1:
                self.system.service.becomes(service_id, states.pop(0))
            if not states:
                del self.moving[service_id]

    async def _place(self, tx: Transaction, number: int) -> None:
        request = replace(REQUEST, number=f"{1_000_000_000 + number}")
        if number % 9 == 0:
            request = replace(request, channel="cbbtc", amount=Amount("SAT", 25_000 + number))
        created = self.system.service.make(request)
        intent = new_intent(
            request,
            estimate(request.amount, await self.system.service.quote()),
            payer=payer_in_chat(number),
            draft_id=str(number),
            now=self.system.clock.now(),
        )
        order = replace(_as_created(intent, created), expires_at=self.system.clock.now() + timedelta(hours=1))
        if number % 50 == 1:
            order = replace(order, service_id=None, phase=Phase.UNKNOWN)  # its answer was lost
        elif number % 50 == 2:
            order = replace(order, phase=Phase.ABANDONED)  # its price had changed
        else:
            self.orders[created.service_id] = order = self._with_next_poll(order)
            if self.chance.random() < 0.8:
                self.moving[created.service_id] = [*LIFE[:-1], "FAILED"] if self.chance.random() < 0.1 else [*LIFE]
        await OrderRepository(tx).add(order)

    async def _poll(self, tx: Transaction, service_id: str) -> None:
        now, before = self.system.clock.now(), self.orders[service_id]
        report = self.system.service.records[service_id]
        if report.state != before.state or before.is_expired(now):
            order, _ = advance(before, report, now)
            order, _ = expire_or_close(self._with_next_poll(order), now)
            saved = await OrderRepository(tx).save(order)
            assert saved is not None
            self.orders[service_id] = saved
            if saved.is_ended or saved.expiry_notified:
                del self.orders[service_id]

    def _with_next_poll(self, order: Order) -> Order:
        return replace(order, next_poll_at=next_poll_at(order, self.system.clock.now(), RULES.poll_interval))


def _as_created(intent: Order, created: CreatedOrder) -> Order:
    order = replace(intent, service_id=created.service_id, sats=created.sats, idr=created.idr, bolt11=created.bolt11)
    return make_payable(replace(order, deposit=created.deposit), intent.created_at)


async def test_six_hours_of_500_orders_have_no_difference(system: OrderSystem, service: FakeSettlement) -> None:
    make_orders_of_others(system, 100, every=SECONDS)
    worker, began, day = ReconciliationWorker(reconciliation_of(system), system.clock), system.clock.now(), Day(system)
    due, runs, pending, uncertain = began, 0, 0, 0
    for first in range(0, ORDERS, BATCH):
        await day.go_on(range(first, first + BATCH))
        if system.clock.now() < due:
            continue
        asked = service.times("newest")
        due = system.clock.now() + timedelta(seconds=await worker.tick())
        if service.times("newest") > asked:
            run = (await reconciliation_of(system).load_report()).run
            assert run is not None
            assert run.differences == (), first
            runs, pending, uncertain = runs + 1, pending + len(run.pending), uncertain + run.uncertain
    report = await reconciliation_of(system).load_report()
    assert runs > 20
    assert min(pending, uncertain) > 20, "there were states to be read, and orders to be found"
    assert (report.unseen, await alarms(system)) == ((), set())
    assert report.known_since is not None
    assert report.known_since <= began
    assert report.run is not None
    assert (report.run.listed, report.run.unchecked) == (100, 0)
