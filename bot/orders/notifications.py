"""News of an order as rows of the outbox: written in the transaction that saves what is news."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.infra.outbox.model import Kind, Notification, Queue
from bot.orders.order import Order, OrderNotification

ORDER_SUBJECT = "order:"

IN_EXTRA: Final = frozenset({OrderNotification.RECEIPT, OrderNotification.TAKE_DOWN_PICTURE})
"""Pictures: no message about money waits for them."""


def subject_of(order: Order) -> str:
    """What all news of one order is filed under."""
    return ORDER_SUBJECT + order.reference


def reference_in(subject: str) -> str:
    """The order's reference in a subject made by `subject_of`."""
    return subject.removeprefix(ORDER_SUBJECT)


def news_of(order: Order, notices: Iterable[OrderNotification], now: datetime) -> list[Notification]:
    """Rows for the person of `order`. A card's edits are told apart by the order's version: each is due once."""
    return [
        Notification(
            chat_id=order.chat_id,
            subject=subject_of(order),
            kind=str(Kind(notice, str(order.version) if notice is OrderNotification.CARD_EDIT else "")),
            queue=Queue.EXTRA if notice in IN_EXTRA else Queue.MONEY,
            due_at=now,
            created_at=now,
        )
        for notice in notices
    ]


def staff_news(
    chat_ids: Iterable[int], notice: str, subject: str, now: datetime, **payload: object
) -> list[Notification]:
    """Rows that tell each of the staff. `payload` holds masked facts only."""
    return [
        Notification(
            chat_id=chat_id,
            subject=subject,
            kind=str(notice),
            payload=payload,
            due_at=now,
            created_at=now,
        )
        for chat_id in sorted(chat_ids)
    ]
