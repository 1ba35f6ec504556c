"""How an order is paid: what a wallet needs, the address of its payment page, and the message to pay with.

Anyone with the token of a payment page can see the invoice, so the token is a secret.
"""

import re
from dataclasses import dataclass, field
from html import unescape

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard
from bot.orders.buttons import OrderAction
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line, order_button
from bot.payments import erc681, qr
from bot.payments.tokens import LIGHTNING_SCHEME, Token

PATH = "/p/"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
"""The form of the tokens of `new_page_token`. Nothing else is looked up."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of tokens: the token, the amount as a payer types it, and the address."""

    token: Token
    amount: str
    to_address: str
    uri: str


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """How an order is paid. `transfer` is None if `link` is a Lightning invoice."""

    qr: str = field(repr=False)
    link: str = field(repr=False)
    text: str = field(repr=False)
    transfer: Transfer | None = None


def get_payment_details(order: Order) -> PaymentDetails:
    """Return how `order` is paid.

    `orders/placement/invoice_check.py` has checked the invoice or deposit. The expiry isn't checked here.

    Raises:
        ValueError: it has neither an invoice nor a deposit.
        DepositCheckError: no money may be sent to its deposit.
    """
    if order.bolt11 is not None:
        return PaymentDetails(qr.invoice_qr_payload(order.bolt11), f"{LIGHTNING_SCHEME}{order.bolt11}", order.bolt11)
    transfer = get_transfer(order)
    return PaymentDetails(transfer.uri, transfer.uri, transfer.to_address, transfer)


def get_transfer(order: Order) -> Transfer:
    """Return the transfer that pays an order by deposit. Raises as `get_payment_details` does."""
    deposit = order.deposit
    if deposit is None or order.sats is None:
        raise ValueError("an order without an invoice and without a deposit can't be paid")
    token = erc681.check_deposit(
        channel=order.channel,
        chain_id=deposit.chain_id,
        token_address=deposit.token_address,
        decimals=deposit.decimals,
        to_address=deposit.to_address,
    )
    return Transfer(
        token=token,
        amount=erc681.format_token_amount(order.sats),
        to_address=deposit.to_address,
        uri=erc681.transfer_uri(token, deposit.to_address, order.sats),
    )


def page_url(public_url: str, order: Order, locale: str) -> str | None:
    """Return the address of the payment page of `order` in this language, or None if there is no page."""
    if not public_url or order.page_token is None:
        return None
    return f"{public_url}{PATH}{order.page_token}?l={locale}"


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
    return f"⏳ {t('orders.status_message.waiting')}"


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
