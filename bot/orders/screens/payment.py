"""The message to pay with: the QR code, the price, the expiry, the status, and the invoice or deposit."""

import re
from dataclasses import dataclass
from html import unescape

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard
from bot.orders.buttons import OrderAction
from bot.orders.order import Order
from bot.orders.page_url import page_url
from bot.orders.payment_details import get_transfer
from bot.orders.screens.formatting import format_order_line, order_button
from bot.payments import qr

MAX_CAPTION = 1024
"""Telegram's limit of a caption, in UTF-16 units without the markup."""

TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class PaymentMessage:
    """The text of a QR code, the caption of its picture, and a second message for what doesn't fit there.

    A chat shows the end of a message that is taller than the screen. So a long caption is above its picture.
    """

    payload: str
    caption: str
    keyboard: Keyboard = ()
    caption_above: bool = False
    follow_up: str | None = None


def build_payment(reader: Reader, order: Order, phrase: str | None) -> PaymentMessage:
    """Return how `order` is paid. `orders/placement/invoice_check.py` has checked the invoice or deposit.

    The user's `phrase` is in each message with a way to pay, so that they know that it comes from us.
    """
    t = reader.t
    mark = f"\n{t('users.pay.phrase', phrase=phrase)}" if phrase else ""
    if order.bolt11 is not None:
        return _lightning(t, order, order.bolt11, reader.format_clock(order.expires_at or reader.now), mark)
    return _deposit(reader, order, mark)


def _lightning(t: Translator, order: Order, bolt11: str, until: Html, mark: str) -> PaymentMessage:
    """Return the message with an invoice. It is folded, so that the QR code and the sum are seen together."""
    price = t("orders.pay.lightning", line=format_order_line(t, order), sats=t.sats(order.sats or 0), at=until)
    head = f"{price}\n{_status(t)}{mark}"
    payload = qr.invoice_qr_payload(bolt11)
    caption = f"{head}\n{t('orders.pay.invoice_text', invoice=bolt11)}"
    if caption_length(caption) <= MAX_CAPTION:
        return PaymentMessage(payload, caption)
    # The text is a message of its own, so it also says until when it can be paid.
    alone = t("orders.pay.invoice_alone", line=format_order_line(t, order), at=until, invoice=bolt11)
    return PaymentMessage(payload, head, follow_up=alone + mark)


def _status(t: Translator) -> str:
    """Return the line with the status. An order that no longer waits for its payment has no such message."""
    return f"⏳ {t('orders.card.waiting')}"


def caption_length(html: str) -> int:
    """Return the length of a text as Telegram counts it: UTF-16 units, without the markup."""
    return len(unescape(TAG.sub("", html)).encode("utf-16-le")) // 2


def _deposit(reader: Reader, order: Order, mark: str) -> PaymentMessage:
    """Return the message with a deposit. The sum, token and network are the last lines, right above the QR code.

    An order by invoice is polled every few seconds until the invoice expires. A deposit is polled up to ten minutes
    apart, so its message has a button that asks now.
    """
    t, transfer = reader.t, get_transfer(order)
    token, amount = transfer.token, transfer.amount
    caption = t(
        "orders.pay.deposit",
        line=format_order_line(t, order),
        amount=amount,
        sats=t.sats(order.sats or 0),
        symbol=token.symbol,
        network=token.chain.name,
        chain_id=Html(str(token.chain.id)),
        contract=token.contract,
        address=transfer.to_address,
        status=Html(f"{_status(t)}{_until(reader, order)}{mark}"),
    )
    return PaymentMessage(
        payload=transfer.uri,
        caption=caption,
        caption_above=True,
        keyboard=(
            (
                Button(t.plain("orders.pay.copy_address"), copy=transfer.to_address),
                Button(t.plain("orders.pay.copy_amount"), copy=amount),
            ),
            (order_button(t, order, "orders.button.refresh", OrderAction.REFRESH_STATUS),),
        ),
    )


def _until(reader: Reader, order: Order) -> str:
    """Return the text that says until when a deposit can be paid, or "". The live service sets no limit."""
    if order.expires_at is None:
        return ""
    return f" {reader.t('orders.pay.until', at=reader.format_clock(order.expires_at))}"


def page_row(t: Translator, order: Order, public_url: str) -> Keyboard:
    """Return the button to the order's payment page in the reader's language, or no button if there are no pages."""
    url = page_url(public_url, order, t.locale)
    return () if url is None else ((Button(t.plain("orders.pay.page"), url=url),),)
