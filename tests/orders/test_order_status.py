"""The status of an order, whether it can be sent again, and the price that its user saw last."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.orders.order import Order, OrderStatus
from tests.orders.builders import a_deposit_order, an_open_order, orders_in_each_state
from tests.screens import NOW

MOMENTS = dict(orders_in_each_state())
OPEN_STATUSES = {"intended", "unknown", "unresolved", "held", "never heard of", "nameless"}
UNPAID = {"IDLE", "NWC_CONNECTED", "QR_SCANNED", "ROUTE_SHOWN"}


STATUS = {
    "intended": OrderStatus.PLACING,
    "unknown": OrderStatus.CHECKING,
    "unresolved": OrderStatus.UNRESOLVED,
    "refused": OrderStatus.REFUSED,
    "abandoned": OrderStatus.CLOSED,
    "held": OrderStatus.NEEDS_CONFIRMATION,
    "offer over": OrderStatus.OFFER_OVER,
    "IDLE": OrderStatus.WAITING,
    "NWC_CONNECTED": OrderStatus.WAITING,
    "QR_SCANNED": OrderStatus.WAITING,
    "ROUTE_SHOWN": OrderStatus.WAITING,
    "LN_INVOICE_PAID": OrderStatus.PAID,
    "LN_SWAP_PENDING": OrderStatus.CONVERTING,
    "USDT_RECEIVED": OrderStatus.CONVERTING,
    "USDC_SWAPPED": OrderStatus.CONVERTING,
    "P2PM_ORDER_PLACED": OrderStatus.SENDING,
    "P2PM_ORDER_CONFIRMED": OrderStatus.SENDING,
    "IDR_SETTLED": OrderStatus.SENDING,
    "COMPLETED": OrderStatus.SENT,
    "no longer followed": OrderStatus.GIVEN_UP,
    "never heard of": OrderStatus.WAITING,
    "expired": OrderStatus.EXPIRED,
    "failed unpaid": OrderStatus.FAILED_UNPAID,
    "failed expired": OrderStatus.EXPIRED,
    "failed paid": OrderStatus.FAILED_PAID,
    "failed paid between two looks": OrderStatus.FAILED_PAID,
    "failed unknown": OrderStatus.FAILED_UNKNOWN,
    "overdue": OrderStatus.SENDING,
    "nameless": OrderStatus.WAITING,
}


def test_each_moment_of_an_order_has_its_status() -> None:
    assert {moment: order.status(NOW) for moment, order in MOMENTS.items()} == STATUS
    assert set(STATUS.values()) == set(OrderStatus)


@pytest.mark.parametrize("moment", MOMENTS)
def test_whatever_became_of_an_order_it_may_be_sent_again_unless_it_is_undecided_or_payable(moment: str) -> None:
    assert MOMENTS[moment].may_be_sent_again(NOW) == (moment not in OPEN_STATUSES | UNPAID)


def test_an_order_may_be_sent_again_when_its_invoice_is_no_longer_shown_anew() -> None:
    order = an_open_order(expires_at=NOW + timedelta(minutes=10))
    assert not order.may_be_sent_again(NOW + timedelta(minutes=5))
    assert order.may_be_sent_again(NOW + timedelta(minutes=5, seconds=1))
    assert order.may_be_sent_again(NOW + timedelta(minutes=10))


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_order_whose_recipient_is_forgotten_is_never_sent_again(moment: str) -> None:
    assert not replace(MOMENTS[moment], number="", holder=None).may_be_sent_again(NOW)


@pytest.mark.parametrize(
    ("order", "price"),
    [
        (an_open_order(), (29_412, 500_000)),
        (a_deposit_order("btcb"), (29_412, 500_000)),
        (MOMENTS["refused"], (29_410, 500_000)),
        (an_open_order(bolt11=None, sats=99, idr=1), (29_410, 500_000)),
    ],
    ids=["an invoice", "a deposit", "never made", "not what was agreed"],
)
def test_the_last_price_is_the_last_one_that_was_shown(order: Order, price: tuple[int, int]) -> None:
    assert order.last_price == price
