"""The queues of notifications: only money waits for money. Operators get an alarm about rejected messages."""

from dataclasses import replace
from typing import Any, cast

import pytest

from bot.broadcasts.model import BroadcastNotification
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    NotificationStatus,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.orders.messages import OrderMessages, order_notifications
from bot.orders.missed_messages import follow_ups
from bot.orders.notifications import AboutOrder, OrderNotification
from bot.orders.order import Order
from bot.orders.repository import MissedOrderRepository, OrderRepository
from bot.payment_reminders.notifications import ReminderNotification
from bot.payment_requests.notifications import PaymentRequestNotification
from bot.payment_requests.paying.notifications import SummaryNotification
from bot.rates.notifications import RateNotification
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.support.model import Cause
from bot.support.notifications import AboutTicket, StaffNotification, TicketNotification, ticket_notification
from bot.support.staff_messages import _copy_for
from bot.users.model import User
from bot.users.readers import RenderContext, RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra, as_stored
from tests.orders.builders import no_ticket
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.screens import NOW

TALK = TicketNotification.CLOSED
MAX_TRIES = Queue.EXTRA.max_tries or 0


def create_delivery(system: OrderSystem) -> OutboxDelivery:
    return OutboxDelivery(system.store, system.sender, system.clock, follow_ups=follow_ups(frozenset({OSCAR})))


async def deliver_all(system: OrderSystem) -> None:
    while await system.delivery.start_due():
        await system.delivery.wait_until_sent()


async def queue(system: OrderSystem, *kinds: str) -> None:
    now = system.clock.now()
    rows = [
        Notification(
            chat_id=EMMA,
            subject="order:R2345AB",
            kind=kind,
            payload=AboutTicket("T-22222") if kind == TALK else AboutOrder("R2345AB"),
            queue=Queue.EXTRA if kind == TALK else Queue.URGENT,
            due_at=now,
            created_at=now,
        )
        for kind in kinds
    ]
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


def test_each_kind_of_message_has_one_queue() -> None:
    edited = (OrderNotification.EDIT_REVIEW, OrderNotification.EDIT_STATUS, PaymentRequestNotification.SHARED)
    later = SummaryNotification.DAY  # it is due the next morning, and nothing waits for it
    edits = {*edited, later, OrderNotification.REMOVE_INVOICE, OrderNotification.REPLACE_QR_CODE}
    talk = {*StaffNotification, *TicketNotification} - {StaffNotification.NEW_CARD}
    queues = dict.fromkeys(edits, Queue.EDITS) | dict.fromkeys(talk, Queue.EXTRA)
    queues |= dict.fromkeys([*RateNotification, *ReminderNotification, BroadcastNotification.MESSAGE], Queue.BULK)
    for kind in (kind for kinds in NotificationKind.__subclasses__() for kind in kinds):
        assert kind.queue is queues.get(kind, Queue.URGENT), kind


def test_a_failed_payout_s_ticket_waits_for_no_conversation() -> None:
    steps = {what: AboutTicket("T-22222", what=what) for what in (*Cause, "reopened")}
    queues = {what: ticket_notification(EMMA, StaffNotification.LINE, step, NOW).queue for what, step in steps.items()}
    assert [what for what, queue in queues.items() if queue is Queue.URGENT] == [Cause.FAILED]
    entry = ticket_notification(EMMA, StaffNotification.CARD, AboutTicket("T-22222"), NOW)
    assert {_copy_for(OSCAR, replace(entry, queue=queue), NOW).queue for queue in Queue} == {*Queue}


class FailingTalk:
    """A sender whose messages of tickets fail and whose other notifications arrive."""

    def __init__(self, system: OrderSystem) -> None:
        self._system, self.tries = system, 0

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        if notification.kind == TALK:
            self.tries += 1
            return RetryLater(0)
        return await self._system.sender.send(notification)


