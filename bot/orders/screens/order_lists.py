"""Lists of orders: the open ones, all of a user's in pages, and those that a user missed."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import NEWEST, HistoryButton, OrderAction, OrderButton
from bot.orders.history import HistoryPage
from bot.orders.order import Order, OrderStatus
from bot.orders.screens.formatting import format_order_line
from bot.recipients.formatting import format_destination
from bot.users.buttons import send_row

ASKED = frozenset({OrderStatus.NEEDS_CONFIRMATION, OrderStatus.UNRESOLVED})
"""The statuses in which the user has to answer. Staff see other texts for them."""

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
LONGEST_BUTTON: Final = 64


def show_open_orders(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return the list, or say that there is no open order. Failed ones that aren't settled are open, too."""
    t = reader.t
    all_orders = (Button(t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack()),)
    if not orders:
        return Screen(t("orders.status.none"), (all_orders, send_row(t)))
    entries = [describe_open(reader, order) for order in orders]
    lines = "\n\n".join(line for line, _ in entries)
    rows = tuple((button,) for _, button in entries)
    send = send_row(t, style=None if any(order.is_in_trouble for order in orders) else "primary")
    return Screen(f"{t('orders.status.title')}\n\n{lines}", (*rows, all_orders, send))


def describe_open(reader: Reader, order: Order) -> tuple[str, Button]:
    """Return what an open order is and its status, in two lines, and the button that shows it."""
    line = f"{format_order_line(reader.t, order)}\n{reader.t(status_key(order, reader.now))}"
    return line, _button(reader, order, OrderAction.RESEND_STATUS)


def _button(reader: Reader, order: Order, action: OrderAction) -> Button:
    """Return the button that leads to an order. It names the sum, the recipient and the day."""
    label = reader.t.plain(
        "orders.history.button",
        mark=status_emoji(order, reader.now),
        amount=reader.t.rupiah(order.last_price[1]),
        destination=format_destination(order.method, order.number),
        day=reader.format_day(order.created_at),
    )
    return Button(clip(label, LONGEST_BUTTON), data=OrderButton(order.reference, action).pack())


def status_key(order: Order, now: datetime) -> str:
    """Return the key of the short text for an order's status, for its user."""
    return f"orders.status.{order.status(now)}"


def staff_status_key(order: Order, now: datetime) -> str:
    """Return the key of the short text for an order's status, for staff."""
    status = order.status(now)
    return f"orders.status.staff_{status}" if status in ASKED else f"orders.status.{status}"


def status_emoji(order: Order, now: datetime) -> str:
    """Return the emoji for an order's status."""
    return EMOJI.get(order.status(now), IN_PROGRESS)


def show_history(reader: Reader, page: HistoryPage) -> Screen:
    """Return a page of the list, the newest order first, or say that there are no orders yet."""
    t = reader.t
    if not page.orders:
        return Screen(t("orders.history.none"), (send_row(t),))
    orders = "\n".join(_entry(reader, order) for order in page.orders)
    rows = tuple((_button(reader, order, OrderAction.SHOW_PAGE),) for order in page.orders)
    send = send_row(t, style=None if any(order.is_in_trouble for order in page.orders) else "primary")
    return Screen(f"{t('orders.history.title')}\n\n{orders}", (*rows, *_page_buttons(t, page), send))


def _entry(reader: Reader, order: Order) -> Html:
    t, now = reader.t, reader.now
    _, rupiah = order.last_price
    return t(
        "orders.history.entry",
        mark=status_emoji(order, now),
        amount=t.rupiah(rupiah),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
        day=reader.format_day(order.created_at),
        state=t(status_key(order, now)),
    )


UNPAID_SHOWN: Final = 8


def show_unpaid(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return the unpaid orders that count, each with its way to pay and to drop it, if it can be paid in the chat."""
    t, now = reader.t, reader.now
    entries, rows = list[Html](), list[tuple[Button, ...]]()
    for order in orders[:UNPAID_SHOWN]:
        until, status = reader.format_time(order.offer_ends_at), t(status_key(order, now))
        entries.append(t("orders.limits.entry", line=format_order_line(t, order), status=status, until=until))
        if order.awaits_payment(now):
            amount = t.rupiah(order.last_price[1])
            pay, drop = (t.plain(f"orders.button.{name}", amount=amount) for name in ("pay", "drop_unpaid"))
            rows.append(
                (
                    Button(pay, data=OrderButton(order.reference, OrderAction.RESEND_STATUS).pack()),
                    Button(drop, data=OrderButton(order.reference, OrderAction.DROP_UNPAID).pack()),
                )
            )
    return Screen(Html("\n\n".join(("\n".join(entries), t("orders.limits.followed")))), tuple(rows))


def _page_buttons(t: Translator, page: HistoryPage) -> Keyboard:
    """Return buttons to the neighbouring pages. The one between them shows the position, and refreshes the page."""
    if page.newer is None and page.older is None:
        return ()
    last = page.before + len(page.orders)
    here = t.plain("orders.history.here", first=page.before + 1, last=last, total=page.total)
    newer = () if page.newer is None else (_page_button(t.plain("orders.history.newer"), page.newer),)
    older = () if page.older is None else (_page_button(t.plain("orders.history.older"), page.older),)
    return ((*newer, _page_button(here, page.first), *older),)


def _page_button(label: str, first: str) -> Button:
    return Button(label, data=HistoryButton(first).pack())


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


def show_missed(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return the list of orders that need attention, with a button for each."""
    t = reader.t
    lines = [
        f"{status_emoji(order, reader.now)} {format_order_line(t, order)}\n{t(_missed_key(order, reader.now))}"
        for order in orders
    ]
    rows = tuple((_button(reader, order, OrderAction.RESEND_STATUS),) for order in orders)
    return Screen(Html("\n\n".join((t("orders.chat.missed_urgent"), *lines))), rows)


def count_missed(reader: Reader, orders: Sequence[Order]) -> Screen:
    """Return how many other orders the user missed something about, by status, with a button to all orders."""
    t = reader.t
    counts = Counter((status_emoji(order, reader.now), status_key(order, reader.now)) for order in orders)
    lines = [
        t("orders.chat.missed_count", emoji=emoji, status=t(key), count=number)
        for (emoji, key), number in counts.most_common()
    ]
    text = "\n".join((t.plural("orders.chat.missed_others", len(orders)), *lines))
    return Screen(Html(text), ((Button(t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack()),),))


def _missed_key(order: Order, now: datetime) -> str:
    return "orders.status.overdue" if order.is_overdue else status_key(order, now)
