"""What askers hear of the payments of their links: that one arrived, was sent, or failed. Never who paid.

Who has chosen so gets one summary of each day instead, and a message about what fails.

They are saved in the transaction that changes the order. What becomes of a failed payment is between its payer and
support. What holds for payers who miss a message holds for askers (`orders/missed_messages.py`): its link is saved as
missed, and a rejected message raises an alarm.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.core.date_ranges import get_day_span
from bot.core.time_of_day import DEFAULT_QUIET_HOURS, next_at
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationKind, Queue, Sent, format_subject
from bot.infra.outbox.rendering import FinalResult, FollowUp
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.ui.screen import Screen
from bot.orders.missed_messages import record_missed
from bot.orders.order import Failure, Order, OrderProblem
from bot.orders.repository import LINK, MissedOrder, MissedOrderRepository
from bot.payment_requests import screens as listed
from bot.payment_requests.model import ClosedBy, PaymentRequest, ReceivedPayment, gets_summary
from bot.payment_requests.notifications import day_subject, shared_notifications
from bot.payment_requests.paying import screens
from bot.payment_requests.repository import PaymentRequestRepository
from bot.settlement.model import COMPLETED
from bot.users.readers import RenderContext, Renderer, as_message
from bot.users.repository import UserRepository

NOTIFIED_WITHIN: Final = timedelta(days=1)
"""How long after the payment its asker is notified that it arrived. Sent rows are deleted after a time."""


@dataclass(frozen=True, slots=True)
class LinkPayment:
    """A payment of a link: the request, by its id, and its rupiah."""

    request: str
    idr: int


class LinkNotification(NotificationKind):
    """Notifications for the asker about one payment."""

    PAID = "payment_request_paid", LinkPayment
    SENT = "payment_request_sent", LinkPayment
    FAILED = "payment_request_failed", LinkPayment


@dataclass(frozen=True, slots=True)
class DayOfPayments:
    """A day of the asker: from when, and until when."""

    since: datetime
    until: datetime


class SummaryNotification(NotificationKind):
    """The summary of a day, for askers who get no message about each payment. It waits until the next morning."""

    DAY = "payment_request_day", DayOfPayments, Queue.EDITS


class LinkListener:
    """Listen to the orders that were made from links (an `OrderListener`)."""

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Notify the asker that a payment failed. That it takes long is the payer's to know."""
        if problem is OrderProblem.FAILED and order.failure is Failure.PAID:
            request = await _record_payment(tx, order, now)
            if request is not None:
                await _notify(tx, request, order, LinkNotification.FAILED, now)

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Notify the asker of the payment, and that the rupiah were sent. Close a link that can be paid once."""
        request = await _record_payment(tx, order, now) if order.is_paid else None
        if request is None:
            return
        if order.state == COMPLETED:
            await _notify(tx, request, order, LinkNotification.SENT, now)
        elif not order.is_ended and order.paid_at is not None and now - order.paid_at < NOTIFIED_WITHIN:
            await _notify(tx, request, order, LinkNotification.PAID, now)


def payment_notification(
    request: PaymentRequest, order: Order, kind: LinkNotification, now: datetime
) -> Notification[LinkPayment]:
    """Return the notification to the asker about one payment. Each kind is sent once for each order."""
    payload = LinkPayment(request.id, order.idr or order.expected_idr)
    subject = format_subject("payment_request", request.id)
    return kind.create(request.user_id, subject, payload, now, order.reference)


async def _record_payment(tx: Transaction, order: Order, now: datetime) -> PaymentRequest | None:
    """Close the link of a paid order if it can be paid once, let the messages that share it follow, and return it.

    If the payment fails later, its asker makes another link. Return None if there is no request, or no longer, or if it
    can't be read. It is closed all the same.
    """
    if order.origin is None:
        return None
    await PaymentRequestRepository(tx).close(order.origin, ClosedBy.PAYMENT, now)
    try:
        request = await PaymentRequestRepository(tx).get(order.origin)
    except RowUnreadable:
        return None  # it is recorded for the monitor, and the payer's order goes on all the same
    if request is not None and not request.is_reusable:
        await OutboxRepository(tx).add(shared_notifications([request], now))
    return request


async def _notify(
    tx: Transaction, request: PaymentRequest, order: Order, kind: LinkNotification, now: datetime
) -> None:
    await OutboxRepository(tx).add(
        [await _find_summary(tx, request, order, kind, now) or payment_notification(request, order, kind, now)]
    )


async def _find_summary(
    tx: Transaction, request: PaymentRequest, order: Order, kind: LinkNotification, now: datetime
) -> Notification[DayOfPayments] | None:
    """Return the summary that a payment will be in: that of its day, which is sent at the end of the night.

    None if the asker gets a message about each payment, if the summary has been sent, or for a payment that failed.
    """
    user = await UserRepository(tx).get_if_readable(request.user_id)
    if kind is LinkNotification.FAILED or order.paid_at is None or user is None or not gets_summary(user):
        return None
    if user.deletion_requested_at is not None:  # it waits for each message
        return None
    day = order.paid_at.astimezone(user.zone).date()
    span = get_day_span(day, day, user.zone)
    due_at = next_at(DEFAULT_QUIET_HOURS[1], user.zone, span.until)
    payload = DayOfPayments(span.since, span.until)
    # It waits for nothing until it is due.
    summary = SummaryNotification.DAY.create(user.id, day_subject(user.id), payload, due_at, day.isoformat())
    return summary if due_at > now else None


async def show_summary(notification: Notification[DayOfPayments], context: RenderContext) -> Screen:
    """Return the summary of a day, with the state of each payment at this moment."""
    async with context.database.reading() as tx:
        payments = await _read_day(tx, notification)
    return listed.show_summary(context.reader, payments)


async def _read_day(tx: Transaction, notification: Notification[DayOfPayments]) -> list[ReceivedPayment]:
    day = notification.payload
    received = await PaymentRequestRepository(tx).received(notification.chat_id, since=day.since)
    return [each for each in received if each.paid_at < day.until]


async def record_missed_day(
    tx: Transaction, notification: Notification[DayOfPayments], result: FinalResult, now: datetime
) -> None:
    """Save the links of a summary that its asker missed."""
    if isinstance(result, Sent):
        return
    links = {each.request.id for each in await _read_day(tx, notification) if each.request is not None}
    for link in sorted(links):
        await MissedOrderRepository(tx).save(MissedOrder(user_id=notification.chat_id, reference=LINK + link, at=now))


async def show(notification: Notification[LinkPayment], context: RenderContext) -> Screen | None:
    """Return the message to the asker, unless the request was deleted."""
    async with context.database.reading() as tx:
        request = await PaymentRequestRepository(tx).get(notification.payload.request)
    kind = LinkNotification(notification.kind)
    return screens.show_payment(context.t, kind, request, notification.payload.idr) if request else None


def follow_ups(operator_ids: frozenset[int]) -> Mapping[NotificationKind, FollowUp]:
    """Return what follows the delivery of each kind of message to an asker."""

    async def follow_up(
        tx: Transaction, notification: Notification[LinkPayment], result: FinalResult, now: datetime
    ) -> None:
        if not isinstance(result, Sent):
            missed = MissedOrder(user_id=notification.chat_id, reference=LINK + notification.payload.request, at=now)
            kind, order = notification.kind, notification.mark
            await record_missed(tx, missed, result, kind=kind, order=order, operator_ids=operator_ids)

    return {**dict.fromkeys(LinkNotification, follow_up), SummaryNotification.DAY: record_missed_day}


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    **dict.fromkeys(LinkNotification, as_message(show, priority="money")),
    SummaryNotification.DAY: as_message(show_summary, priority="talk"),
}
