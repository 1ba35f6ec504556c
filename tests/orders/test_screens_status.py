"""The list of open orders, and the buttons of an unpaid order."""

from decimal import Decimal

import pytest

from bot.checkout import screens
from bot.core.money import Amount
from bot.infra.telegram.ui.screen import Screen
from bot.orders.screens.order_lists import staff_status_key, status_key
from bot.rates.model import estimate
from bot.settlement.model import Quote
from tests.orders.builders import an_open_order, orders_in_each_state
from tests.screens import NOW, ScreenCase
from tests.texts import TRANSLATIONS, text

EN = TRANSLATIONS.get("en")


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
