"""What a user is told about many missed orders: lists of those that need attention, and how many others there are."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.infra.i18n import Html
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.buttons import HistoryButton
from bot.orders.history import NEWEST
from bot.orders.order import Order, OrderStatus
from bot.orders.screens.formatting import format_order_line
from bot.orders.screens.open_orders import open_button, status_emoji, status_key

NEED_ATTENTION: Final = frozenset(
    {
        OrderStatus.UNRESOLVED,
        OrderStatus.NEEDS_CONFIRMATION,
        OrderStatus.FAILED_PAID,
        OrderStatus.FAILED_UNKNOWN,
    }
)
"""Money may be lost, or the user has to answer."""


def needs_attention(order: Order, now: datetime) -> bool:
    """Return whether the user must hear of this order by itself: of trouble, a question, or a late payment."""
    is_paid_late = order.expiry_notified and order.is_paid and not order.is_ended
    return order.status(now) in NEED_ATTENTION or order.is_overdue or is_paid_late


def show_list(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return the list of orders that need attention, with a button for each."""
    t = reader.t
    lines = [
        f"{status_emoji(order, reader.now)} {format_order_line(t, order)}\n{t(_status_key(order, reader.now))}"
        for order in orders
    ]
    rows = tuple((open_button(t, order),) for order in orders)
    return Screen(Html("\n\n".join((t("orders.chat.missed_urgent"), *lines))), rows)


def count(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return how many other orders the user missed something about, by status, with a button to all orders."""
    t = reader.t
    counts = Counter((status_emoji(order, reader.now), status_key(order, reader.now)) for order in orders)
    lines = [
        t("orders.chat.missed_count", emoji=emoji, status=t(key), count=number)
        for (emoji, key), number in counts.most_common()
    ]
    text = "\n".join((t.plural("orders.chat.missed_others", len(orders)), *lines))
    return Screen(Html(text), ((Button(t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack()),),))


def _status_key(order: Order, now: datetime) -> str:
    return "orders.status.stuck" if order.is_overdue else status_key(order, now)
