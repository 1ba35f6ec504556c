"""Build the notifications about an order. They are saved in the transaction that changes the order."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationStatus, Queue, format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notification_kinds import (
    ORDER_SUBJECT,
    STATUS_MESSAGES,
    AboutOrder,
    AboutProblem,
    OrderNotification,
    OrderWarning,
)
from bot.orders.order import Order
from bot.staff.alarm_model import AlarmKind

QUEUES: Final[Mapping[str, Queue]] = {
    OrderNotification.CARD_EDIT: Queue.EDITS,
    OrderNotification.TAKE_DOWN: Queue.EDITS,
    OrderNotification.TAKE_DOWN_PICTURE: Queue.EDITS,
}
"""The queues of notifications for which no message about money waits."""

PAID_MARK: Final = "paid"
"""Marks the message that an order failed after its payment. The message that it failed unpaid can be an earlier one."""

ALARM_OF: Final[Mapping[OrderWarning, AlarmKind]] = {
    OrderWarning.STUCK: AlarmKind.ORDER_STUCK,
    OrderWarning.FAILED: AlarmKind.ORDER_FAILED,
    OrderWarning.BAD_INVOICE: AlarmKind.INVOICE_MISMATCH,
}
"""The alarm that is raised with each warning."""


def order_subject(order: Order) -> str:
    """Return the subject of all notifications about an order."""
    return ORDER_SUBJECT + order.reference


async def has_any_message(tx: Transaction, order: Order, kinds: Collection[OrderNotification]) -> bool:
    """Return whether the payer of `order` got a message of these kinds, or will get one."""
    chat_id = order.payer.chat_id
    return chat_id is not None and await OutboxRepository(tx).has_any(order_subject(order), kinds, chat_id)


async def queue_order_notifications(
    tx: Transaction, order: Order, kinds: Iterable[OrderNotification], now: datetime
) -> None:
    """Queue notifications for the payer of `order`. An edit is left out if there is no status message to edit.

    There is none before the payment, or if the order was sent before we saw the payment.
    """
    queued = tuple(kinds)
    if OrderNotification.CARD_EDIT in queued and not await has_any_message(tx, order, STATUS_MESSAGES):
        queued = tuple(kind for kind in queued if kind is not OrderNotification.CARD_EDIT)
    await OutboxRepository(tx).add(order_notifications(order, queued, now))


def order_notifications(
    order: Order, kinds: Iterable[OrderNotification], now: datetime, mark: str = ""
) -> list[Notification[AboutOrder]]:
    """Return the notifications for the payer of `order`. Each version of the order edits its status message once.

    There are none for a payer without a chat. A `mark` distinguishes messages that the payer asked to see again. A
    payment can arrive after the message that the order failed unpaid. Then another one says so.
    """
    chat_id = order.payer.chat_id
    if chat_id is None:
        return []
    marks = {
        OrderNotification.CARD_EDIT: format_mark(order.version),
        OrderNotification.FAILED: PAID_MARK if order.is_paid else mark,
    }
    return [
        Notification(
            chat_id=chat_id,
            subject=order_subject(order),
            kind=kind,
            mark=marks.get(kind, mark),
            queue=QUEUES.get(kind, Queue.URGENT),
            payload=AboutOrder(order.reference),
            due_at=now,
            created_at=now,
        )
        for kind in kinds
    ]


def review_notifications(order: Order, message_id: int, now: datetime) -> list[Notification[AboutOrder]]:
    """Return the row that keeps which message is the review of `order`. It is never sent."""
    return [
        replace(review, status=NotificationStatus.SENT, message_id=message_id, sent_at=now)
        for review in order_notifications(order, (OrderNotification.REVIEW,), now)
    ]


def operator_notifications(
    operator_ids: Iterable[int], kind: OrderWarning, order: Order, now: datetime, complaint: str = ""
) -> list[Notification[AboutProblem]]:
    """Return the warnings to operators about an order. `complaint` contains no personal data."""
    return [
        Notification(
            chat_id=operator_id,
            subject=order_subject(order),
            kind=kind,
            payload=AboutProblem(order.reference, complaint),
            due_at=now,
            created_at=now,
        )
        for operator_id in sorted(operator_ids)
    ]
