"""The receipt of a completed order: the texts of the picture, its caption and its buttons.

Users forward it. So it contains nothing private: numbers and names are masked, and the user's phrase isn't in it.
"""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.orders.buttons import OrderAction
from bot.orders.order import Order
from bot.orders.page_url import form_address
from bot.orders.receipts.codes import Receipt, ReceiptLinks
from bot.orders.receipts.picture import ReceiptFacts
from bot.orders.screens.formatting import format_order_line, order_button, repeat_button
from bot.payments.erc681 import format_token_amount
from bot.payments.tokens import TOKENS
from bot.recipients.formatting import format_destination, format_full_method, kind_key
from bot.recipients.holders import mask_name
from bot.recipients.matching import mask_number

BRAND = "Kirim"


def build_facts(t: Translator, order: Order, code: str, zone: tzinfo, links: ReceiptLinks) -> ReceiptFacts:
    """Return the texts of the picture. If there are web pages, the code is checked there, so nobody needs Telegram."""
    return ReceiptFacts(
        brand=BRAND,
        title=t.plain("orders.receipt.title"),
        amount=format_amount(t, order),
        subtitle=t.plain("orders.receipt.to", recipient=_recipient(order)),
        rows=format_rows(t, order, zone),
        explanation=format_meaning(t, order),
        code_label=t.plain("orders.receipt.code"),
        code=code,
        code_hint=_format_hint(t, links),
        verify_url=links.to_page(code) or links.to_chat(code),
    )


def format_amount(t: Translator, order: Order) -> str:
    """Return the rupiah that were sent."""
    return t.rupiah(order.idr or order.expected_idr)


def format_rows(t: Translator, order: Order, zone: tzinfo) -> tuple[tuple[str, str], ...]:
    """Return the label and value of each public fact of a completed order. Deleted data is left out."""
    kind = kind_key(order.method)
    facts = [(t.plain(f"orders.receipt.at_{kind}"), format_full_method(order.method))]
    if order.has_recipient:
        facts.append((t.plain(f"orders.receipt.number_{kind}"), mask_number(order.number)))
    if name := mask_name(order.holder or ""):
        facts.append((t.plain("orders.receipt.holder"), name))
    facts += [(t.plain("orders.receipt.reference"), order.reference), (t.plain("orders.receipt.paid"), _paid(t, order))]
    facts += [(t.plain(f"orders.receipt.{key}"), t.date_time(at, zone)) for key, at in _times(order)]
    return tuple(facts)


def format_meaning(t: Translator, order: Order) -> str:
    """Return what "sent" means, and what a receipt proves."""
    meaning = t.plain(f"orders.receipt.means_{kind_key(order.method)}")
    holder_remark = t.plain("orders.receipt.name_given") if mask_name(order.holder or "") else ""
    return " ".join(filter(None, (meaning, holder_remark, t.plain("orders.receipt.proves"))))


def format_sent(t: Translator, order: Order) -> Html:
    """Return that the rupiah were sent."""
    return t(f"orders.notification.sent_{kind_key(order.method)}", line=format_order_line(t, order))


def format_caption(t: Translator, order: Order, receipt: Receipt, links: ReceiptLinks) -> Html:
    """Return the caption of the picture, which is forwarded with it."""
    sent, code, page = format_sent(t, order), receipt.code, links.to_page(receipt.code)
    if page is not None:
        return t("orders.receipt.caption_page", sent=sent, code=code, url=page)
    return t("orders.receipt.caption", sent=sent, code=code, bot=_bot_name(links.bot))


def build_keyboard(t: Translator, order: Order) -> Keyboard:
    """Return the button to send again. Telegram doesn't forward it with the picture."""
    resend = repeat_button(t, order, "orders.button.resend", OrderAction.RESEND)
    return ((resend,),) if order.can_be_repeated else ()


def as_text(t: Translator, order: Order, receipt: Receipt) -> Screen:
    """Return the message if the picture can't be sent. A button asks for the picture later."""
    code = f"{t('orders.receipt.code')}: <code>{receipt.code}</code>"
    ask_later = order_button(t, order, "orders.button.receipt", OrderAction.RECEIPT)
    return Screen(f"{format_sent(t, order)}\n\n{code}", (*build_keyboard(t, order), (ask_later,)))


def _recipient(order: Order) -> str:
    where = format_destination(order.method, order.number)
    name = mask_name(order.holder or "")
    return f"{name} · {where}" if name else where


def _paid(t: Translator, order: Order) -> str:
    """Return what the user paid: sats, or a token."""
    token, sats = TOKENS.get(order.channel), order.sats or order.expected_sats
    return f"{format_token_amount(token, sats)} {token.symbol}" if token else t.sats(sats)


def _times(order: Order) -> list[tuple[str, datetime]]:
    """Return when it was paid and sent. The payment's time is left out if we only learnt of it at the order's end."""
    ended_at = order.ended_at or order.created_at
    paid = [("paid_at", order.paid_at)] if order.paid_at is not None and order.paid_at < ended_at else []
    return [*paid, ("sent_at", ended_at)]


def _format_hint(t: Translator, links: ReceiptLinks) -> str:
    if links.public_url:
        return t.plain("orders.receipt.hint_page", address=form_address(links.public_url))
    return t.plain("orders.receipt.hint", bot=_bot_name(links.bot))


def _bot_name(bot: str) -> str:
    return f"@{bot}" if bot else BRAND
