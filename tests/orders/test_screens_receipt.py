"""A receipt and the answer to its code show the same facts, and nothing that can be misused."""

import io
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from PIL import Image

from bot.infra.i18n import LOCALES
from bot.orders.order import Order
from bot.orders.receipts.codes import ReceiptLinks
from bot.orders.receipts.drawing import render_receipt
from bot.orders.receipts.picture import ReceiptFacts
from bot.orders.receipts.screens import receipt, verify
from bot.recipients.formatting import format_full_method
from bot.settlement.model import PayoutMethod
from tests.examples import some
from tests.orders.builders import a_deposit_order, a_receipt, an_open_order, as_sent
from tests.pictures import qr_texts
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY
from tests.texts import TRANSLATIONS, label, text

ENGLISH, INDONESIAN = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
BOT = "kirim_sandbox_bot"
LINKS = ReceiptLinks(BOT)
WITH_PAGES = ReceiptLinks(BOT, "https://pay.example/kirim")
ORDER = as_sent(an_open_order(holder="Budi Santoso"))


def facts(
    order: Order = ORDER, locale: str = "en", zone: ZoneInfo = JAKARTA, links: ReceiptLinks = LINKS
) -> ReceiptFacts:
    return receipt.build_facts(TRANSLATIONS.get(locale), order, a_receipt().code, zone, links)


def explanation(*keys: str, locale: str = "en") -> str:
    return " ".join(label(key, locale) for key in keys)


def test_a_receipt_in_english() -> None:
    shown = facts()
    assert (shown.title, shown.amount) == (label("orders.receipt.title"), "Rp500,000")
    assert shown.subtitle == label("orders.receipt.to", recipient="B••• S•••••• · BCA ••••7890")
    assert shown.rows == (
        (label("orders.receipt.at_bank"), "BCA · BANK CENTRAL ASIA"),
        (label("orders.receipt.number_bank"), "••••7890"),
        (label("orders.receipt.holder"), "B••• S••••••"),
        (label("orders.receipt.reference"), "ABC2345"),
        (label("orders.receipt.paid"), "29,412 sats"),
        (label("orders.receipt.paid_at"), "17 Aug 2026, 10:03 WIB"),
        (label("orders.receipt.sent_at"), "17 Aug 2026, 10:05 WIB"),
    )
    assert shown.explanation == explanation(
        "orders.receipt.means_bank", "orders.receipt.name_given", "orders.receipt.proves"
    )
    assert shown.code == "K7QM-2XPA-9RTW"
    assert shown.code_hint == label("orders.receipt.hint", bot=f"@{BOT}")


def test_a_receipt_in_indonesian_and_in_its_readers_zone() -> None:
    shown = facts(locale="id", zone=ZoneInfo("Asia/Jayapura"))
    assert (shown.title, shown.amount) == (label("orders.receipt.title", "id"), "Rp500.000")
    assert shown.subtitle == label("orders.receipt.to", "id", recipient="B••• S•••••• · BCA ••••7890")
    assert dict(shown.rows)[label("orders.receipt.sent_at", "id")] == "17 Agu 2026 12.05 WIT"
    assert dict(shown.rows)[label("orders.receipt.paid", "id")] == "29.412 sats"
    told = ("orders.receipt.means_bank", "orders.receipt.name_given", "orders.receipt.proves")
    assert shown.explanation == explanation(*told, locale="id")


def test_an_e_wallet_is_called_one() -> None:
    shown = facts(as_sent(an_open_order(LISTED_GOPAY, number="081234567890", holder=None)))
    assert shown.rows[:2] == (
        (label("orders.receipt.at_ewallet"), "GoPay"),
        (label("orders.receipt.number_ewallet"), "••••7890"),
    )
    assert shown.explanation == explanation("orders.receipt.means_ewallet", "orders.receipt.proves")
    assert shown.subtitle == label("orders.receipt.to", recipient="GoPay ••••7890")


@pytest.mark.parametrize(("channel", "paid"), [("cbbtc", "0.00029412 cbBTC"), ("btcb", "0.00029412 BTCB")])
def test_what_was_paid_by_deposit_is_the_token(channel: str, paid: str) -> None:
    assert dict(facts(as_sent(a_deposit_order(channel))).rows)[label("orders.receipt.paid")] == paid


def test_a_name_that_nobody_gave_is_no_line_and_no_promise() -> None:
    shown = facts(replace(ORDER, holder=None))
    assert label("orders.receipt.holder") not in dict(shown.rows)
    assert shown.explanation == explanation("orders.receipt.means_bank", "orders.receipt.proves")


