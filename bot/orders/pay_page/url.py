"""The address of an order's payment page. Who has its token can see the invoice, so it is a secret."""

import re

from bot.orders.order import Order

PATH = "/p/"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
"""The form of what `new_page_token` returns. Nothing else is looked up."""


def page_url(public_url: str, order: Order, locale: str) -> str | None:
    """Return the address where `order` can be paid in a browser, in this language; None if there is no page."""
    if not public_url or order.page_token is None:
        return None
    return f"{public_url}{PATH}{order.page_token}?l={locale}"
