"""What follows when Telegram refuses a message about money: an alarm, and the user sees it at their next visit."""

from collections.abc import Mapping
from datetime import datetime

import structlog

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.follow_ups import FollowUp
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.orders.missed_orders import MissedOrder, MissedOrderRepository
from bot.orders.notifications.kinds import AboutOrder, OrderNotification
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import raise_order_alarm

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


def hooks(operator_ids: frozenset[int]) -> Mapping[NotificationKind, FollowUp]:
    """Return the `after` of each kind of message about money."""

    async def after(
        tx: Transaction, notification: Notification[AboutOrder], how: Sent | Undeliverable, now: datetime
    ) -> None:
        reference = notification.payload.reference
        if isinstance(how, Undeliverable):
            if how.whole_chat:
                return
            kind = AlarmKind.MESSAGE_REFUSED
            facts = {"message": str(notification.kind), "why": how.reason}
            await raise_order_alarm(tx, kind, reference, now, operator_ids, **facts)
            missed = MissedOrder(user_id=notification.chat_id, reference=reference, at=now)
            await MissedOrderRepository(tx).save(missed)
        elif how.without_picture:
            await raise_order_alarm(tx, AlarmKind.PICTURE_REFUSED, reference, now, operator_ids)

    return dict.fromkeys(ABOUT_MONEY, after)
