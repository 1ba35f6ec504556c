"""Buttons of an order, as screens show them."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Style
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.order import Order


def order_button(t: Translator, order: Order, label: str, action: OrderAction, style: Style | None = None) -> Button:
    """Return a button that acts on `order`. `label` is the key of its text."""
    return Button(t.plain(label), data=OrderButton(order.reference, action).pack(), style=style)
