"""Messages that users missed: Telegram rejected them, or the user had blocked the bot.

The order of such a message is saved as missed, in the transaction that gives the message up. A rejected message about
money also raises an alarm. At the user's next visit the bot first removes the invoices that it couldn't remove. Then it
shows the missed orders. Those that need attention come first, each with its status. Of the others, the newest are
shown, and a message counts the rest. `payment_requests` does the same for askers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.infra.outbox.rendering import FinalResult, FollowUp
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.messages import order_subject
from bot.orders.notifications import ABOUT_MONEY, REMOVALS, AboutOrder, OrderNotification
from bot.orders.order import Order
from bot.orders.preferences import DeliveryMode, delivery_mode
from bot.orders.repository import MissedOrder, MissedOrderRepository, OrderRepository
from bot.orders.screens import order_messages
from bot.orders.screens.order_lists import count_missed, needs_attention, show_missed
from bot.orders.status_handlers import StatusMessages
from bot.settlement.model import COMPLETED
from bot.staff.alarms import raise_order_alarm
from bot.staff.model import AlarmKind
from bot.users.session import Session, SessionKey

HAS_MISSED: Final = SessionKey[bool]("has_missed", default=False)
"""Whether there are orders or links about which the user missed a message."""

MAX_SHOWN: Final = 5
"""How many missed orders are shown one by one."""

LIST_LENGTH: Final = 10
"""How many orders that need attention are in one list. With the longest names, that is well below Telegram's limit."""


def follow_ups(operator_ids: frozenset[int]) -> Mapping[NotificationKind, FollowUp]:
    """Return what follows the delivery of each kind of message about an order."""

    async def follow_up(
        tx: Transaction, notification: Notification[AboutOrder], result: FinalResult, now: datetime
    ) -> None:
        kind, reference = notification.kind, notification.payload.reference
        if isinstance(result, Sent):
            if result.without_picture:
                await raise_order_alarm(tx, AlarmKind.PICTURE_REFUSED, reference, now, operator_ids)
        elif result.whole_chat or kind in ABOUT_MONEY:
            missed = MissedOrder(user_id=notification.chat_id, reference=reference, at=now)
            await record_missed(tx, missed, result, kind=kind, order=reference, operator_ids=operator_ids)
        elif kind in REMOVALS and not notification.mark:
            # A removal with a mark is that of an older QR code, and the order can still be paid.
            alarm = AlarmKind.INVOICE_NOT_REMOVED
            await raise_order_alarm(tx, alarm, reference, now, operator_ids, why=result.reason)

    return dict.fromkeys(OrderNotification, follow_up)


async def record_missed(
    tx: Transaction, missed: MissedOrder, result: Undeliverable, *, kind: str, order: str, operator_ids: frozenset[int]
) -> None:
    """Save that a user missed a message of this kind. If Telegram rejected it, raise an alarm about the order."""
    await MissedOrderRepository(tx).save(missed)
    if not result.whole_chat:
        facts = {"message": str(kind), "why": result.reason}
        await raise_order_alarm(tx, AlarmKind.MESSAGE_REFUSED, order, missed.at, operator_ids, **facts)


@dataclass(frozen=True, slots=True)
class _Known:
    missed: MissedOrder
    order: Order


