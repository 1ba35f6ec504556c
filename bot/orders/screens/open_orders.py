"""The open orders of a user: a line for each, and a button to its status message."""

from collections.abc import Sequence
from datetime import datetime

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.buttons import HistoryButton, OrderAction, OrderButton
from bot.orders.history import NEWEST
from bot.orders.order import Order, OrderStatus
from bot.orders.screens.formatting import format_order_line
from bot.users.buttons import send_row

STATUS_KEYS = {
    OrderStatus.NEEDS_CONFIRMATION: "orders.status.held",
    OrderStatus.WAITING: "orders.status.created",
}
"""The keys of statuses whose texts aren't named like the status."""

STAFF_STATUS_KEYS = {
    OrderStatus.NEEDS_CONFIRMATION: "orders.status.staff_held",
    OrderStatus.UNRESOLVED: "orders.status.staff_unresolved",
}
"""The keys of statuses in which the user has to answer, for staff."""

EMOJI = {
    OrderStatus.CHECKING: "🔎",
    OrderStatus.UNRESOLVED: "❓",
    OrderStatus.NEEDS_CONFIRMATION: "❓",
    OrderStatus.OFFER_OVER: "⌛",
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


def screen(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return the list, or say that there is no open order. Failed ones that aren't settled are open, too."""
    t = reader.t
    all_orders = (Button(t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack()),)
    if not orders:
        return Screen(t("orders.status.none"), (all_orders, send_row(t)))
    lines = "\n\n".join(f"{format_order_line(t, order)}\n{t(status_key(order, reader.now))}" for order in orders)
    rows = tuple((open_button(t, order),) for order in orders)
    send = send_row(t, style=None if any(order.is_in_trouble for order in orders) else "primary")
    return Screen(f"{t('orders.status.title')}\n\n{lines}", (*rows, all_orders, send))


def open_button(t: Translator, order: Order) -> Button:
    """Return the button that shows the status message of an order."""
    data = OrderButton(order.reference, OrderAction.RESEND_STATUS).pack()
    return Button(t.plain("orders.status.open", reference=order.reference), data=data)


def status_key(order: Order, now: datetime) -> str:
    """Return the key of the short text for an order's status, for its user."""
    status = order.status(now)
    return STATUS_KEYS.get(status, f"orders.status.{status}")


def staff_status_key(order: Order, now: datetime) -> str:
    """Return the key of the short text for an order's status, for staff."""
    return STAFF_STATUS_KEYS.get(order.status(now)) or status_key(order, now)


def status_emoji(order: Order, now: datetime) -> str:
    """Return the emoji for an order's status."""
    return EMOJI.get(order.status(now), IN_PROGRESS)
