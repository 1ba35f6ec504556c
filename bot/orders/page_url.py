"""The addresses of an order's web pages: its payment page, and the page where anyone can check its receipt.

Anyone with the token of a payment page can see the invoice, so the token is a secret.
"""

import re
from typing import Final

from bot.orders.order import Order

PATH = "/p/"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
"""The form of the tokens of `new_page_token`. Nothing else is looked up."""

VERIFY_PATH: Final = "/verify/"


def page_url(public_url: str, order: Order, locale: str) -> str | None:
    """Return the address of the payment page of `order` in this language, or None if there is no page."""
    if not public_url or order.page_token is None:
        return None
    return f"{public_url}{PATH}{order.page_token}?l={locale}"


def receipt_url(public_url: str, compact_code: str) -> str:
    """Return the address where anyone can check the receipt with this code, which has no dashes.

    It names no language, because its reader isn't the sender. The page is in the language of the reader's browser.
    """
    return f"{public_url}{VERIFY_PATH}{compact_code}"


def form_address(public_url: str) -> str:
    """Return the address where a code can be entered, as people type it: `pay.example.com/verify`."""
    return f"{public_url}{VERIFY_PATH}".partition("://")[2].rstrip("/")
