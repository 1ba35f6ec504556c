"""The orders that are under way, one line each, with a button to their card."""

from collections.abc import Sequence
from datetime import datetime

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import NEWEST
from bot.orders.order import Order, OrderStatus
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_order_line
from bot.users.screens.buttons import send_row

SHOWN = 8
KEYS = {
    OrderStatus.NEEDS_CONFIRMATION: "status.held",
    OrderStatus.OFFER_OVER: "status.held",
    OrderStatus.WAITING: "status.created",
}
"""Statuses whose words have another key than their name."""

MARKS = {
    OrderStatus.CHECKING: "🔎",
    OrderStatus.UNRESOLVED: "❓",
    OrderStatus.NEEDS_CONFIRMATION: "❓",
    OrderStatus.OFFER_OVER: "❓",
    OrderStatus.SENT: "✅",
    OrderStatus.REFUSED: "✖️",
    OrderStatus.CLOSED: "✖️",
    OrderStatus.EXPIRED: "⌛",
    OrderStatus.GIVEN_UP: "⌛",
    OrderStatus.FAILED_PAID: "❌",
    OrderStatus.FAILED_UNKNOWN: "❌",
    OrderStatus.FAILED_UNPAID: "❌",
}
IN_PROGRESS = "⏳"


def screen(t: Translator, orders: Sequence[Order], now: datetime) -> Screen:
    """The list, or that there's nothing under way."""
    all_orders = (Button(t.plain("button.history"), data=HistoryButton(NEWEST).pack()),)
    if not orders:
        return Screen(t("status.none"), (all_orders, send_row(t)))
    lines = "\n\n".join(f"{format_order_line(t, order)}\n{t(state_key(order, now))}" for order in orders)
    rows = tuple((_open_button(t, order),) for order in orders)
    return Screen(f"{t('status.title')}\n\n{lines}", (*rows, all_orders, send_row(t)))


def _open_button(t: Translator, order: Order) -> Button:
    data = OrderButton(order.reference, OrderAction.RESEND_STATUS).pack()
    return Button(t.plain("status.open", reference=order.reference), data=data)


async def show(session: Session) -> Screen:
    """The person's own orders that have not ended."""
    async with session.desk.store.reading() as tx:
        orders = await OrderRepository(tx).open_of_person(session.person.id, SHOWN)
    return screen(session.t, orders, session.desk.clock.now())


def state_key(order: Order, now: datetime) -> str:
    """Return the key of the few words that say where an order stands."""
    status = order.status(now)
    return KEYS.get(status, f"status.{status}")


def mark(order: Order, now: datetime) -> str:
    """Return the emoji that says the same."""
    return MARKS.get(order.status(now), IN_PROGRESS)
