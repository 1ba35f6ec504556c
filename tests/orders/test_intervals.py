"""An order is polled often while changes are expected, then less and less, and finally never."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.orders.order import Order, Phase
from bot.orders.poll_intervals import next_poll_at, payable_until
from bot.settlement.model import OrderStep
from tests.orders.builders import an_order

MADE = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
FIVE = timedelta(seconds=5)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
LIGHTNING = an_order(service_id="svc", phase=Phase.OPEN, state="IDLE", created_at=MADE, expires_at=MADE + HOUR)
DEPOSIT = replace(LIGHTNING, channel="btcb", expires_at=None)
PAID = replace(LIGHTNING, step=OrderStep.PAID, paid_at=MADE + timedelta(minutes=1))


def gap(order: Order, age: timedelta, interval: timedelta = FIVE) -> timedelta | None:
    look = next_poll_at(order, MADE + age, interval)
    return None if look is None else look - MADE - age


def test_an_expired_order_is_looked_at_less_and_less_often_for_a_day() -> None:
    gaps = [gap(LIGHTNING, HOUR + timedelta(minutes=minutes)) for minutes in (0, 1, 10, 60, 600, 1440)]
    assert gaps == [FIVE, FIVE, *(timedelta(seconds=number) for number in (30, 180, 600, 600))]
    assert gap(LIGHTNING, HOUR + DAY + timedelta(seconds=1)) is None


def test_a_deposit_is_followed_from_when_it_could_first_be_paid() -> None:
    accepted = replace(DEPOSIT, payable_since=MADE + 20 * HOUR)
    assert gap(accepted, 23 * HOUR) == FIVE
    assert gap(accepted, 24 * HOUR) == 3 * timedelta(minutes=1)
    assert gap(accepted, 20 * HOUR + 7 * DAY) == timedelta(minutes=10)
    assert gap(accepted, 23 * HOUR + 7 * DAY + SECOND) is None
    assert payable_until(accepted) == MADE + 20 * HOUR + 7 * DAY
    assert payable_until(DEPOSIT) == MADE + 7 * DAY


def test_a_paid_order_is_followed_until_it_ends_however_long_that_takes() -> None:
    assert gap(PAID, 365 * DAY) == timedelta(minutes=10)
    assert gap(replace(PAID, state="COMPLETED"), HOUR) is None
    assert gap(replace(PAID, state="FAILED"), HOUR) is None


@given(
    st.sampled_from([LIGHTNING, DEPOSIT, PAID]),
    st.timedeltas(timedelta(0), 30 * DAY),
    st.timedeltas(timedelta(seconds=1), DAY),
)
def test_no_order_is_looked_at_sooner_than_the_interval_but_for_its_expiry(
    order: Order, age: timedelta, interval: timedelta
) -> None:
    wait = gap(order, age, interval)
    left = HOUR - age if order is LIGHTNING and age < HOUR else interval
    assert wait is None or wait >= min(interval, max(left, SECOND))


def test_an_order_is_looked_at_right_after_its_expiry_whatever_the_interval() -> None:
    assert gap(LIGHTNING, timedelta(minutes=59), HOUR) == timedelta(minutes=1)
    assert gap(LIGHTNING, HOUR - timedelta(milliseconds=1), FIVE) == SECOND
    assert gap(LIGHTNING, HOUR, FIVE) == FIVE
    assert gap(PAID, timedelta(minutes=59), HOUR) == HOUR


def test_an_offer_is_over_five_minutes_before_its_invoice_or_after_a_day() -> None:
    held = replace(LIGHTNING, phase=Phase.NEEDS_CONFIRMATION)
    assert not held.is_offer_over(MADE + timedelta(minutes=55))
    assert held.is_offer_over(MADE + timedelta(minutes=55, seconds=1))
    assert held.is_offer_over(MADE + HOUR)
    assert not replace(held, expires_at=None).is_offer_over(MADE + DAY - FIVE)
    assert replace(held, expires_at=None).is_offer_over(MADE + DAY)