class MissedMessages:
    """Show users what they missed."""

    def __init__(self, database: Database, status_messages: StatusMessages) -> None:
        self._database = database
        self._status_messages = status_messages

    async def load(self, tx: Transaction, session: Session) -> None:
        """Save in the session whether the user missed a message."""
        if session.is_private:
            session[HAS_MISSED] = bool(await MissedOrderRepository(tx).of_user(session.user.id))

    async def show(self, session: Session) -> None:
        """Show the orders about which the user missed something."""
        if session[HAS_MISSED]:
            await self._show_all(session)

    async def _show_all(self, session: Session) -> None:
        """Show the missed orders, first those that need attention.

        A missed order is deleted once Telegram has accepted a message that names or counts it. After a crash in between
        it is shown again. If Telegram doesn't accept a message now, the bot tries again at the user's next message.
        """
        known = await self._read(session)
        if known is None:
            return
        await self._queue_again(session, _orders(known), REMOVALS)
        urgent = [each for each in known if needs_attention(each.order, session.now)]
        others = [each for each in known if each not in urgent]
        shown, listed = urgent[:MAX_SHOWN], urgent[MAX_SHOWN:]
        counted_up_to = max(len(others) - MAX_SHOWN + len(shown), 0)
        counted, newest = others[:counted_up_to], others[counted_up_to:]
        lists = [listed[start : start + LIST_LENGTH] for start in range(0, len(listed), LIST_LENGTH)]
        if not await self._show_each(session, shown):
            return
        for each in lists:
            if not await self._show_together(session, show_missed(session.reader, _orders(each)), each):
                return
        if counted and not await self._show_together(session, count_missed(session.reader, _orders(counted)), counted):
            return
        await self._show_each(session, newest)

    async def _read(self, session: Session) -> Sequence[_Known] | None:
        """Return the missed orders, the oldest first. Those that can't be read are named at once.

        Return None if Telegram doesn't accept that.
        """
        known: list[_Known] = []
        gone: list[MissedOrder] = []
        unreadable: list[MissedOrder] = []
        async with self._database.reading() as tx:
            # Read again: the user may just have deleted their data.
            for missed in await MissedOrderRepository(tx).of_user(session.user.id):
                if missed.link is not None:
                    continue
                try:
                    order = await OrderRepository(tx).get(missed.reference)
                except RowUnreadable:
                    unreadable.append(missed)
                    continue
                if order is None or order.payer.user_id != session.user.id:
                    gone.append(missed)
                else:
                    known.append(_Known(missed, order))
        if gone:
            await self._delete(gone)
        if not await self._name_each(session, unreadable):
            return None
        return sorted(known, key=lambda each: (each.missed.at, each.order.created_at))

    async def _show_each(self, session: Session, known: Sequence[_Known]) -> bool:
        """Show the status message of each order. Return whether Telegram has accepted all.

        To a user who is back after a block, the message to pay with and the receipt are sent as well, by the outbox.
        """
        is_back = session.blocked_since is not None
        for each in known:
            if is_back and each.order.awaits_payment(session.now):
                await self._status_messages.resend_payment(session, each.order)
                await self._delete((each.missed,))
                continue
            mode = delivery_mode(OrderNotification.SENT, session.user.notification_preferences)
            shown = None
            if is_back and each.order.state == COMPLETED and mode is not DeliveryMode.STATUS_ONLY:
                # The receipt follows, and has the rest.
                shown = order_messages.show_ended(session.reader, each.order)
            session.notice = session.t("orders.chat.meanwhile" if is_back else "orders.chat.missed")
            sent = await self._status_messages.send_status_message(session, each.order, shown)
            if is_back and isinstance(sent, Delivered):
                await self._queue_again(session, (each.order,), (OrderNotification.SENT,))
            # Telegram may never accept this status message either. It must not hold up the other missed orders.
            if not await self._finish(session, sent, (each.missed,)):
                return False
        return True

    async def _queue_again(
        self, session: Session, orders: Sequence[Order], kinds: Collection[OrderNotification]
    ) -> None:
        async with self._database.transaction() as tx:
            for order in orders:
                await OutboxRepository(tx).queue_again(order_subject(order), kinds, session.chat_id, session.now)

    async def _show_together(self, session: Session, screen: Screen, known: Sequence[_Known]) -> bool:
        return await self._finish(session, await session.send_message(screen), [each.missed for each in known])

    async def _finish(self, session: Session, sent: Outcome, seen: Sequence[MissedOrder]) -> bool:
        """Delete missed orders that a message has shown. If Telegram rejects it for good, name each of them."""
        if isinstance(sent, Invalid):
            return await self._name_each(session, seen)
        if not isinstance(sent, Delivered):
            return False
        await self._delete(seen)
        return True

    async def _name_each(self, session: Session, missed_orders: Sequence[MissedOrder]) -> bool:
        """Point to /orders for each order that can't be shown here. Return whether Telegram has accepted all."""
        for missed in missed_orders:
            text = session.t("orders.chat.missed_elsewhere", reference=missed.reference)
            if not isinstance(await session.send_message(Screen(text)), Delivered):
                return False
            await self._delete((missed,))
        return True

    async def _delete(self, seen: Sequence[MissedOrder]) -> None:
        async with self._database.transaction() as tx:
            await MissedOrderRepository(tx).delete(seen)


def _orders(known: Sequence[_Known]) -> list[Order]:
    return [each.order for each in known]
