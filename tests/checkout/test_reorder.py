"""When the same wish may be placed once more, and against which price it is compared."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.checkout.draft import Ask
from bot.checkout.reorder import is_same_wish
from bot.core.money import Amount
from bot.orders.order import Order
from bot.orders.resend import last_price, may_be_sent_again
from bot.settlement.steps import Step
from tests.architecture.every_screen import BCA, GOPAY, NOW, a_deposit, a_draft, an_order, at_each_moment

MOMENTS = dict(at_each_moment())
STILL_TO_COME = {"intended", "unknown", "unresolved", "held", "never heard of", "nameless"}
UNPAID = {"IDLE", "NWC_CONNECTED", "QR_SCANNED", "ROUTE_SHOWN"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_whatever_became_of_an_order_it_may_be_sent_again_unless_it_is_undecided_or_payable(moment: str) -> None:
    assert may_be_sent_again(MOMENTS[moment], NOW) == (moment not in STILL_TO_COME | UNPAID)


def test_an_order_may_be_sent_again_from_the_very_moment_its_invoice_expires() -> None:
    order = an_order(expires_at=NOW + timedelta(seconds=1))
    assert not may_be_sent_again(order, NOW)
    assert may_be_sent_again(order, NOW + timedelta(seconds=1))


def test_a_deposit_without_an_expiry_stays_payable_until_nobody_follows_it() -> None:
    deposit = a_deposit("cbbtc")
    assert not may_be_sent_again(deposit, NOW + timedelta(days=6))
    assert may_be_sent_again(replace(deposit, step=Step.PAID), NOW)
    assert may_be_sent_again(MOMENTS["no longer followed"], NOW)


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_order_whose_recipient_is_forgotten_is_never_sent_again(moment: str) -> None:
    assert not may_be_sent_again(replace(MOMENTS[moment], number="", holder=None), NOW)


@pytest.mark.parametrize(
    ("order", "price"),
    [
        (an_order(), (29_412, 500_000)),
        (a_deposit("btcb"), (29_412, 500_000)),
        (MOMENTS["refused"], (29_410, 500_000)),
        (an_order(bolt11=None, sats=99, idr=1), (29_410, 500_000)),
    ],
    ids=["an invoice", "a deposit", "never made", "not what was agreed"],
)
def test_the_last_price_is_the_last_one_that_was_shown(order: Order, price: tuple[int, int]) -> None:
    assert last_price(order) == price


def test_two_drafts_are_one_wish_while_all_that_was_answered_is_the_same() -> None:
    draft = a_draft()
    assert is_same_wish(draft, a_draft(id="another", quote=None, revision=1, channel="cbbtc"))
    assert is_same_wish(draft, a_draft(method=replace(BCA, cap=1)))
    others = ({"ask": Ask.AMOUNT}, {"method": GOPAY}, {"method": None}, {"number": "1"}, {"holder": None})
    for changed in (*others, {"amount": Amount("IDR", 1)}, {"amount": Amount("SAT", 500_000)}):
        assert not is_same_wish(draft, a_draft(**changed)), changed
