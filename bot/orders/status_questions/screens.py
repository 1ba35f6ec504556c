"""What users see who ask about an order: what they asked, the order's status, and whom they can ask."""

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import HistoryButton, OrderAction
from bot.orders.history import NEWEST
from bot.orders.order import Order, OrderStatus
from bot.orders.screens import order_messages
from bot.orders.screens.formatting import order_button
from bot.users.buttons import send_row

ANSWERS = {
    OrderStatus.WAITING: "orders.asked.waiting",
    OrderStatus.EXPIRED: "orders.asked.expired",
    OrderStatus.PAID: "orders.asked.paid",
    OrderStatus.CONVERTING: "orders.asked.paid",
    OrderStatus.SENDING: "orders.asked.paid",
    OrderStatus.SENT: "orders.asked.sent",
}
"""What is safe to do now, where the status message doesn't say it."""

CANCEL_ANSWERS = {
    OrderStatus.WAITING: "orders.asked.cancel_unpaid",
    OrderStatus.PAID: "orders.asked.cancel_paid",
    OrderStatus.CONVERTING: "orders.asked.cancel_paid",
    OrderStatus.SENDING: "orders.asked.cancel_paid",
}
CANCEL_SHOWN = frozenset(
    {
        *CANCEL_ANSWERS,
        OrderStatus.PLACING,
        OrderStatus.CHECKING,
        OrderStatus.UNRESOLVED,
        OrderStatus.NEEDS_CONFIRMATION,
    }
)
"""The statuses that answer `/cancel`. Orders with other statuses have nothing left to cancel."""


def explain_next_step(reader: Reader, order: Order) -> Html:
    """Return what is safe to do now for a user who asks where the money is."""
    if order.is_overdue or (order.awaits_payment(reader.now) and order.is_ending(reader.now)):
        return reader.t("orders.asked.newest")
    return reader.t(ANSWERS.get(order.status(reader.now), "orders.asked.newest"))


def explain_cancel(reader: Reader, order: Order) -> Html | None:
    """Return how the order can be cancelled, or None if its status message says it."""
    key = CANCEL_ANSWERS.get(order.status(reader.now))
    return reader.t(key) if key else None


def explain_own_invoice(reader: Reader, order: Order) -> Html:
    """Return what to do with the invoice of this order."""
    return reader.t(
        "orders.asked.own_invoice" if order.awaits_payment(reader.now) else "orders.asked.own_invoice_closed"
    )


def explain_unread(t: Translator, *, help_offered: bool) -> Html:
    """Return that nobody has seen a picture or a file."""
    return t("orders.asked.unread_support" if help_offered else "orders.asked.unread")


def show_status(reader: Reader, order: Order, *, help_offered: bool) -> Screen:
    """Return the status message of an order, with the ways to support and to all orders."""
    shown = order_messages.status_screen(reader, order, help_offered=help_offered)
    ask = order_button(reader.t, order, "orders.button.help", OrderAction.HELP)
    has_help = any(button.data == ask.data for row in shown.keyboard for button in row)
    more: Keyboard = ((ask,),) if help_offered and not has_help else ()
    every = Button(reader.t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack())
    return Screen(shown.text, (*shown.keyboard, *more, (every,)))


def show_no_order(t: Translator) -> Screen:
    """Return the answer for a user without orders."""
    return Screen(t("orders.asked.none"), (send_row(t, style=None),))


def show_payee(t: Translator) -> Screen:
    """Return the answer to an LNURL, a Lightning Address or an offer, which Kirim can't pay."""
    return Screen(t("orders.asked.payee"), (send_row(t),))


def show_other_invoice(t: Translator) -> Screen:
    """Return the answer to an invoice that belongs to no order of the user."""
    return Screen(t("orders.asked.other_invoice"), (send_row(t, style=None),))
