"""Messages that users missed: Telegram rejected them, or the user had blocked the bot.

A rejected message about money raises an alarm, and its order is saved as missed. At the user's next visit the bot shows
the missed orders, and those that changed while the user had blocked the bot.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.follow_ups import FollowUp
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.missed_order_repository import MissedOrder, MissedOrderRepository
from bot.orders.notifications.kinds import AboutOrder, OrderNotification
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import raise_order_alarm
from bot.users.session import Session, SessionKey

ABOUT_MONEY: Final = (
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
"""Messages that a user must not miss."""

REMOVALS: Final = (OrderNotification.TAKE_DOWN, OrderNotification.TAKE_DOWN_PICTURE)
"""If one of these is given up, an invoice that must no longer be paid is still visible."""

HAS_MISSED: Final = SessionKey[bool]("has_missed", default=False)
"""Whether there are orders about which the user missed a message."""

MAX_CHANGED_SHOWN: Final = 5
"""How many of the newest orders are checked for changes while the user had blocked the bot."""

MAX_MISSED_SHOWN: Final = 5
"""How many missed orders are shown one by one. A message points to /orders for older ones."""


def follow_ups(operator_ids: frozenset[int]) -> Mapping[NotificationKind, FollowUp]:
    """Return what follows the delivery of each kind of message about money, and of each kind of removal."""

    async def follow_up(
        tx: Transaction, notification: Notification[AboutOrder], result: Sent | Undeliverable, now: datetime
    ) -> None:
        reference = notification.payload.reference
        if isinstance(result, Undeliverable):
            if result.whole_chat:
                return
            kind = AlarmKind.MESSAGE_REFUSED
            facts = {"message": str(notification.kind), "why": result.reason}
            await raise_order_alarm(tx, kind, reference, now, operator_ids, **facts)
            missed = MissedOrder(user_id=notification.chat_id, reference=reference, at=now)
            await MissedOrderRepository(tx).save(missed)
        elif result.without_picture:
            await raise_order_alarm(tx, AlarmKind.PICTURE_REFUSED, reference, now, operator_ids)

    async def follow_removal(
        tx: Transaction, notification: Notification[AboutOrder], result: Sent | Undeliverable, now: datetime
    ) -> None:
        if isinstance(result, Undeliverable) and not result.whole_chat:
            kind, reference = AlarmKind.INVOICE_NOT_REMOVED, notification.payload.reference
            await raise_order_alarm(tx, kind, reference, now, operator_ids, why=result.reason)

    return {**dict.fromkeys(ABOUT_MONEY, follow_up), **dict.fromkeys(REMOVALS, follow_removal)}


class MissedMessages:
    """Hooks of the session loader. `show_status` sends the status message of an order."""

    def __init__(self, database: Database, show_status: Callable[[Session, Order], Awaitable[Outcome]]) -> None:
        self._database = database
        self._show_status = show_status

    async def load(self, tx: Transaction, session: Session) -> None:
        """Save in the session whether the user missed a message."""
        if session.is_private:
            session[HAS_MISSED] = bool(await MissedOrderRepository(tx).of_user(session.user.id))

    async def show(self, session: Session) -> None:
        """Show the orders about which the user missed something."""
        shown = await self._show_rejected(session) if session[HAS_MISSED] else frozenset[str]()
        if session.blocked_since is not None:
            await self._show_changed(session, session.blocked_since, shown)

    async def _show_changed(self, session: Session, since: datetime, shown: frozenset[str]) -> None:
        """Show the orders that changed since then, except those in `shown`."""
        now = session.now
        async with self._database.reading() as tx:
            orders = await OrderRepository(tx).of_user(session.user.id, limit=MAX_CHANGED_SHOWN)
        for order in reversed(orders):
            times = (order.paid_at, order.ended_at, order.expires_at)
            if order.reference not in shown and any(at is not None and since < at <= now for at in times):
                session.notice = session.t("orders.chat.meanwhile")
                await self._show_status(session, order)

    async def _show_rejected(self, session: Session) -> frozenset[str]:
        """Show the orders about which Telegram rejected a message, oldest first. Return the references shown.

        A missed order is deleted once Telegram has accepted its message. After a crash in between it is shown again.
        If Telegram doesn't accept the message now, the bot tries again at the user's next message.
        """
        async with self._database.reading() as tx:
            # Read again: the user may just have deleted their data.
            missed_orders = await MissedOrderRepository(tx).of_user(session.user.id)
        older, newest = missed_orders[:-MAX_MISSED_SHOWN], missed_orders[-MAX_MISSED_SHOWN:]
        if older:
            if not isinstance(
                await session.send(Screen(session.t.plural("orders.chat.missed_older", len(older)))), Delivered
            ):
                return frozenset()
            await self._delete(older)
        shown: list[str] = []
        for missed in newest:
            if not await self._show_missed(session, missed):
                break
            shown.append(missed.reference)
            await self._delete((missed,))
        return frozenset(shown)

    async def _show_missed(self, session: Session, missed: MissedOrder) -> bool:
        """Show one order. Return whether it needs no further attempt: it was sent, or it can't be shown at all."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get_if_readable(missed.reference)
        if order is None or order.user_id != session.user.id:
            return True
        session.notice = session.t("orders.chat.missed")
        sent = await self._show_status(session, order)
        if isinstance(sent, Invalid):
            # Telegram will never accept this status message either. It must not hold up the other missed orders.
            sent = await session.send(Screen(session.t("orders.chat.missed_elsewhere", reference=order.reference)))
        return isinstance(sent, Delivered)

    async def _delete(self, seen: Sequence[MissedOrder]) -> None:
        async with self._database.transaction() as tx:
            await MissedOrderRepository(tx).delete(seen)
