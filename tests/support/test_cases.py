"""A case shows one user: their order, its events and notifications, and their other orders and tickets."""

from dataclasses import replace
from datetime import timedelta

from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, Phase
from bot.orders.repository import OrderRepository
from bot.support.cases import Anomaly, Case, DeliveryState, get_delivery_state, read_case
from bot.support.model import CloseReason, Ticket
from bot.support.notifications import TicketNotification, notify_user
from bot.support.repository import TicketRepository
from bot.users.model import press_event
from bot.users.repository import record_user_event
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.settlement.builders import a_report
from tests.users.stored_data import delete_user

ANOTHER = "lnbcrt1another"


async def says(system: OrderSystem, order: Order, state: str, **more: object) -> Order:
    report = a_report(service_id=order.service_id or "", state=state, **more)
    seen = await system.apply_report(order.reference, report)
    assert seen is not None
    return seen


async def read(system: OrderSystem, user_id: int, reference: str) -> Case:
    async with system.store.reading() as tx:
        return await read_case(tx, user_id, reference)


async def test_a_case_holds_what_was_told_to_the_user_what_they_did_and_nothing_of_others(system: OrderSystem) -> None:
    mine, other = await system.place(), await system.place()
    theirs = await system.place(SARI)
    now = system.clock.now()
    async with system.store.transaction() as tx:
        await record_user_event(tx, EMMA, press_event("check"), now, mine.reference)
        await record_user_event(tx, EMMA, press_event("check"), now, other.reference)
        await record_user_event(tx, SARI, press_event("check"), now, theirs.reference)
        about, old, alone = (
            Ticket.open(EMMA, now, order_reference=mine.reference),
            Ticket.open(EMMA, now),
            Ticket.open(SARI, now),
        )
        for ticket in (about, old, alone):
            assert await TicketRepository(tx).add(ticket)
        await TicketRepository(tx).save(old.close(3001, CloseReason.SOLVED, now))
        await notify_user(tx, about, TicketNotification.CLOSED, 0, now)
    await system.deliver()
    case = await read(system, about.user_id, about.order_reference)
    assert case.order is not None
    assert case.order.reference == mine.reference
    assert [notification.kind for notification in case.notifications] == [
        OrderNotification.INVOICE,
        TicketNotification.CLOSED,
    ]
    assert {get_delivery_state(notification) for notification in case.notifications} == {DeliveryState.SENT}
    assert [(act.reference, act.event) for act in case.user_events] == [(mine.reference, "pressed.check")]
    assert [each.reference for each in case.others] == [other.reference]
    assert [ticket.reference for ticket in case.tickets] == [about.reference]
    assert case.anomalies == ()


async def test_the_services_own_times_stand_beside_ours(system: OrderSystem) -> None:
    order = await system.place()
    clock = system.clock.now() - timedelta(hours=3)
    made, paid, moved, done = (clock + timedelta(seconds=number) for number in range(4))
    await says(system, order, "IDLE", created_at=made, updated_at=made)
    await says(system, order, "LN_INVOICE_PAID", paid_at=paid, updated_at=moved)
    await says(system, order, "LN_SWAP_PENDING", paid_at=paid, updated_at=moved)
    await says(system, order, "COMPLETED", paid_at=paid, updated_at=moved, completed_at=done)
    case = await read(system, order.user_id, order.reference)
    seen = [(event.state, event.note, event.service_at) for event in case.events if event.service_at]
    assert seen == [
        ("IDLE", "", made),
        ("LN_INVOICE_PAID", "", paid),
        ("LN_SWAP_PENDING", "", moved),
        ("COMPLETED", "", done),
    ]


async def test_only_a_price_that_moved_is_unusual_not_the_question_whose_order_it_is(system: OrderSystem) -> None:
    order = replace(await system.place(), phase=Phase.NEEDS_CONFIRMATION)
    as_reviewed = replace(order, sats=order.expected_sats, idr=order.expected_idr)
    moved = replace(as_reviewed, sats=order.expected_sats + 1)
    found = {each: Case(user_id=EMMA, user=None, order=each).anomalies for each in (as_reviewed, moved)}
    assert [Anomaly.PRICE_MOVED in anomalies for anomalies in found.values()] == [False, True]


