"""An order, its way to pay and its buttons, as screens show them."""

import re
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import clip
from bot.infra.telegram.ui.screen import Button, Style
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.order import Order
from bot.payments.erc681 import format_token_amount
from bot.payments.tokens import TOKENS, name_key
from bot.recipients.formatting import format_destination, format_method, kind_key

REASON_SHOWN = 200

REFUSALS: Final = {
    "number": re.compile(r"\brecipientDetails\b"),
    "destination": re.compile(r"\bpartnerBank(?:Code|Name)\b"),
    "cap": re.compile(r"\b(?:daily|monthly)\b.*\bcap"),
    "amount": re.compile(r"\b(?:idr|sat)Amount\b|\bmaxAmountTransfer\b"),
}
"""What a refusal is about, by the words that the service has for it (settlement API, 4.5). It has no codes."""


def format_channel(t: Translator, channel: str) -> str:
    """Return the name of a way to pay."""
    return t.plain(name_key(channel))


def format_price(t: Translator, sats: int, channel: str) -> str:
    """Return what a payer pays, in what they pay with: "31,243 sats", "0.00031243 cbBTC"."""
    token = TOKENS.get(channel)
    return t.sats(sats) if token is None else f"{format_token_amount(sats)} {token.symbol}"


def format_full_price(t: Translator, sats: int, channel: str) -> str:
    """Return what a payer pays and how: "31,243 sats · Lightning", "0.00031243 cbBTC on Base"."""
    price = format_token_amount(sats) if channel in TOKENS else f"{t.sats(sats)} ·"
    return f"{price} {format_channel(t, channel)}"


def format_price_line(t: Translator, order: Order) -> Html:
    """Return the line with what was paid, is to be paid, or was reviewed before the service has locked a price."""
    kind = "paid" if order.is_paid else "price" if order.has_shown_price else "reviewed"
    sats = order.sats if order.sats is not None and kind != "reviewed" else order.expected_sats
    return t(f"orders.price.{kind}", price=format_full_price(t, sats, order.channel))


def format_order_line(t: Translator, order: Order) -> Html:
    """Return the line that every message about an order has: amount, recipient, reference."""
    return t(
        "orders.line",
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
    )


def explain_refusal(t: Translator, reason: str) -> Html:
    """Return why the service refused an order, in the reader's language if it is known. Else quote the service."""
    about = next((name for name, words in REFUSALS.items() if words.search(reason)), None)
    return t(f"orders.refusal.{about}") if about else t("orders.refusal.quoted", reason=clip(reason, REASON_SHOWN))


def format_sent(t: Translator, order: Order, line: Html | None = None) -> Html:
    """Return that the rupiah were sent, below the line about the order."""
    key = f"orders.notification.sent_{kind_key(order.method)}"
    return t(key, line=line or format_order_line(t, order), name=format_method(order.method))


def format_failed_payout_policy(t: Translator, url: str) -> tuple[Html, ...]:
    """Return the line with the policy on failed payouts in a tuple. The tuple is empty if there is no policy."""
    return (t("orders.policy.failed", url=url),) if url else ()


def format_payout_reference(t: Translator, order: Order) -> tuple[Html, ...]:
    """Return the line with the payout reference in a tuple. The tuple is empty until the service reports one."""
    return (t("orders.payout_reference", id=order.payout_reference),) if order.payout_reference else ()


def format_payer(t: Translator, order: Order) -> Html:
    """Return the line that leads staff to the payer, or says why nothing does."""
    payer = order.payer
    if payer.user_id is not None:
        return t("orders.payer.user", link=Html(f"tg://user?id={payer.user_id}"))
    if payer.secret_hash is None:
        return t("orders.payer.deleted")
    return t("orders.payer.page_contact" if order.contact else "orders.payer.page", order=order.reference)


def order_button(t: Translator, order: Order, label: str, action: OrderAction, style: Style | None = None) -> Button:
    """Return a button that acts on `order`. `label` is the key of its text."""
    return Button(t.plain(label), data=OrderButton(order.reference, action).pack(), style=style)


def repeat_button(t: Translator, order: Order, label: str, action: OrderAction, style: Style | None = None) -> Button:
    """Return a button that begins the same request again. An order from a link leads back to the link."""
    if order.hides_recipient:
        return order_button(t, order, "orders.button.open_link", OrderAction.OPEN_LINK, style)
    return order_button(t, order, label, action, style)
