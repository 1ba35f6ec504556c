"""What to pay, and how: the QR, the invoice's text or the deposit's parts, the locked figures, the expiry."""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from html import unescape

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard
from bot.orders.order import Order
from bot.orders.payable import transfer_of
from bot.orders.screens.formatting import format_order_line
from bot.payments import qr

CAPTION = 1024
"""Telegram's limit of a caption, in UTF-16 units after its markup is taken out."""

TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Payment:
    """A picture to scan with what belongs under it; what doesn't fit there follows as a message."""

    payload: str
    caption: str
    keyboard: Keyboard
    follow_up: str | None = None


def payment(t: Translator, order: Order, now: datetime, zone: tzinfo, phrase: str | None) -> Payment:
    """How `order` is paid. The order has been judged payable (`orders/placement/invoice_check.py`).

    Wherever there's something to pay to stands the person's `phrase`, by which they know that it comes from us.
    """
    mark = f"\n\n{t('pay.phrase', phrase=phrase)}" if phrase else ""
    if order.bolt11 is not None:
        return _lightning(t, order, order.bolt11, format_clock(t, order.expires_at or now, zone), mark)
    return _deposit(t, order, zone, mark)


def _figures(t: Translator, order: Order) -> dict[str, object]:
    return {
        "sats": t.sats(order.sats or 0),
        "rate": t.rate(order.btc_idr) if order.btc_idr else "-",
        "line": format_order_line(t, order),
    }


def _lightning(t: Translator, order: Order, bolt11: str, until: Html, mark: str) -> Payment:
    head = t("pay.lightning", **_figures(t, order), at=until) + mark
    short = t("pay.short", line=format_order_line(t, order), sats=t.sats(order.sats or 0), at=until) + mark
    text = t("pay.invoice_text", invoice=bolt11)
    payload = qr.invoice_qr_payload(bolt11)
    # The card below has all the figures, so a long invoice may take their place here.
    for caption in (f"{head}\n\n{text}", f"{short}\n\n{text}"):
        if length(caption) <= CAPTION:
            return Payment(payload, caption, ())
    # Only the picture is taken down at expiry, so the text says by itself how long it is good for.
    alone = t("pay.invoice_alone", line=format_order_line(t, order), at=until, invoice=bolt11)
    return Payment(payload, head, (), follow_up=alone + mark)


def length(html: str) -> int:
    """A text's length as Telegram counts it: UTF-16 units, without the markup."""
    return len(unescape(TAG.sub("", html)).encode("utf-16-le")) // 2


def _deposit(t: Translator, order: Order, zone: tzinfo, mark: str) -> Payment:
    transfer = transfer_of(order)
    token, amount = transfer.token, transfer.amount
    caption = t(
        "pay.deposit",
        **_figures(t, order),
        amount=amount,
        symbol=token.symbol,
        network=token.chain.name,
        chain_id=Html(str(token.chain.id)),
        contract=token.contract,
        address=transfer.to_address,
    )
    return Payment(
        payload=transfer.uri,
        caption=caption + _until(t, order, zone) + mark,
        keyboard=(
            (
                Button(t.plain("pay.copy_address"), copy=transfer.to_address),
                Button(t.plain("pay.copy_amount"), copy=amount),
            ),
        ),
    )


def _until(t: Translator, order: Order, zone: tzinfo) -> str:
    """The live service sets deposits no limit in time; where there is one, it's said."""
    if order.expires_at is None:
        return ""
    return f"\n\n{t('pay.until', at=format_clock(t, order.expires_at, zone))}"
