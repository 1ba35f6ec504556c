"""The address of an order's payment page. Anyone with its token can see the invoice, so the token is a secret."""

import re

from bot.orders.order import Order

PATH = "/p/"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
"""The form of the tokens of `new_page_token`. Nothing else is looked up."""


def page_url(public_url: str, order: Order, locale: str) -> str | None:
    """Return the address of the payment page of `order` in this language, or None if there is no page."""
    if not public_url or order.page_token is None:
        return None
    return f"{public_url}{PATH}{order.page_token}?l={locale}"
