"""The orders that are under way, one line each, with a button to their card."""

from collections.abc import Sequence
from datetime import datetime

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import NEWEST
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.orders.resend import is_given_up, is_lapsed
from bot.orders.screens import card
from bot.orders.screens.formatting import format_order_line
from bot.users.screens.buttons import send_row

SHOWN = 8
OF_PHASE = {
    Phase.INTENDED: "status.checking",
    Phase.UNKNOWN: "status.checking",
    Phase.UNRESOLVED: "status.unresolved",
    Phase.HELD: "status.held",
    Phase.REFUSED: "status.refused",
    Phase.UNSHOWN: "status.closed",
}
"""What is said of an order that has no card."""

MARKS = {
    "status.checking": "🔎",
    "status.unresolved": "❓",
    "status.held": "❓",
    "status.sent": "✅",
    "status.refused": "✖️",
    "status.closed": "✖️",
    "status.expired": "⌛",
    "status.given_up": "⌛",
    "status.failed_paid": "❌",
    "status.failed_unknown": "❌",
    "status.failed_unpaid": "❌",
}
UNDER_WAY = "⏳"


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
    """The key of the few words that say where an order stands."""
    if order.phase in OF_PHASE:
        return OF_PHASE[order.phase]
    if card.has_failed(order):
        return f"status.failed_{order.failure}"
    if is_lapsed(order, now):
        return "status.expired"
    if is_given_up(order):
        return "status.given_up"
    return f"status.{order.step.name.lower()}"


def mark(order: Order, now: datetime) -> str:
    """The same at a glance."""
    return MARKS.get(state_key(order, now), UNDER_WAY)
