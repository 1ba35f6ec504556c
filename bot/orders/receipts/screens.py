"""A receipt as its picture and caption show it, and the answers to who checks a code."""

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from urllib.parse import quote

from bot.infra.i18n import LOCALES, Translator, as_html, other_locales
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, in_rows
from bot.orders.buttons import OrderAction, TellButton
from bot.orders.order import Order
from bot.orders.receipts.codes import Receipt, ReceiptLinks, form_address
from bot.orders.screens.formatting import format_price, format_sent, order_button
from bot.recipients.formatting import format_destination, format_full_method, format_method, kind_key
from bot.recipients.holders import mask_name
from bot.recipients.numbers import mask_number, to_international
from bot.settlement.model import EWALLET
from bot.users.buttons import send_row

BRAND = "Kirim"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFacts:
    """The texts of the picture, as plain text. What its readers have to understand is in all languages.

    The caller masks recipients, because the picture is made for forwarding. Texts may come from outside and have any
    length. Characters that the fonts lack are left out, and long texts are wrapped, shrunk or cut. Fields that identify
    a receipt aren't in `repr`, so that they aren't logged.
    """

    brand: str
    title: str
    """That the rupiah were sent."""
    amount: str
    recipient: str
    """Bank or e-wallet, with the last digits of the number."""
    rows: tuple[tuple[str, str], ...] = field(repr=False)
    """Pairs of label and value, from the top."""
    meanings: tuple[str, ...]
    """What "sent" means, in each language."""
    code_label: str
    code: str = field(repr=False)
    """The code with dashes, as `new_code` returns it."""
    place: str
    """Where the code is checked."""
    verify_url: str | None = field(default=None, repr=False)
    """The address in the QR code. None for no QR code."""


def build_facts(t: Translator, order: Order, code: str, zone: tzinfo, links: ReceiptLinks) -> ReceiptFacts:
    """Return the texts of the picture. If there are web pages, the code is checked there, so nobody needs Telegram.

    The holder's name isn't among them: anyone can type a name, and only the answer to the code has room to say so.
    """
    named = (("reference", order.reference), *((key, t.date_time(at, zone)) for key, at in _times(order)))
    return ReceiptFacts(
        brand=BRAND,
        title=_in_all(t, "title"),
        amount=format_amount(t, order),
        recipient=f"→ {format_destination(order.method, order.number)}",
        rows=tuple((_in_all(t, key), value) for key, value in named),
        meanings=tuple(f"{_format_sent(each, order)} {each.plain('orders.receipt.look')}" for each in (t, *t.others)),
        code_label=_in_all(t, "check_code"),
        code=code,
        place=_format_place(links),
        verify_url=links.to_page(code) or links.to_chat(code),
    )


def _in_all(t: Translator, key: str) -> str:
    return " · ".join(t.in_all(f"orders.receipt.{key}"))


def _format_sent(t: Translator, order: Order) -> str:
    return t.plain(f"orders.status_message.sent_{kind_key(order.method)}", name=format_method(order.method))


def _format_place(links: ReceiptLinks) -> str:
    bot = f"@{links.bot}" if links.bot else BRAND
    return form_address(links.public_url) if links.public_url else f"/verify → {bot}"


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
    paid = format_price(t, order.sats or order.expected_sats, order.channel)
    facts += [(t.plain("orders.receipt.reference"), order.reference), (t.plain("orders.receipt.paid"), paid)]
    facts += [(t.plain(f"orders.receipt.{key}"), t.date_time(at, zone)) for key, at in _times(order)]
    return tuple(facts)


def format_meaning(t: Translator, order: Order) -> str:
    """Return what "sent" means, and what a receipt proves."""
    holder_remark = t.plain("orders.receipt.name_given") if mask_name(order.holder or "") else ""
    return " ".join(filter(None, (_format_sent(t, order), holder_remark, t.plain("orders.receipt.proves"))))