async def test_a_payment_that_was_passed_unseen_has_its_time_all_the_same(system: OrderSystem) -> None:
    order = await system.place()
    paid, moved = system.clock.now() - timedelta(seconds=9), system.clock.now()
    await says(system, order, "LN_SWAP_PENDING", paid_at=paid, updated_at=moved)
    case = await read(system, order.user_id, order.reference)
    assert [(event.note, event.service_at) for event in case.events[-2:]] == [(EventNote.PAYMENT, paid), ("", moved)]


async def test_another_invoice_is_noted_once_and_never_shown(system: OrderSystem) -> None:
    order = await system.place()
    await system.deliver()
    shown = system.sender.payment_requests(EMMA)
    for _ in range(3):
        after = await says(system, order, "IDLE", bolt11=ANOTHER)
    await says(system, order, "ROUTE_SHOWN", bolt11=(order.bolt11 or "").upper())
    await system.deliver()
    assert after.bolt11 == order.bolt11
    assert system.sender.payment_requests(EMMA) == shown
    case = await read(system, order.user_id, order.reference)
    assert [event.note for event in case.events].count(EventNote.INVOICE_REPLACED) == 1
    assert Anomaly.REPLACED in case.anomalies


async def test_another_invoice_of_an_order_that_has_ended_is_noted_too(system: OrderSystem) -> None:
    order = await system.place()
    await says(system, order, "FAILED")
    for _ in range(2):
        await says(system, order, "FAILED", bolt11=ANOTHER)
    case = await read(system, order.user_id, order.reference)
    assert [event.note for event in case.events].count(EventNote.INVOICE_REPLACED) == 1


async def test_another_address_for_tokens_is_noted_just_so(system: OrderSystem) -> None:
    order = await system.place(channel="cbbtc")
    assert order.deposit is not None
    same = replace(order.deposit, to_address=order.deposit.to_address.upper().replace("0X", "0x"))
    await says(system, order, "IDLE", deposit=same)
    assert Anomaly.REPLACED not in (await read(system, order.user_id, order.reference)).anomalies
    await says(system, order, "IDLE", deposit=replace(same, to_address="0x" + "12" * 20))
    assert Anomaly.REPLACED in (await read(system, order.user_id, order.reference)).anomalies


async def test_what_did_not_reach_the_user_is_unusual(system: OrderSystem) -> None:
    order = await system.place()
    await system.deliver()
    paid = await says(system, order, "LN_INVOICE_PAID")
    async with system.store.transaction() as tx:
        for notification in await OutboxRepository(tx).find_unsent(EMMA):
            await OutboxRepository(tx).give_up(notification.id, "Forbidden: bot was blocked by the user")
    case = await read(system, paid.user_id, paid.reference)
    assert [
        get_delivery_state(notification)
        for notification in case.notifications
        if notification.status is NotificationStatus.UNDELIVERABLE
    ] == [DeliveryState.BLOCKED] * 2
    assert case.anomalies == (Anomaly.NOT_SENT,)


async def test_a_forgotten_users_order_is_a_case_of_nobody(system: OrderSystem) -> None:
    order = await system.place()
    async with system.store.transaction() as tx:
        ended = await OrderRepository(tx).save(
            replace(await _current(system, order), phase=Phase.DONE, state="COMPLETED")
        )
        assert ended is not None
        await OutboxRepository(tx).add(order_notifications(ended, (OrderNotification.SENT,), system.clock.now()))
    await system.deliver()
    async with system.store.transaction() as tx:
        await delete_user(tx, EMMA)
    case = await read(system, (await _current(system, order)).user_id, order.reference)
    assert (case.user_id, case.user, case.notifications, case.user_events, case.others) == (0, None, (), (), ())
    assert Anomaly.DELETED in case.anomalies


async def _current(system: OrderSystem, order: Order) -> Order:
    async with system.store.reading() as tx:
        found = await OrderRepository(tx).get(order.reference)
    assert found is not None
    return found
