"""The list of open orders, and the buttons of an unpaid order."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.checkout import screens
from bot.core.money import Amount
from bot.core.zones import PRESUMED
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.screens.order_lists import show_open_orders, staff_status_key, status_emoji, status_key
from bot.rates.model import estimate
from bot.settlement.model import Quote
from tests.orders.builders import ORDER_LINE, an_open_order, orders_in_each_state
from tests.screens import NOW, ScreenCase
from tests.texts import TRANSLATIONS, label, text

EN = TRANSLATIONS.get("en")
STANDS = {
    "intended": "placing",
    "unknown": "checking",
    "unresolved": "unresolved",
    "held": "needs_confirmation",
    "offer over": "offer_over",
    "IDLE": "waiting",
    "ROUTE_SHOWN": "waiting",
    "never heard of": "waiting",
    "LN_INVOICE_PAID": "paid",
    "USDT_RECEIVED": "converting",
    "P2PM_ORDER_CONFIRMED": "sending",
    "COMPLETED": "sent",
    "expired": "expired",
    "failed unpaid": "failed_unpaid",
    "failed expired": "expired",
    "refused": "refused",
    "abandoned": "closed",
    "no longer followed": "given_up",
    "failed paid": "failed_paid",
    "failed unknown": "failed_unknown",
}


@pytest.mark.parametrize(("moment", "state"), STANDS.items())
def test_each_order_is_listed_with_where_it_stands(moment: str, state: str) -> None:
    order = dict(orders_in_each_state())[moment]
    reader = Reader(EN, PRESUMED, NOW)
    seen = ScreenCase("status", show_open_orders(reader, [order]))
    assert seen.text == f"{text('orders.status.title')}\n\n{ORDER_LINE}\n{text(f'orders.status.{state}')}"
    assert [button.label for button in seen.buttons] == [
        f"{status_emoji(order, NOW)} Rp500,000 → BCA ••••7890 · {reader.format_day(order.created_at)}",
        label("orders.button.history"),
        label("users.button.send"),
    ]
    assert seen.buttons[0].data == "o:ABC2345:status"


@pytest.mark.parametrize("moment", ["held", "unresolved", "offer over", "IDLE", "failed paid"])
def test_staff_never_read_that_they_have_to_answer_a_users_question(moment: str) -> None:
    order = dict(orders_in_each_state())[moment]
    mine, theirs = (text(key(order, NOW)) for key in (status_key, staff_status_key))
    assert (mine != theirs) is (moment in {"held", "unresolved"})
    assert "your" not in theirs


@pytest.mark.parametrize(
    ("given", "rupiah_for_one", "said"),
    [
        (
            Amount("IDR", 500_000),
            1_600_000_000,
            text("checkout.requote.costs_more", before="29,412 sats", after="31,250 sats", difference="1,838 sats"),
        ),
        (
            Amount("IDR", 500_000),
            1_800_000_000,
            text("checkout.requote.costs_less", before="29,412 sats", after="27,778 sats", difference="1,634 sats"),
        ),
        (Amount("IDR", 500_000), 1_700_000_000, text("checkout.requote.same")),
        (
            Amount("SAT", 29_412),
            1_600_000_000,
            text("checkout.requote.brings_less", before="Rp500,000", after="Rp470,592", difference="Rp29,408"),
        ),
        (
            Amount("SAT", 29_412),
            1_800_000_000,
            text("checkout.requote.brings_more", before="Rp500,000", after="Rp529,416", difference="Rp29,416"),
        ),
    ],
)
def test_a_new_quote_says_what_changed_for_the_payer(given: Amount, rupiah_for_one: int, said: str) -> None:
    order = an_open_order(requested_amount=given)
    estimated = estimate(given, Quote(Decimal(rupiah_for_one), NOW))
    assert ScreenCase("requote", Screen(screens.difference(EN, order, estimated))).text == said


@pytest.mark.parametrize(
    "never_shown",
    [
        {"sats": None, "idr": None, "bolt11": None},
        {"sats": 99, "idr": 1, "bolt11": None},  # an invoice for more than was agreed
    ],
)
def test_an_order_that_never_had_a_price_is_compared_with_its_review(never_shown: dict[str, Any]) -> None:
    order = replace(an_open_order(), **never_shown)
    estimated = estimate(order.requested_amount, Quote(Decimal(1_600_000_000), NOW))
    said = ScreenCase("requote", Screen(screens.difference(EN, order, estimated))).text
    assert said == text(
        "checkout.requote.costs_more", before="29,410 sats", after="31,250 sats", difference="1,840 sats"
    )
