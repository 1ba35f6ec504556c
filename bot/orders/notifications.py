"""News of an order as rows of the outbox: written in the transaction that saves what is news."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.infra.outbox.model import Notification, Queue
from bot.orders.order import Order, OrderNotification

ORDER_SUBJECT = "order:"
DRAFT_SUBJECT = "draft:"
RATE_SUBJECT = "rate:"
"""News of the rate: a queue of its own, so that news about money in the same chat never wait behind it."""


EXTRA_TRIES: Final = 24
"""After so many tries a message of that queue is given up, some four hours after the first."""

_EXTRA_KINDS: Final = frozenset(
    {
        OrderNotification.RECEIPT,
        OrderNotification.TAKE_DOWN_PICTURE,
        # What support and users write to each other, with files: in one queue, so that it keeps its order.
        "ticket_answer",
        "ticket_answer_edited",
        "ticket_answer_withdrawn",
        "ticket_closed",
        "ticket_head",
        "ticket_card",
        "ticket_entry",
        "ticket_entry_edited",
        "ticket_step",
        "ticket_remark",
        "ticket_waits",
        "ticket_forgotten",
        "ticket_waits_long",
    }
)


def queue_of(subject: str, kind: str) -> Queue:
    """Return the queue of a message."""
    if subject.startswith(RATE_SUBJECT):
        return Queue.RATE
    return Queue.EXTRA if kind.partition(":")[0] in _EXTRA_KINDS else Queue.MONEY


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
            kind=f"{notice}:{order.version}" if notice is OrderNotification.CARD_EDIT else str(notice),
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
