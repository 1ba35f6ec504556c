"""A receipt and the answer to its code show the same facts, and nothing that can be misused."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest

from bot.infra.i18n import LOCALES
from bot.orders.order import Order
from bot.orders.receipts import screens
from bot.orders.receipts.codes import ReceiptLinks
from bot.orders.receipts.drawing import render_receipt
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.screens.formatting import format_sent
from bot.settlement.model import PayoutMethod
from tests.examples import some
from tests.orders.builders import a_receipt, an_open_order, as_sent
from tests.orders.payers import LINK
from tests.screens import HOSTILE_NAMES, JAKARTA, ScreenCase
from tests.settlement.builders import LISTED_GOPAY
from tests.texts import TRANSLATIONS, label, text

ENGLISH, INDONESIAN = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
BOT = "kirim_sandbox_bot"
LINKS = ReceiptLinks(BOT)
WITH_PAGES = ReceiptLinks(BOT, "https://pay.example/kirim")
ORDER = as_sent(an_open_order(holder="Budi Santoso"))


def facts(
    order: Order = ORDER, locale: str = "en", zone: ZoneInfo = JAKARTA, links: ReceiptLinks = LINKS
) -> ReceiptFacts:
    return screens.build_facts(TRANSLATIONS.get(locale), order, a_receipt().code, zone, links)


def both(key: str, first: str = "en", **values: str) -> tuple[str, ...]:
    """Return a text in both languages, the reader's first."""
    return tuple(label(key, each, **values) for each in sorted(LOCALES, key=lambda each: each != first))


def test_the_picture_says_in_both_languages_what_its_readers_have_to_understand() -> None:
    shown = facts()
    assert (shown.title, shown.amount) == (" · ".join(both("orders.receipt.title")), "Rp500,000")
    assert shown.recipient == "→ BCA ••••7890"
    assert shown.rows == (
        (" · ".join(both("orders.receipt.reference")), "ABC2345"),
        (" · ".join(both("orders.receipt.paid_at")), "17 Aug 2026, 10:03 WIB"),
        (" · ".join(both("orders.receipt.sent_at")), "17 Aug 2026, 10:05 WIB"),
    )
    said = zip(both("orders.status_message.sent_bank"), both("orders.receipt.look"), strict=True)
    assert shown.meanings == tuple(map(" ".join, said))
    assert shown.code_label == " · ".join(both("orders.receipt.check_code"))
    assert (shown.code, shown.place) == ("K7QM-2XPA-9RTW", f"/verify → @{BOT}")


@pytest.mark.parametrize("name", some(HOSTILE_NAMES))
def test_a_receipt_can_be_drawn_whatever_the_bank_and_the_holder_are_called(name: str) -> None:
    order = replace(as_sent(an_open_order(PayoutMethod("x", name, "bank"))), holder=name)
    for locale in LOCALES:
        assert render_receipt(facts(order, locale)).startswith(b"\x89PNG")


@pytest.mark.parametrize("locale", LOCALES)
def test_neither_number_nor_name_nor_invoice_can_be_read_from_what_is_forwarded_or_told(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    shown = facts(locale=locale)
    words_shown = (*shown.rows, shown.recipient, format_sent(t, ORDER))
    everything = f"{words_shown} {screens.show_genuine(t, ORDER, JAKARTA).text}"
    for secret in ("567890", "Budi", "Santoso", "lnbcrt", "cm1", "1001", "0123456789"):
        assert secret not in everything


def test_a_stranger_is_told_exactly_what_stands_on_the_receipt() -> None:
    told = ScreenCase("true", screens.show_genuine(ENGLISH, ORDER, JAKARTA)).text.split("\n\n")
    rows = screens.format_rows(ENGLISH, ORDER, JAKARTA)
    assert told[0] == text("orders.verify.true", amount="Rp500,000")
    assert told[1].split("\n") == [text("orders.verify.fact", label=name, value=value) for name, value in rows]
    assert told[2:] == [text("orders.verify.compare"), screens.format_meaning(ENGLISH, ORDER)]
    assert {value for _, value in facts().rows} <= {value for _, value in rows}


def test_the_payer_of_a_link_is_offered_no_message_to_the_asker() -> None:
    (row,) = screens.build_keyboard(ENGLISH, replace(ORDER, origin=LINK))
    assert [button.data for button in row] == ["new"]


def told(order: Order, locale: str = "id", links: ReceiptLinks = WITH_PAGES) -> tuple[str, str, list[str | None]]:
    """Return the message to the recipient, the address of WhatsApp, and the data of the other buttons."""
    shown = screens.show_message_to_recipient(ENGLISH, order, a_receipt().code, links, TRANSLATIONS.get(locale))
    whatsapp, *others = [button for row in shown.keyboard for button in row]
    assert whatsapp.label == label("orders.tell.whatsapp")
    return ScreenCase("told", shown).text, whatsapp.url or "", [each.data for each in others]


@pytest.mark.parametrize(
    ("order", "locale", "number", "destination"),
    [
        (ORDER, "id", "", "BCA ••••7890"),
        (as_sent(an_open_order(LISTED_GOPAY, number="081234567890")), "en", "6281234567890", "GoPay ••••7890"),
    ],
)
def test_a_message_to_the_recipient_has_sum_bank_digits_and_check(
    order: Order, locale: str, number: str, destination: str
) -> None:
    message, whatsapp, others = told(order, locale)
    check = "https://pay.example/kirim/verify/K7QM2XPA9RTW"
    amount = TRANSLATIONS.get(locale).rupiah(500_000)
    assert message == text("orders.tell.text", locale, amount=amount, destination=destination, check=check)
    address = urlsplit(whatsapp)
    assert (address.netloc, address.path) == ("wa.me", f"/{number}")
    assert parse_qs(address.query) == {"text": [message]}
    assert order.number not in message
    assert others == [f"tell:ABC2345:{other}" for other in LOCALES if other != locale]


@pytest.mark.parametrize("name", some(HOSTILE_NAMES))
def test_a_message_to_the_recipient_can_be_sent_whatever_the_bank_is_called(name: str) -> None:
    message, whatsapp, _ = told(replace(ORDER, method=PayoutMethod("x", name, "bank")))
    assert parse_qs(urlsplit(whatsapp).query, strict_parsing=True) == {"text": [message]}
    assert len(whatsapp) < 2_048
    assert not set(message) & set("\u202e\u2066\u2067\u200f\x00")
