"""What follows when Telegram refuses a message about money: an alarm, and the user sees it at their next visit."""

from collections.abc import Mapping
from datetime import datetime

import structlog

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, Sent, Undeliverable
from bot.orders.missed_orders import MissedOrder
from bot.orders.missed_repository import MissedOrderRepository
from bot.orders.notifications import ORDER_SUBJECT, reference_in
from bot.orders.order import OrderNotification
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import raise_about_order

log = structlog.get_logger(__name__)

ABOUT_MONEY = (
    OrderNotification.INVOICE,
    OrderNotification.INVOICE_TEXT,
    OrderNotification.PRICE_MOVED,
    OrderNotification.RECIPIENT_MASKED,
    OrderNotification.UNRESOLVED,
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.STUCK,
)
"""What a user must not miss."""


def hooks(operator_ids: frozenset[int]) -> Mapping[str, After]:
    """Return the `after` of each kind of message about money."""

    async def after(tx: Transaction, news: Notification, how: Sent | Undeliverable, now: datetime) -> None:
        if not news.subject.startswith(ORDER_SUBJECT) or (isinstance(how, Undeliverable) and how.whole_chat):
            return
        reference = reference_in(news.subject)
        if isinstance(how, Undeliverable):
            await raise_about_order(
                tx, AlarmKind.MESSAGE_REFUSED, reference, now, operator_ids, message=news.kind, why=how.reason
            )
            await MissedOrderRepository(tx).save(MissedOrder(person_id=news.chat_id, reference=reference, at=now))
        elif how.without_picture:
            await raise_about_order(tx, AlarmKind.PICTURE_REFUSED, reference, now, operator_ids)

    return dict.fromkeys(map(str, ABOUT_MONEY), after)
