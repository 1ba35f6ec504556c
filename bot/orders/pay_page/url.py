"""The address of an order's wallet page. Its token is all that it takes to see the invoice, so it is a secret."""

import re

from bot.orders.order import Order

PATH = "/p/"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
"""What `new_page_token` makes; nothing else is looked up."""


def page_url(public_url: str, order: Order, locale: str) -> str | None:
    """Where `order` can be paid in a browser, in the language of `locale`; None where there is no such page."""
    if not public_url or order.page_token is None:
        return None
    return f"{public_url}{PATH}{order.page_token}?l={locale}"
