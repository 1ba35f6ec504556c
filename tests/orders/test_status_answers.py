"""Which order a message is about, and what else in it is recognised: an invoice, a reference."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.orders.order import Order
from bot.orders.status_handlers import find_invoice, list_mentions, pick_order
from tests.orders.builders import an_open_order, as_sent
from tests.times import NOW


def test_an_invoice_is_found_wherever_it_is_in_the_message() -> None:
    invoice = "lnbcrt500u1" + "q" * 200
    assert find_invoice(invoice) == invoice
    assert find_invoice(f"LIGHTNING:{invoice.upper()}") == invoice
    assert find_invoice(f"please pay {invoice}\nthanks") == invoice
    assert find_invoice(f"lightning:{invoice[:60]}") == invoice[:60]


@pytest.mark.parametrize(
    "text",
    [
        "lnurl1dp68gurn8ghj7um9wfmxjcm99e3k7mf0v9cxj0m385ekvcenxc6r2c35xvukxefcv5mkvv34x5ekzd3ev56nyd3hxqurzepexejxxepnxscrvwfnv9nxzcn9xq6xyefhvgcxxcmyxymnserxfq5fns",
        "lnbc",
        "ln bc 500",
        "500rb bca 1234567890",
    ],
)
def test_other_texts_are_no_invoices(text: str) -> None:
    assert find_invoice(text) is None


def test_a_reference_is_read_in_any_case() -> None:
    assert list_mentions("where is 7kqm2xa") == {"7KQM2XA"}


def of_day(order: Order, days: int) -> Order:
    return replace(order, reference=f"DAYABC{2 + days % 8}", created_at=NOW - timedelta(days=days))


def test_the_newest_order_of_seven_days_is_meant_settled_or_not() -> None:
    sent, older = of_day(as_sent(an_open_order()), 6), of_day(as_sent(an_open_order()), 8)
    assert pick_order([sent, older], NOW) is sent
    assert pick_order([older], NOW) is None
    assert pick_order([sent], NOW, recent=timedelta(0)) is None, "nothing is left to do for it"


def test_an_order_in_progress_comes_before_a_newer_one_and_a_name_before_both() -> None:
    sent, waiting = of_day(as_sent(an_open_order()), 1), of_day(an_open_order(paid_at=NOW), 20)
    assert pick_order([sent, waiting], NOW) is waiting
    assert pick_order([sent, waiting], NOW, f"where is {sent.reference.lower()}") is sent
