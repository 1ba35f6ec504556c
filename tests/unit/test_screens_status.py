"""The list of orders under way, and what is offered to who comes back to an unpaid one."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.chat.screen import Screen
from bot.chat.screens import requote, status
from bot.domain.money import Amount
from bot.domain.quote import Quote, estimate
from tests.unit.every_screen import NOW, TRANSLATIONS, Seen, an_order, at_each_moment

EN = TRANSLATIONS.get("en")
STANDS = {
    "intended": "Being checked",
    "unknown": "Being checked",
    "unresolved": "Not found yet: an answer is needed",
    "held": "The price has moved: an answer is needed",
    "IDLE": "Waiting for payment",
    "ROUTE_SHOWN": "Waiting for payment",
    "never heard of": "Waiting for payment",
    "LN_INVOICE_PAID": "Payment received",
    "USDT_RECEIVED": "Paid, converting",
    "P2PM_ORDER_CONFIRMED": "Sending rupiah",
    "COMPLETED": "Sent",
    "expired": "Invoice expired",
    "failed unpaid": "Failed, no payment seen",
    "failed expired": "Invoice expired",
    "refused": "Not made",
    "unshown": "Closed, nothing to pay",
    "no longer followed": "No payment seen",
    "failed paid": "Failed after the payment",
}


@pytest.mark.parametrize(("moment", "words"), STANDS.items())
def test_each_order_is_listed_with_where_it_stands(moment: str, words: str) -> None:
    order = dict(at_each_moment())[moment]
    seen = Seen("status", status.screen(EN, [order], NOW))
    assert seen.text == f"Under way\n\nRp500,000 → BCA ••••7890 · ABC2345\n{words}"
    assert [button.label for button in seen.buttons] == ["Open ABC2345", "All orders", "Send rupiah"]
    assert seen.buttons[0].data == "o:ABC2345:card"


@pytest.mark.parametrize(
    ("given", "rupiah_for_one", "said"),
    [
        (Amount("IDR", 500_000), 1_600_000_000, "Now about 31,250 sats; last time it was 29,412 sats."),
        (Amount("IDR", 500_000), 1_800_000_000, "That is 1,634 sats less."),
        (Amount("IDR", 500_000), 1_700_000_000, "The price is the same as last time."),
        (Amount("SAT", 29_412), 1_600_000_000, "That is Rp29,408 less."),
        (Amount("SAT", 29_412), 1_800_000_000, "Now about Rp529,416 would arrive; last time it was Rp500,000."),
    ],
)
def test_a_new_quote_says_what_changed_for_the_payer(given: Amount, rupiah_for_one: int, said: str) -> None:
    order = an_order(given=given)
    worth = estimate(given, Quote(Decimal(rupiah_for_one), NOW))
    assert said in Seen("requote", Screen(requote.difference(EN, order, worth))).text


@pytest.mark.parametrize(
    "never_shown",
    [
        {"sats": None, "idr": None, "bolt11": None},
        {"sats": 99, "idr": 1, "bolt11": None},  # what the service asked for beyond what was agreed
    ],
)
def test_an_order_that_never_had_a_price_is_compared_with_its_review(never_shown: dict[str, Any]) -> None:
    order = replace(an_order(), **never_shown)
    worth = estimate(order.given, Quote(Decimal(1_600_000_000), NOW))
    said = Seen("requote", Screen(requote.difference(EN, order, worth))).text
    assert said == "Now about 31,250 sats; last time it was 29,410 sats. That is 1,840 sats more."