async def test_a_message_of_a_ticket_that_keeps_failing_holds_up_no_money_and_ends(system: OrderSystem) -> None:
    failing = FailingTalk(system)
    system.delivery = OutboxDelivery(system.store, failing, system.clock)
    await queue(system, TALK)
    await deliver_all(system)
    await queue(system, OrderNotification.UNRESOLVED, OrderNotification.PAID)
    await deliver_all(system)
    assert system.sender.kinds() == [OrderNotification.UNRESOLVED, OrderNotification.PAID]
    for _ in range(MAX_TRIES * 2):
        system.clock.passes(minutes=15)
        await deliver_all(system)
    assert failing.tries == MAX_TRIES
    async with system.store.reading() as tx:
        (talk,) = [
            notification
            for notification in await OutboxRepository(tx).find_by_subject("order:R2345AB")
            if notification.kind == TALK
        ]
    assert talk.status is NotificationStatus.UNDELIVERABLE


@pytest.mark.parametrize("kind", [OrderNotification.INVOICE, OrderNotification.PAID, OrderNotification.FAILED])
async def test_a_message_about_money_that_telegram_refuses_is_an_alarm_and_is_shown_at_the_next_visit(
    system: OrderSystem, kind: OrderNotification
) -> None:
    async with system.sql.transaction() as tx:
        await UserRepository(tx).save(User(id=EMMA, created_at=system.clock.now()))
    order = await system.place()
    await system.deliver()
    system.delivery = create_delivery(system)
    system.sender.outcomes[EMMA].append(Undeliverable("Bad Request: message is too long"))
    async with system.sql.transaction() as tx:
        (piece,) = order_notifications(order, (kind,), system.clock.now())
        await OutboxRepository(tx).add([replace(piece, mark="again")])
    await deliver_all(system)
    async with system.store.reading() as tx:
        alarms = await AlarmRepository(tx).find_open()
        missed = await MissedOrderRepository(tx).of_user(EMMA)
    assert [(alarm.kind, alarm.subject) for alarm in alarms] == [(AlarmKind.MESSAGE_REFUSED, order.reference)]
    assert [each.reference for each in missed] == [order.reference]
    assert system.sender.kinds(OSCAR)[-1] == "alarm_raised"


async def test_an_invoice_without_its_picture_is_an_alarm(system: OrderSystem) -> None:
    system.delivery = create_delivery(system)
    system.sender.outcomes[EMMA].append(Sent(7, without_picture=True))
    await queue(system, OrderNotification.PAID)
    await deliver_all(system)
    async with system.store.reading() as tx:
        assert [alarm.kind for alarm in await AlarmRepository(tx).find_open()] == [AlarmKind.PICTURE_REFUSED]


def create_renderers(system: OrderSystem, telegram: object) -> Renderers[RenderContext]:
    readers = RenderContexts(an_infra(system.store, system.clock, telegram))
    messages = OrderMessages(
        describe_ticket=no_ticket, contacts=SupportContacts(StaffChat(0, frozenset())), receipts=cast("Any", None)
    )
    return Renderers(readers.open, messages.renderers())


class TelegramWithOldMessages:
    """A fake messenger whose messages can't be deleted. `photos` are the messages with a picture.

    `new_pictures` is the outcome of replacing a picture.
    """

    username = "kirim"

    def __init__(self, photos: set[int], *, are_old: bool = True, new_pictures: Outcome | None = None) -> None:
        self.photos, self.are_old, self.new_pictures = photos, are_old, new_pictures or Delivered()
        self.edited: dict[int, str] = {}
        self.replaced: set[int] = set()

    async def delete(self, *_: Any, **__: Any) -> Outcome:
        return Gone(is_too_old=self.are_old)

    async def edit_photo(self, *args: Any, **_: Any) -> Outcome:
        assert args[1] in self.photos
        if isinstance(self.new_pictures, Delivered):
            self.replaced.add(args[1])
        return self.new_pictures

    async def edit_caption(self, *args: Any, **_: Any) -> Outcome:
        if args[1] not in self.photos:
            return Gone()
        self.edited[args[1]] = args[2]
        return Delivered(args[1])

    async def edit_text(self, *args: Any, **_: Any) -> Outcome:
        if args[1] in self.photos:
            return Gone()
        self.edited[args[1]] = args[2]
        return Delivered(args[1])


