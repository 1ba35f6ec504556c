"""An order, and its way to pay, as messages show them."""

from bot.infra.i18n import Html, Translator
from bot.orders.order import Order
from bot.payments.tokens import name_key
from bot.recipients.formatting import format_destination


def format_channel(t: Translator, channel: str) -> str:
    """Return the name of a way to pay."""
    return t.plain(name_key(channel))


def format_order_line(t: Translator, order: Order) -> Html:
    """Return the line that every message about an order has: amount, recipient, reference."""
    return t(
        "order.line",
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
    )
