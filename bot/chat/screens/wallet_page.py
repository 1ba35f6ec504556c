"""The button to an order's wallet page. It stands under the invoice, and goes when that is taken down."""

from bot.chat.screen import Button, Keyboard
from bot.domain.order import Order
from bot.domain.wallet_page import page_url
from bot.i18n import Translator


def rows(t: Translator, order: Order, public_url: str) -> Keyboard:
    """The button in a row of its own; none where there are no pages. The page is in the reader's language."""
    url = page_url(public_url, order, t.locale)
    return () if url is None else ((Button(t.plain("pay.page"), url=url),),)
