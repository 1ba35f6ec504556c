"""The button to an order's wallet page. It stands under the invoice, and goes when that is taken down."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Keyboard
from bot.orders.order import Order
from bot.orders.pay_page.url import page_url


def rows(t: Translator, order: Order, public_url: str) -> Keyboard:
    """The button in a row of its own; none where there are no pages. The page is in the reader's language."""
    url = page_url(public_url, order, t.locale)
    return () if url is None else ((Button(t.plain("pay.page"), url=url),),)
