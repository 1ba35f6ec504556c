"""An unpaid order can be dropped: its QR code goes, and nothing that the service decides is promised."""

import asyncio

from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, OrderStatus
from bot.orders.repository import OrderRepository
from tests.orders.order_system import OrderSystem
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement

INVOICE, REMOVE = OrderNotification.INVOICE, OrderNotification.REMOVE_INVOICE


async def notes_of(system: OrderSystem, order: Order) -> list[str]:
    async with system.store.reading() as tx:
        return [event.note for event in await OrderRepository(tx).events(order.reference)]


async def shown_order(system: OrderSystem) -> Order:
    order = await system.place()
    await system.orders.submission.wait()
    await system.deliver()
    return await system.order(order.reference)


async def test_it_is_dropped_once_however_often_it_is_tapped(system: OrderSystem) -> None:
    order = await shown_order(system)
    dropped = await asyncio.gather(*(system.orders.drop_unpaid(order.reference) for _ in range(3)))
    again = await system.orders.drop_unpaid(order.reference)  # as an update that is handled again after a crash
    assert again is not None
    assert again.status(system.clock.now()) is OrderStatus.EXPIRED
    assert [each for each in dropped if each is not None]
    await system.deliver()
    assert system.sender.kinds() == [INVOICE, REMOVE]
    assert (await notes_of(system, order)).count(EventNote.DROPPED) == 1


async def test_its_removal_comes_after_an_invoice_that_is_being_sent(system: OrderSystem) -> None:
    order = await system.place()
    await system.orders.submission.wait()
    await system.orders.drop_unpaid(order.reference)
    async with system.store.reading() as tx:
        rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    assert [(row.kind, row.queue) for row in rows] == [(INVOICE, Queue.URGENT), (REMOVE, Queue.URGENT)]


async def test_it_is_followed_and_its_payment_is_told_and_its_end_is_not_told_twice(system: OrderSystem) -> None:
    order = await shown_order(system)
    await system.orders.drop_unpaid(order.reference)
    await system.apply_report(order.reference, a_report(order.service_id or "", "LN_INVOICE_PAID"))
    await system.deliver()
    assert system.sender.kinds()[:3] == [INVOICE, REMOVE, OrderNotification.PAID_LATE]
    other = await shown_order(system)
    await system.orders.drop_unpaid(other.reference)
    system.clock.passes(hours=2)
    await system.apply_report(other.reference, a_report(other.service_id or "", "FAILED"))
    await system.deliver()
    assert OrderNotification.EXPIRED not in system.sender.kinds()


async def test_an_order_that_is_paid_meanwhile_is_not_dropped(system: OrderSystem) -> None:
    order = await shown_order(system)
    await system.apply_report(order.reference, a_report(order.service_id or "", "LN_INVOICE_PAID"))
    assert await system.orders.drop_unpaid(order.reference) is None
    paid = await system.order(order.reference)
    assert (paid.is_paid, paid.expiry_notified) == (True, False)


async def test_nothing_is_dropped_of_an_order_that_can_not_be_paid_in_the_chat(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    lost = await system.place()
    await system.orders.submission.wait()
    assert await system.orders.drop_unpaid(lost.reference) is None
    assert await system.orders.drop_unpaid("ZZZZZZZ") is None
