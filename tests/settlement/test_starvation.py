"""With a small budget and many unchanged paid orders, a user who pays another order is still notified in time."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.budget import Budget
from bot.settlement.model import OrderStep
from tests.orders.builders import an_order
from tests.orders.order_system import OrderSystem
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement

PER_SECOND = 10.0
FIVE_PEOPLE = tuple(range(3001, 3006))


def with_budget(system: OrderSystem, per_second: float = PER_SECOND) -> None:
    """Limit the requests, by the test's clock."""

    async def sleep(seconds: float) -> None:
        system.clock.passes(seconds=seconds)

    system.poller._budget = Budget(per_second, clock=lambda: system.clock.now().timestamp(), sleep=sleep)


async def polls_for(system: OrderSystem, seconds: float) -> None:
    until = system.clock.now().timestamp() + seconds
    while system.clock.now().timestamp() < until:
        system.clock.passes(seconds=await system.poller.tick())


async def placed(system: OrderSystem, people: Iterable[int], *, paid: bool = False) -> list[Order]:
    """Insert orders that were placed some time ago."""
    made, now = [], system.clock.now()
    async with system.store.transaction() as tx:
        for user in people:
            service_id, state = f"svc-{len(system.service.records) + 1}", "LN_INVOICE_PAID" if paid else "ROUTE_SHOWN"
            system.service.records[service_id] = a_report(service_id=service_id, state=state)
            order = an_order(
                f"R{user}",
                user_id=user,
                chat_id=user,
                phase=Phase.OPEN,
                service_id=service_id,
                state=state,
                step=OrderStep.PAID if paid else OrderStep.CREATED,
                paid_at=now if paid else None,
                created_at=now,
                expires_at=now + timedelta(hours=1),
                next_poll_at=now,
            )
            assert await OrderRepository(tx).add(order)
            made.append(order)
    return made


async def test_five_who_pay_older_invoices_are_told_though_120_paid_orders_do_not_move(
    system: OrderSystem, service: FakeSettlement
) -> None:
    older = await placed(system, FIVE_PEOPLE)
    await placed(system, range(4001, 4121), paid=True)
    await placed(system, range(5001, 5101))
    with_budget(system)
    await polls_for(system, 10)
    for order in older:
        service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await polls_for(system, 15)
    await system.deliver()
    assert [user for user in FIVE_PEOPLE if OrderNotification.PAID in system.sender.kinds(user)] == [*FIVE_PEOPLE]


async def test_an_order_that_has_just_expired_is_polled_before_all_others(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await placed(system, range(4001, 4061))
    (order,) = await placed(system, (3001,))
    async with system.store.transaction() as tx:
        now = system.clock.now()
        assert await OrderRepository(tx).save(replace(order, expires_at=now, next_poll_at=now + timedelta(seconds=1)))
    service.listed = False
    with_budget(system, per_second=2)
    system.clock.passes(seconds=1)
    await system.poller.tick()
    assert [about for call, about in service.calls if call == "look_up"][0] == order.service_id  # noqa: RUF015
    assert (await system.order(order.reference)).expiry_notified