def test_a_forgotten_recipient_leaves_the_rest_standing() -> None:
    shown = facts(replace(ORDER, number="", holder=None))
    assert shown.subtitle == label("orders.receipt.to", recipient="BCA")
    names = ("at_bank", "reference", "paid", "paid_at", "sent_at")
    assert [each for each, _ in shown.rows] == [label(f"orders.receipt.{name}") for name in names]


def test_a_payment_first_seen_at_its_end_is_given_no_time() -> None:
    """The bot was down, so the time at which it saw the payment isn't the time of the payment."""
    late = replace(ORDER, paid_at=NOW + timedelta(hours=1))
    assert [each for each, _ in facts(late).rows][-2:] == [
        label("orders.receipt.paid"),
        label("orders.receipt.sent_at"),
    ]


def test_a_long_name_of_a_bank_stands_there_once_and_whole() -> None:
    name = "BANK PEMBANGUNAN DAERAH NUSA TENGGARA TIMUR"
    assert format_full_method(PayoutMethod("999", name, "bank")) == name
    assert format_full_method(LISTED_BCA) == "BCA · BANK CENTRAL ASIA"


def test_the_qr_code_opens_the_bot_with_the_code() -> None:
    picture = Image.open(io.BytesIO(render_receipt(facts())))
    third = picture.convert("L").resize((picture.width // 3, picture.height // 3))
    for shown in (picture, third):
        assert qr_texts(shown) == [f"https://t.me/{BOT}?start=v_K7QM2XPA9RTW"]


def test_with_web_pages_nobody_needs_telegram_to_check_it() -> None:
    shown = facts(links=WITH_PAGES)
    assert shown.verify_url == "https://pay.example/kirim/verify/K7QM2XPA9RTW"
    assert shown.code_hint == label("orders.receipt.hint_page", address="pay.example/kirim/verify")
    assert qr_texts(Image.open(io.BytesIO(render_receipt(shown)))) == [shown.verify_url]
    caption = receipt.format_caption(ENGLISH, ORDER, a_receipt(), WITH_PAGES)
    assert shown.verify_url in caption
    assert "K7QM-2XPA-9RTW" in caption


def test_without_the_bots_name_there_is_no_link_to_send_anybody_to() -> None:
    assert facts(links=ReceiptLinks("")).verify_url is None
    assert facts(links=ReceiptLinks("")).code_hint == label("orders.receipt.hint", bot="Kirim")


@pytest.mark.parametrize("name", some(HOSTILE_NAMES))
def test_a_receipt_can_be_drawn_whatever_the_bank_and_the_holder_are_called(name: str) -> None:
    order = replace(as_sent(an_open_order(PayoutMethod("x", name, "bank"))), holder=name)
    for locale in LOCALES:
        assert render_receipt(facts(order, locale)).startswith(b"\x89PNG")


@pytest.mark.parametrize("locale", LOCALES)
def test_neither_number_nor_name_nor_invoice_can_be_read_from_what_is_forwarded_or_told(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    shown = facts(locale=locale)
    words_shown = (*shown.rows, shown.subtitle, receipt.format_caption(t, ORDER, a_receipt(), LINKS))
    everything = f"{words_shown} {verify.show_genuine(t, ORDER, JAKARTA).text}"
    for secret in ("567890", "Budi", "Santoso", "lnbcrt", "cm1", "1001", "0123456789"):
        assert secret not in everything


def test_a_stranger_is_told_exactly_what_stands_on_the_receipt() -> None:
    told = ScreenCase("true", verify.show_genuine(ENGLISH, ORDER, JAKARTA)).text.split("\n\n")
    shown = facts()
    assert told[0] == text("orders.verify.true", amount="Rp500,000")
    assert told[1].split("\n") == [text("orders.verify.fact", label=name, value=value) for name, value in shown.rows]
    assert told[2:] == [text("orders.verify.compare"), shown.explanation]
    assert len(told) == 4


def test_answers_have_no_buttons_of_their_own() -> None:
    answers = (
        verify.show_genuine(ENGLISH, ORDER, JAKARTA),
        verify.show_unknown(ENGLISH),
        verify.explain_in_group(ENGLISH, BOT),
    )
    assert all(answer.keyboard == () for answer in answers)


def test_a_false_code_is_not_repeated() -> None:
    assert ScreenCase("false", verify.show_unknown(INDONESIAN)).text == text("orders.verify.false", "id")


def test_the_receipt_offers_the_same_again_once() -> None:
    buttons = [(button.label, button.data) for row in receipt.build_keyboard(ENGLISH, ORDER) for button in row]
    assert buttons == [
        (label("orders.button.resend"), "o:ABC2345:resend"),
    ]
