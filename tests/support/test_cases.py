"""A case is one person's: the order, what was seen, told and done of it, and what else they have under way."""

from dataclasses import replace
from datetime import timedelta

from bot.infra.outbox.model import NotificationStatus
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.notifications.queueing import order_notifications
from bot.orders.order import EventNote, Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderReport
from bot.support.cases import Anomaly, Cases, DeliveryState, delivery_state
from bot.support.notifications.kinds import AboutTicket, TicketNotification
from bot.support.notifications.queueing import notify_user
from bot.support.ticket import CloseReason, Ticket
from bot.support.tickets.repository import TicketRepository
from bot.users.model import pressed
from bot.users.repository import record_user_event
from tests.deleting import delete_user
from tests.orders.order_world import EMMA, SARI, House

ANOTHER = "lnbcrt1another"


async def says(house: House, order: Order, state: str, **more: object) -> Order:
    report = OrderReport(service_id=order.service_id or "", state=state, **more)  # type: ignore[arg-type]
    seen = await house.observes(order.reference, report)
    assert seen is not None
    return seen


async def test_a_case_holds_what_was_told_to_the_user_what_they_did_and_nothing_of_others(house: House) -> None:
    mine, other = await house.place(), await house.place()
    theirs = await house.place(SARI)
    now = house.clock.now()
    async with house.store.transaction() as tx:
        await record_user_event(tx, EMMA, pressed("look"), now, mine.reference)
        await record_user_event(tx, EMMA, pressed("look"), now, other.reference)
        await record_user_event(tx, SARI, pressed("look"), now, theirs.reference)
        about, old, alone = (
            Ticket.open(EMMA, now, order_reference=mine.reference),
            Ticket.open(EMMA, now),
            Ticket.open(SARI, now),
        )
        for ticket in (about, old, alone):
            assert await TicketRepository(tx).add(ticket)
        await TicketRepository(tx).save(old.close(3001, CloseReason.SOLVED, now))
        await notify_user(tx, about, TicketNotification.OPENED, AboutTicket(about.reference), now)
    await house.tells()
    case = await Cases(house.store).of_ticket(about)
    assert case.order is not None
    assert case.order.reference == mine.reference
    assert [notification.kind for notification in case.notifications] == [
        OrderNotification.INVOICE,
        OrderNotification.CARD,
        TicketNotification.OPENED,
    ]
    assert {delivery_state(notification) for notification in case.notifications} == {DeliveryState.SENT}
    assert [(act.reference, act.event) for act in case.user_events] == [(mine.reference, "pressed.look")]
    assert [each.reference for each in case.others] == [other.reference]
    assert [ticket.reference for ticket in case.tickets] == [about.reference]
    assert case.anomalies == ()


async def test_the_services_own_times_stand_beside_ours(house: House) -> None:
    order = await house.place()
    clock = house.clock.now() - timedelta(hours=3)
    made, paid, moved, done = (clock + timedelta(seconds=number) for number in range(4))
    await says(house, order, "IDLE", created_at=made, updated_at=made)
    await says(house, order, "LN_INVOICE_PAID", paid_at=paid, updated_at=moved)
    await says(house, order, "LN_SWAP_PENDING", paid_at=paid, updated_at=moved)
    await says(house, order, "COMPLETED", paid_at=paid, updated_at=moved, completed_at=done)
    case = await Cases(house.store).of_order(order)
    seen = [(event.state, event.note, event.service_at) for event in case.events if event.service_at]
    assert seen == [
        ("IDLE", "", made),
        ("LN_INVOICE_PAID", "", paid),
        ("LN_SWAP_PENDING", "", moved),
        ("COMPLETED", "", done),
    ]


async def test_a_payment_that_was_passed_unseen_has_its_time_all_the_same(house: House) -> None:
    order = await house.place()
    paid, moved = house.clock.now() - timedelta(seconds=9), house.clock.now()
    await says(house, order, "LN_SWAP_PENDING", paid_at=paid, updated_at=moved)
    case = await Cases(house.store).of_order(order)
    assert [(event.note, event.service_at) for event in case.events[-2:]] == [(EventNote.PAYMENT, paid), ("", moved)]


async def test_another_invoice_is_noted_once_and_never_shown(house: House) -> None:
    order = await house.place()
    await house.tells()
    shown = house.ears.shown(EMMA)
    for _ in range(3):
        after = await says(house, order, "IDLE", bolt11=ANOTHER)
    await says(house, order, "ROUTE_SHOWN", bolt11=(order.bolt11 or "").upper())
    await house.tells()
    assert after.bolt11 == order.bolt11
    assert house.ears.shown(EMMA) == shown
    case = await Cases(house.store).of_order(order)
    assert [event.note for event in case.events].count(EventNote.INVOICE_REPLACED) == 1
    assert Anomaly.REPLACED in case.anomalies


async def test_another_address_for_tokens_is_noted_just_so(house: House) -> None:
    order = await house.place(channel="cbbtc")
    assert order.deposit is not None
    same = replace(order.deposit, to_address=order.deposit.to_address.upper().replace("0X", "0x"))
    await says(house, order, "IDLE", deposit=same)
    assert Anomaly.REPLACED not in (await Cases(house.store).of_order(order)).anomalies
    await says(house, order, "IDLE", deposit=replace(same, to_address="0x" + "12" * 20))
    assert Anomaly.REPLACED in (await Cases(house.store).of_order(order)).anomalies


async def test_what_did_not_reach_the_user_is_unusual(house: House) -> None:
    order = await house.place()
    await house.tells()
    paid = await says(house, order, "LN_INVOICE_PAID")
    async with house.store.transaction() as tx:
        for notification in await OutboxRepository(tx).to_tell_in(EMMA):
            await OutboxRepository(tx).give_up(notification.id, "Forbidden: bot was blocked by the user")
    case = await Cases(house.store).of_order(paid)
    assert [
        delivery_state(notification)
        for notification in case.notifications
        if notification.status is NotificationStatus.UNDELIVERABLE
    ] == [DeliveryState.BLOCKED] * 3
    assert case.anomalies == (Anomaly.UNTOLD,)


async def test_a_forgotten_users_order_is_a_case_of_nobody(house: House) -> None:
    order = await house.place()
    async with house.store.transaction() as tx:
        ended = await OrderRepository(tx).save(
            replace(await _current(house, order), phase=Phase.DONE, state="COMPLETED")
        )
        assert ended is not None
        await OutboxRepository(tx).add(order_notifications(ended, (OrderNotification.SENT,), house.clock.now()))
    await house.tells()
    async with house.store.transaction() as tx:
        await delete_user(tx, EMMA)
    case = await Cases(house.store).of_order(await _current(house, order))
    assert (case.user_id, case.user, case.notifications, case.user_events, case.others) == (0, None, (), (), ())
    assert Anomaly.FORGOTTEN in case.anomalies


async def _current(house: House, order: Order) -> Order:
    async with house.store.reading() as tx:
        found = await OrderRepository(tx).get(order.reference)
    assert found is not None
    return found
