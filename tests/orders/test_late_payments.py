"""A payment that arrives after the service has failed its unpaid order is saved and told, whoever sees it first."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, OrderStatus, Phase
from bot.orders.status_handlers import StatusMessages
from bot.settlement.errors import NoAnswer
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.support.repository import TicketRepository
from tests.operations.reconciled import alarms, found, reconcile
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem, rules
from tests.settlement.fake_settlement import FakeSettlement, failing

RINA = 3001
READ_AT = (5, 15, 60, 24 * 60)
"""Minutes after its failure at which an order is read by its id."""


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> Any:
    system = OrderSystem(file, service, rules=rules(support_ids=frozenset({RINA})))
    yield system
    await system.close()


async def failed_at_expiry(system: OrderSystem, chat_id: int = EMMA) -> Order:
    """Place an order that the service fails at the end of its invoice, and forget what was sent."""
    order = await system.place(chat_id)
    system.clock.passes(hours=1)
    system.service.becomes(order.service_id or "", "FAILED")
    await system.poll(after=1)
    ended = await system.order(order.reference)
    assert (ended.phase, ended.status(system.clock.now())) == (Phase.DONE, OrderStatus.EXPIRED)
    system.sender.sent.clear()
    return ended


def pay_late(system: OrderSystem, order: Order, **changes: Any) -> None:
    records, service_id = system.service.records, order.service_id or ""
    records[service_id] = replace(records[service_id], paid_at=system.service.now(), **changes)


async def sees_by_list(system: OrderSystem, _: Order) -> None:
    """Let the poller read a list for the sake of other orders."""
    for user in (SARI, 1003, 1004):
        await system.place(user)
    reads = system.service.times("look_up")
    await system.poll()
    assert system.service.times("look_up") == reads


async def sees_by_id(system: OrderSystem, _: Order) -> None:
    await system.poll(after=5 * 60)


async def sees_by_reconciliation(system: OrderSystem, _: Order) -> None:
    run = await reconcile(system, after=60)
    assert found(run) == set()
    assert await alarms(system) == set()


async def sees_by_asking(system: OrderSystem, order: Order) -> None:
    """Let the payer press "I've paid" or ask for the order."""
    messages = StatusMessages(
        system.infra, system.settlement, system.tracker, SupportContacts(StaffChat(0, frozenset()))
    )
    system.clock.passes(seconds=2)
    session: Any = SimpleNamespace(now=system.clock.now(), notice=None, t=str)
    refreshed = await messages.refresh_order(session, order)
    assert refreshed.is_paid
    await system.deliver()


WAYS = (sees_by_list, sees_by_id, sees_by_reconciliation, sees_by_asking)


@pytest.mark.parametrize("see", WAYS)
async def test_who_sees_a_late_payment_saves_tells_and_alarms_once(
    system: OrderSystem, see: Callable[[OrderSystem, Order], Awaitable[None]]
) -> None:
    order = await failed_at_expiry(system)
    pay_late(system, order)
    await see(system, order)
    paid = await system.order(order.reference)
    assert (paid.is_paid, paid.status(system.clock.now()), paid.next_poll_at) == (True, OrderStatus.FAILED_PAID, None)
    assert OrderNotification.FAILED in system.sender.kinds(EMMA)
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    async with system.sql.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(order.reference)
    assert ticket.is_open
    assert (AlarmKind.ORDER_FAILED, order.reference) in {
        (each.kind, each.subject) for each in await system.alarms.find_open()
    }
    told = system.sender.kinds(EMMA).count(OrderNotification.FAILED)
    for again in WAYS[1:3]:
        await again(system, order)
    assert (told, system.sender.kinds(EMMA).count(OrderNotification.FAILED)) == (1, 1)


async def test_an_order_that_failed_unpaid_is_read_four_more_times(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await failed_at_expiry(system)
    first, minute = service.times("look_up"), 0
    for reads, due in enumerate(READ_AT):
        await system.poll(after=(due - 1 - minute) * 60)
        assert service.times("look_up") == first + reads, "not a minute too early"
        await system.poll(after=60)
        assert service.times("look_up") == first + reads + 1
        minute = due
    await system.poll(after=2 * 24 * 3600)
    assert service.times("look_up") == first + len(READ_AT)
    assert (await system.order(order.reference)).next_poll_at is None
    assert system.sender.kinds(EMMA) == []


async def test_a_read_that_fails_is_repeated_so_that_the_last_one_is_not_lost(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await failed_at_expiry(system)
    for minutes in (5, 10, 45):
        await system.poll(after=minutes * 60)
    service.reads.extend(failing(NoAnswer, 1))
    await system.poll(after=23 * 3600)
    pay_late(system, order)
    await system.poll(after=10 * 60)
    assert (await system.order(order.reference)).is_paid


async def test_a_payment_of_an_order_that_is_no_longer_polled_is_followed_to_its_end(
    system: OrderSystem, service: FakeSettlement
) -> None:
    # The live service never fails an unpaid order, and lets a late payment continue.
    order = await system.place()
    await system.poll(after=3600)
    await system.poll(after=25 * 3600)
    assert (await system.order(order.reference)).is_given_up
    system.sender.sent.clear()
    pay_late(system, order, state="LN_INVOICE_PAID")
    await sees_by_reconciliation(system, order)
    followed = await system.order(order.reference)
    assert (followed.phase, followed.status(system.clock.now())) == (Phase.OPEN, OrderStatus.PAID)
    service.becomes(order.service_id or "", "COMPLETED")
    await system.poll()
    kinds = system.sender.kinds(EMMA)
    assert [kind for kind in kinds if kind in {OrderNotification.PAID_LATE, OrderNotification.SENT}] == [
        OrderNotification.PAID_LATE,
        OrderNotification.SENT,
    ]
