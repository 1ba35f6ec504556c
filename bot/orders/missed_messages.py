"""Show users what they missed: messages that Telegram refused, and what happened while they had blocked the bot."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.orders.missed_orders import MissedOrder, MissedOrderRepository
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.users.session import Session, SessionKey

HAS_MISSED: Final = SessionKey[bool]("has_missed", default=False)
"""Whether there are orders about which the user missed a message."""

NEWEST_SHOWN: Final = 5
"""So many of the newest orders are shown if something happened to them while the user had blocked the bot."""

MISSED_SHOWN: Final = 5
"""More orders than this are not shown one by one: a message points to /orders for the older ones."""


class MissedMessages:
    """Two hooks of the session loader. `show_status` shows an order at the end of its chat."""

    def __init__(self, database: Database, show_status: Callable[[Session, Order], Awaitable[Outcome]]) -> None:
        self._database = database
        self._show_status = show_status

    async def load(self, tx: Transaction, session: Session) -> None:
        """Note whether the user missed something."""
        if session.is_private:
            session[HAS_MISSED] = bool(await MissedOrderRepository(tx).of_user(session.user.id))

    async def show(self, session: Session) -> None:
        """Show what the user missed."""
        shown = await self._show_refused(session) if session[HAS_MISSED] else frozenset[str]()
        if session.away_since is not None:
            await self._show_changed(session, session.away_since, shown)

    async def _show_changed(self, session: Session, since: datetime, shown: frozenset[str]) -> None:
        """Show the orders to which something has happened since then, unless they were just shown."""
        now = session.now
        async with self._database.reading() as tx:
            orders = await OrderRepository(tx).of_user(session.user.id, limit=NEWEST_SHOWN)
        for order in reversed(orders):
            times = (order.paid_at, order.ended_at, order.expires_at)
            if order.reference not in shown and any(at is not None and since < at <= now for at in times):
                session.notice = session.t("talk.meanwhile")
                await self._show_status(session, order)

    async def _show_refused(self, session: Session) -> frozenset[str]:
        """Show the orders about which Telegram refused a message, oldest first, and return those that were shown.

        Each is deleted once Telegram has accepted its message: after a crash between the two it is shown again. What
        Telegram doesn't accept now waits until the user writes again.
        """
        async with self._database.reading() as tx:
            # Read again: the user may just have deleted their data.
            missed_orders = await MissedOrderRepository(tx).of_user(session.user.id)
        older, newest = missed_orders[:-MISSED_SHOWN], missed_orders[-MISSED_SHOWN:]
        if older:
            if not isinstance(await session.send(Screen(session.t.plural("talk.missed_older", len(older)))), Delivered):
                return frozenset()
            await self._delete(older)
        shown: list[str] = []
        for missed in newest:
            if not await self._is_shown(session, missed):
                break
            shown.append(missed.reference)
            await self._delete((missed,))
        return frozenset(shown)

    async def _is_shown(self, session: Session, missed: MissedOrder) -> bool:
        """Show one order, and return whether that is settled: Telegram accepted it, or nothing of it can be shown."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get_if_readable(missed.reference)
        if order is None or order.user_id != session.user.id:
            return True
        session.notice = session.t("talk.missed")
        sent = await self._show_status(session, order)
        if isinstance(sent, Invalid):
            # Telegram refuses this status for good, too. It must not keep the user from the orders behind it.
            sent = await session.send(Screen(session.t("talk.missed_elsewhere", reference=order.reference)))
        return isinstance(sent, Delivered)

    async def _delete(self, seen: Sequence[MissedOrder]) -> None:
        async with self._database.transaction() as tx:
            await MissedOrderRepository(tx).delete(seen)