def build_keyboard(t: Translator, order: Order, check: str | None = None, *offers: Button) -> Keyboard:
    """Return the buttons under a receipt. Telegram doesn't forward them. `check` is the address of its web page."""
    first = (Button(t.plain("orders.button.check"), url=check),) if check else ()
    tell = order_button(t, order, "orders.button.tell", OrderAction.TELL)
    remind = order_button(t, order, "orders.button.remind", OrderAction.REMIND)
    own = () if order.hides_recipient else (tell, remind)
    return in_rows((*first, *own, *send_row(t, "orders.button.new", style=None), *offers))


def as_text(t: Translator, order: Order, receipt: Receipt, links: ReceiptLinks, *offers: Button) -> Screen:
    """Return the message if the picture can't be sent. A button asks for the picture later."""
    code = f"{t('orders.receipt.check_code')}: <code>{receipt.code}</code> · {as_html(_format_place(links))}"
    ask_later = order_button(t, order, "orders.button.receipt", OrderAction.RECEIPT)
    return Screen(f"{format_sent(t, order)}\n\n{code}", build_keyboard(t, order, None, ask_later, *offers))


def show_message_to_recipient(t: Translator, order: Order, code: str, links: ReceiptLinks, told: Translator) -> Screen:
    """Return the message to forward to the recipient, in the language of `told`, with the buttons in that of `t`.

    The link to WhatsApp has the whole number of an e-wallet. So this screen is only for the sender's own chat, and is
    never stored. Telegram forwards buttons only if all are links. The buttons of languages keep this one back.
    """
    values = {
        "amount": format_amount(told, order),
        "destination": format_destination(order.method, order.number),
        "check": links.to_page(code) or links.to_chat(code) or code,
    }
    number = to_international(order.number) if kind_key(order.method) == EWALLET else None
    link = f"https://wa.me/{(number or '').removeprefix('+')}?text={quote(told.plain('orders.tell.text', **values))}"
    others = [
        Button(LOCALES[each].name, data=TellButton(order.reference, each).pack()) for each in other_locales(told.locale)
    ]
    return Screen(
        told("orders.tell.text", **values), in_rows((Button(t.plain("orders.tell.whatsapp"), url=link), *others))
    )


def format_recipient(t: Translator, order: Order) -> str:
    """Return whom the rupiah were sent to, with the masked name."""
    where, name = format_destination(order.method, order.number), mask_name(order.holder or "")
    return t.plain("orders.receipt.to", recipient=f"{name} · {where}" if name else where)


def _times(order: Order) -> list[tuple[str, datetime]]:
    """Return when it was paid and sent. The payment's time is left out if we only learnt of it at the order's end."""
    ended_at = order.ended_at or order.created_at
    paid = [("paid_at", order.paid_at)] if order.paid_at is not None and order.paid_at < ended_at else []
    return [*paid, ("sent_at", ended_at)]


EXAMPLE = "K7QM-2XPA-9RTW"


def ask_for_code(t: Translator) -> Screen:
    """Ask for the code to verify."""
    return Screen(t("orders.verify.ask", example=EXAMPLE))


def explain_in_group(t: Translator, bot: str) -> Screen:
    """Explain how to verify a code in a group, where the bot asks no questions."""
    return Screen(t("orders.verify.how", command=f"/verify@{bot} {EXAMPLE}"))


def show_genuine(t: Translator, order: Order, zone: tzinfo) -> Screen:
    """Say that the receipt is genuine, and show its facts for comparison."""
    facts = "\n".join(t("orders.verify.fact", label=label, value=value) for label, value in format_rows(t, order, zone))
    meaning = as_html(format_meaning(t, order))
    return Screen(
        "\n\n".join(
            (
                t("orders.verify.true", amount=format_amount(t, order)),
                facts,
                t("orders.verify.compare"),
                meaning,
            )
        )
    )


def show_unknown(t: Translator) -> Screen:
    """Say that no receipt has the code."""
    return Screen(t("orders.verify.false"))


def show_limit(reader: Reader, again: datetime) -> Screen:
    """Say that there were too many wrong codes, and when the user can try again."""
    return Screen(reader.t("orders.verify.too_many", again=reader.format_time(again)))
