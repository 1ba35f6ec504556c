"""The page with an order's evidence fits a message, links only valid hashes, and names no person."""

from dataclasses import replace
from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.orders.evidence import MAX_VALUES, NAMES, TIMES, Evidence, evidence_from_json
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.screens import order_messages, order_page
from bot.payments.tokens import ARBITRUM
from bot.settlement.reading import LONGEST_DETAIL, LONGEST_INVOICE
from bot.staff.buttons import LookupButton, LookupPage
from bot.support.screens.case import evidence_button
from bot.support.screens.lookups import show_evidence
from tests.orders.builders import an_open_order, orders_in_each_state, some_evidence
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, label, text

HASH = "0x" + "aB" * 32


def reader(locale: str = "en") -> Reader:
    return Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)


def shown(locale: str = "en", **changes: Any) -> ScreenCase:
    order = an_open_order(evidence=some_evidence(**changes))
    return ScreenCase("evidence", show_evidence(reader(locale), order), ("ABC2345",))


def links(case: ScreenCase) -> list[str]:
    return [button.url for button in case.buttons if button.url]


@pytest.mark.parametrize("locale", LOCALES)
def test_the_payout_reference_comes_first_and_every_text_can_be_copied(locale: str) -> None:
    case = shown(locale)
    check_screen(case)
    copies = [button for button in case.buttons if button.copy]
    assert copies[0].copy == "redeem_5f2c"
    assert text("orders.payout_reference.name", locale) in copies[0].label
    assert len(copies) == 7, "the texts without the long invoice and the merchant"
    places = [case.text.find(each) for each in ("redeem_5f2c", "0xb1", "0x5a", "0x1a", "swap_77", "lnbc", "tenant_1")]
    assert places == sorted(places)
    assert min(places) > 0


def test_the_partners_amount_is_beside_the_agreed_one_without_an_alarm() -> None:
    case = shown(partner_amount_idr=495_000)
    assert "Rp495,000" in case.text
    assert text("support.evidence.agreed", amount="Rp500,000") in case.text
    assert "⚠" not in case.text


def test_only_a_valid_hash_is_put_into_a_link() -> None:
    assert links(shown(swap_tx_hash=HASH, ln_swap_tx_hash=None, partner_burn_tx_hash=None)) == [
        f"https://arbiscan.io/tx/{HASH}"
    ]
    wrong = (
        "",
        "0x",
        HASH[:-1],
        HASH + "0",
        HASH + "\n",
        f"{HASH}/../evil",
        "1" * 66,
        "https://evil.example",
        "\uff10x" + "ab" * 32,
    )
    assert [ARBITRUM.transaction_url(each) for each in wrong] == [None] * len(wrong)
    assert links(shown(swap_tx_hash="../evil", ln_swap_tx_hash="javascript:", partner_burn_tx_hash="0xZZ")) == []
    assert links(shown(ln_swap_id=HASH, swap_tx_hash=None, ln_swap_tx_hash=None, partner_burn_tx_hash=None)) == []


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_whatever_the_service_reports_can_be_sent(name: str, locale: str) -> None:
    hostile = tuple(Evidence(each, NOW if each in TIMES else name[:LONGEST_DETAIL], NOW) for each in NAMES)
    order = an_open_order(evidence=hostile)
    check_screen(ScreenCase("evidence", show_evidence(reader(locale), order), ("ABC2345",)))
    check_screen(ScreenCase("page", order_page.screen(reader(locale), order, (), help_offered=True)))
    failed = replace(dict(orders_in_each_state())["failed paid"], evidence=hostile)
    screen = order_messages.show_notification(OrderNotification.FAILED, reader(locale), failed, help_offered=True)
    check_screen(ScreenCase("failed", screen))


@pytest.mark.parametrize("locale", LOCALES)
def test_more_than_fits_is_left_out_from_the_end_and_the_page_says_so(locale: str) -> None:
    def longest(name: str, number: int) -> Evidence:
        letters = LONGEST_INVOICE if name == "ln_swap_invoice" else LONGEST_DETAIL
        return Evidence(name, f"{number}" + "&" * (letters - 1), NOW)

    full = tuple(longest(name, number) for name in NAMES for number in range(MAX_VALUES) if name not in TIMES)
    case = ScreenCase("evidence", show_evidence(reader(locale), an_open_order(evidence=full)))
    check_screen(case)
    assert text("support.evidence.no_room", locale) in case.text
    assert "2&&" in case.text, "the last payout reference"


def test_a_replaced_value_is_below_the_new_one_and_only_the_new_one_is_copied() -> None:
    newer = Evidence("partner_redeem_id", "redeem_new", NOW)
    order = an_open_order(evidence=(*some_evidence(), newer))
    case = ScreenCase("evidence", show_evidence(reader(), order))
    assert 0 < case.text.find("redeem_new") < case.text.find("redeem_5f2c")
    assert next(each.copy for each in case.buttons if each.copy) == "redeem_new"
    assert order.payout_reference == "redeem_new"


def test_a_merchants_name_is_masked_and_cannot_be_copied() -> None:
    case = shown()
    assert "W••••• S•••" in case.text
    assert "WARUNG" not in case.text
    assert not any("WARUNG" in (button.copy or "") for button in case.buttons)


def test_only_an_order_with_evidence_has_the_button() -> None:
    t = TRANSLATIONS.get("en")
    assert evidence_button(t, None) == evidence_button(t, an_open_order()) == ()
    (button,) = evidence_button(t, an_open_order(evidence=some_evidence()))
    assert button.data == LookupButton(LookupPage.EVIDENCE, "ABC2345").pack()


def failed_message(order: Order, locale: str) -> str:
    screen = order_messages.show_notification(OrderNotification.FAILED, reader(locale), order, help_offered=True)
    return ScreenCase("failed", screen).text


@pytest.mark.parametrize("locale", LOCALES)
def test_a_sender_sees_the_payout_reference_under_the_same_name_everywhere_once_there_is_one(locale: str) -> None:
    failed = dict(orders_in_each_state())["failed paid"]
    line = text("orders.payout_reference", locale, id="redeem_5f2c")
    without = line.removesuffix("redeem_5f2c")
    for order, is_there in ((failed, False), (replace(failed, evidence=some_evidence()), True)):
        page = ScreenCase("page", order_page.screen(reader(locale), order, (), help_offered=True)).text
        for said in (page, failed_message(order, locale)):
            assert (line in said) is is_there
            assert (without in said) is is_there
    assert label("orders.payout_reference.name", locale) in line


def test_a_delayed_payout_names_no_reference() -> None:
    order = replace(dict(orders_in_each_state())["LN_INVOICE_PAID"], evidence=some_evidence())
    screen = order_messages.show_notification(OrderNotification.OVERDUE, reader(), order, help_offered=True)
    assert "redeem_5f2c" not in screen.text


def test_evidence_of_a_later_version_is_left_out_of_the_page() -> None:
    later = evidence_from_json(f'[["later_name","x","{NOW.isoformat()}"]]')
    case = ScreenCase("evidence", show_evidence(reader(), an_open_order(evidence=(*some_evidence(), *later))))
    assert "later_name" not in case.text
