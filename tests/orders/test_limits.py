"""The limits of one user: which orders count, and whether the time in a rejection is exact."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Rejection
from bot.orders.limits import DAY, HOUR, Limits, check
from bot.orders.order import Order, Phase
from bot.orders.poll_intervals import TRACK_WITHOUT_EXPIRY
from bot.settlement.model import OrderStep
from tests.orders.builders import an_open_order

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
SMALLEST = 20_000
INSTANT = timedelta(microseconds=1)


def ordered(minutes_ago: float, idr: int = 250_000, **changes: Any) -> Order:
    """Return an order whose invoice can be paid for an hour."""
    created_at = NOW - timedelta(minutes=minutes_ago)
    known = {"created_at": created_at, "expires_at": created_at + HOUR, "idr": idr, "expected_idr": idr}
    return an_open_order(**{**known, **changes})


def paid(minutes_ago: float, idr: int = 250_000, **changes: Any) -> Order:
    """Return an order that was paid at once, unless `changes` say otherwise."""
    return ordered(
        minutes_ago, idr, **{"paid_at": NOW - timedelta(minutes=minutes_ago), "step": OrderStep.PAID, **changes}
    )


def refusal(limits: Limits, orders: Sequence[Order], idr: int = SMALLEST, now: datetime = NOW) -> Rejection | None:
    try:
        check(limits, orders, idr, now, smallest=SMALLEST)
    except Rejection as rejection:
        return rejection
    return None


def key_of(limits: Limits, orders: Sequence[Order], idr: int = SMALLEST) -> str | None:
    found = refusal(limits, orders, idr)
    return found.key if found else None


ONE_OPEN = Limits(open_orders=1)


@pytest.mark.parametrize(
    "phase", [Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION, Phase.OPEN]
)
def test_what_may_still_come_to_be_paid_holds_a_place(phase: Phase) -> None:
    assert key_of(ONE_OPEN, [ordered(1, phase=phase)]) == "orders.limits.open"


@pytest.mark.parametrize(
    "order",
    [
        ordered(1, phase=Phase.REFUSED),
        ordered(1, phase=Phase.ABANDONED),
        ordered(1, phase=Phase.DONE, state="FAILED"),
        ordered(1, state="FAILED"),
        ordered(60),
        paid(1),
        paid(1, phase=Phase.DONE, state="COMPLETED"),
        ordered(24 * 60, expires_at=None),
        ordered(24 * 60, expires_at=NOW + DAY),
    ],
)
def test_what_is_over_paid_or_was_never_made_holds_none(order: Order) -> None:
    assert key_of(ONE_OPEN, [order]) is None


def test_every_attempt_counts_towards_the_hour_refused_ones_too() -> None:
    orders = [ordered(59, phase=Phase.REFUSED), ordered(30, phase=Phase.ABANDONED), paid(1)]
    found = refusal(Limits(orders_per_hour=3), orders)
    assert found is not None
    assert (found.key, found.arguments["again"]) == ("orders.limits.hour", NOW + timedelta(minutes=1))
    assert refusal(Limits(orders_per_hour=3), [ordered(60), *orders[1:]]) is None


@pytest.mark.parametrize(
    ("order", "counts"),
    [
        (paid(23 * 60), True),
        (paid(23 * 60, phase=Phase.DONE, state="FAILED"), True),
        (paid(24 * 60), False),
        (paid(24 * 60, paid_at=None), False),
        (paid(72 * 60, paid_at=NOW - HOUR), True),
        (paid(72 * 60, paid_at=NOW - DAY + INSTANT), True),
        (paid(10, paid_at=NOW - DAY), True),
        (ordered(30 * 60, expires_at=None), True),
        (ordered(30 * 60, expires_at=NOW + HOUR), True),
        (ordered(30 * 60, expires_at=NOW), False),
        (ordered(7 * 24 * 60, expires_at=None), False),
        (ordered(30 * 60, expires_at=None, phase=Phase.NEEDS_CONFIRMATION), False),
        (ordered(30 * 60, expires_at=None, phase=Phase.UNRESOLVED), False),
        (ordered(30 * 60, expires_at=None, phase=Phase.DONE), False),
        (ordered(1), True),
        (ordered(61), False),
        (replace(ordered(1, phase=Phase.INTENDED), idr=None), True),
        (ordered(1, phase=Phase.REFUSED), False),
        (ordered(1, phase=Phase.ABANDONED), False),
        (ordered(1, phase=Phase.DONE, state="FAILED"), False),
    ],
)
def test_the_day_counts_what_was_paid_and_what_may_still_be(order: Order, counts: bool) -> None:  # noqa: FBT001
    assert (key_of(Limits(idr_per_day=1_000_000), [order], 1_000_000) is not None) is counts


def test_a_sum_that_does_not_fit_into_the_day_hears_what_would_and_from_when_it_does() -> None:
    orders = [paid(20 * 60, 300_000), paid(10 * 60, 300_000), paid(60, 300_000)]
    found = refusal(Limits(idr_per_day=1_000_000), orders, 500_000)
    assert found is not None
    assert (found.key, found.arguments["remaining"]) == ("orders.amount.day_remaining", 100_000)
    assert found.arguments["again"] == NOW + timedelta(hours=14)


def test_a_sum_above_the_whole_day_hears_the_largest_that_would_be_fine_now() -> None:
    limits = Limits(idr_per_day=1_000_000)
    assert refusal(limits, [], 1_000_000) is None
    found = refusal(limits, [paid(60, 400_000)], 1_000_001)
    assert found is not None
    assert (found.key, found.arguments["remaining"]) == ("orders.amount.above_day", 600_000)
    later = refusal(limits, [paid(60, 990_000)], 1_000_001)
    assert later is not None
    assert (later.key, later.arguments["again"]) == ("orders.amount.above_day_later", NOW + timedelta(hours=23))


def test_zero_is_no_limit() -> None:
    assert Limits().is_unlimited
    assert refusal(Limits(), [ordered(1, 10**12)] * 1000, 10**14) is None


PHASES = st.sampled_from(list(Phase))
ORDERS = st.lists(
    st.builds(
        lambda ago, lasts, phase, is_paid, idr, state: replace(
            ordered(ago, idr, phase=phase, state=state),
            expires_at=None if lasts is None else NOW - timedelta(minutes=ago) + timedelta(seconds=lasts),
            paid_at=NOW - timedelta(minutes=ago) / 2 if is_paid else None,
        ),
        st.floats(0, 8 * 24 * 60),
        st.none() | st.integers(0, 3 * 86_400),
        PHASES,
        st.booleans(),
        st.integers(1, 60_000_000),
        st.sampled_from(["IDLE", "FAILED", "COMPLETED"]),
    ),
    max_size=12,
)
LIMITS = st.builds(
    lambda opened, hour, day: Limits(open_orders=opened, orders_per_hour=hour, idr_per_day=day),
    st.integers(0, 4),
    st.integers(0, 4),
    st.just(0) | st.integers(SMALLEST, 100_000_000),
)


@given(limits=LIMITS, orders=ORDERS, idr=st.integers(SMALLEST, 200_000_000))
def test_at_the_told_moment_it_is_possible_again_and_an_instant_before_it_is_not(
    limits: Limits, orders: list[Order], idr: int
) -> None:
    found = refusal(limits, orders, idr)
    if found is None or "again" not in found.arguments:
        return
    again = found.arguments["again"]
    assert isinstance(again, datetime)
    assert NOW < again <= NOW + TRACK_WITHOUT_EXPIRY
    wished = SMALLEST if found.key == "orders.amount.above_day_later" else idr
    assert refusal(limits, orders, wished, again) is None
    assert refusal(limits, orders, wished, again - INSTANT) is not None


@given(limits=LIMITS, orders=ORDERS, idr=st.integers(SMALLEST, 200_000_000))
def test_the_largest_sum_that_is_told_is_fine_now_and_one_rupiah_more_is_not(
    limits: Limits, orders: list[Order], idr: int
) -> None:
    found = refusal(limits, orders, idr)
    if found is None or "remaining" not in found.arguments:
        return
    remaining = found.arguments["remaining"]
    assert isinstance(remaining, int)
    assert SMALLEST <= remaining < idr
    assert refusal(limits, orders, remaining) is None
    assert refusal(limits, orders, remaining + 1) is not None