async def save_old_invoice(system: OrderSystem, *, paid: bool = False) -> Order:
    """Save an order whose invoice is message 41 and whose text is message 40."""
    order = await system.place()
    async with system.sql.transaction() as tx:
        saved = await OrderRepository(tx).save(replace(order, paid_at=system.clock.now() if paid else None))
        assert saved is not None
        await OutboxRepository(tx).add(
            [
                replace(each, message_id=40)
                for each in order_notifications(saved, (OrderNotification.INVOICE_TEXT,), system.clock.now())
            ]
        )
        rows = await OutboxRepository(tx).find_by_subject(f"order:{order.reference}")
        (invoice,) = [row for row in rows if row.kind == OrderNotification.INVOICE]
        await OutboxRepository(tx).replace_message_id(invoice.id, 41)
    return saved


async def remove_invoice(
    system: OrderSystem,
    order: Order,
    telegram: TelegramWithOldMessages,
    notice: OrderNotification = OrderNotification.REMOVE_INVOICE,
) -> DeliveryOutcome:
    (notification,) = order_notifications(order, (notice,), system.clock.now())
    return await create_renderers(system, telegram).send(as_stored(notification))


async def pictures_queued(system: OrderSystem, order: Order) -> list[Queue]:
    async with system.store.reading() as tx:
        queued = await OutboxRepository(tx).find_by_subject(f"order:{order.reference}")
    return [notification.queue for notification in queued if notification.kind == OrderNotification.REPLACE_QR_CODE]


@pytest.mark.parametrize(("paid", "are_old"), [(False, True), (True, True), (True, False)])
async def test_an_invoice_that_cannot_be_deleted_any_more_is_edited_with_its_text(
    system: OrderSystem,
    paid: bool,  # noqa: FBT001
    are_old: bool,  # noqa: FBT001
) -> None:
    order = await save_old_invoice(system, paid=paid)
    telegram = TelegramWithOldMessages({41}, are_old=are_old)
    assert await remove_invoice(system, order, telegram) == Sent()
    assert set(telegram.edited) == ({40, 41} if are_old else set()), "what is gone needs no edit"
    assert all(order.reference in text and "lnbcrt" not in text for text in telegram.edited.values())
    assert await pictures_queued(system, order) == ([Queue.EDITS] if are_old else [])


async def test_the_qr_code_of_an_invoice_that_cannot_be_deleted_any_more_is_replaced(system: OrderSystem) -> None:
    order = await save_old_invoice(system)
    telegram = TelegramWithOldMessages({41})
    assert await remove_invoice(system, order, telegram, OrderNotification.REPLACE_QR_CODE) == Sent()
    assert telegram.replaced == {41}


async def test_an_old_invoice_whose_new_picture_keeps_failing_holds_up_nothing(system: OrderSystem) -> None:
    order = await save_old_invoice(system, paid=True)
    telegram = TelegramWithOldMessages({41}, new_pictures=TryLater(3))
    assert await remove_invoice(system, order, telegram) == Sent(), "that the payment has arrived comes right behind it"
    assert isinstance(await remove_invoice(system, order, telegram, OrderNotification.REPLACE_QR_CODE), RetryLater)


async def test_an_old_invoice_whose_new_picture_is_refused_loses_its_text_and_buttons(system: OrderSystem) -> None:
    order = await save_old_invoice(system)
    telegram = TelegramWithOldMessages({41}, new_pictures=Invalid("IMAGE_PROCESS_FAILED"))
    assert await remove_invoice(system, order, telegram) == Sent()
    assert set(telegram.edited) == {40, 41}
