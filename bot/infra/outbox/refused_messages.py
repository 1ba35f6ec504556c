"""What follows when Telegram refuses a message about money: an alarm, and the user sees it at their next visit."""

from collections.abc import Mapping
from datetime import datetime

import structlog

from bot.infra.db.ports import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Told, Untellable
from bot.orders.notifications import ORDER_SUBJECT, reference_in
from bot.orders.order import Notice
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import raise_about_order
from bot.users.model import MissedOrder, News

log = structlog.get_logger(__name__)

ABOUT_MONEY = (
    Notice.INVOICE,
    Notice.INVOICE_TEXT,
    Notice.PRICE_MOVED,
    Notice.RECIPIENT_MASKED,
    Notice.UNRESOLVED,
    Notice.PAID,
    Notice.PAID_LATE,
    Notice.SENT,
    Notice.FAILED,
    Notice.STUCK,
)
"""What a user must not miss."""


def hooks(operator_ids: frozenset[int]) -> Mapping[str, After]:
    """Return the `after` of each kind of message about money."""

    async def after(tx: Transaction, news: News, how: Told | Untellable, now: datetime) -> None:
        if not news.subject.startswith(ORDER_SUBJECT) or (isinstance(how, Untellable) and how.whole_chat):
            return
        reference = reference_in(news.subject)
        if isinstance(how, Untellable):
            await raise_about_order(
                tx, AlarmKind.MESSAGE_REFUSED, reference, now, operator_ids, message=news.kind, why=how.reason
            )
            await tx.missed_orders.save(MissedOrder(person_id=news.chat_id, reference=reference, at=now))
        elif how.without_picture:
            await raise_about_order(tx, AlarmKind.PICTURE_REFUSED, reference, now, operator_ids)

    return dict.fromkeys(map(str, ABOUT_MONEY), after)
