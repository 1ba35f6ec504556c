"""Conversions between rupiah and sats: exact, and rounded as the service rounds."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.money import rupiah_for_sats, sats_for_rupiah

rates = st.decimals(min_value="0.01", max_value="100000000000", places=8)
sums = st.integers(min_value=1, max_value=10**12)


def test_a_known_sum_comes_to_the_sats_that_the_service_would_ask_for() -> None:
    assert sats_for_rupiah(500_000, Decimal(1_700_000_000)) == 29_412
    assert rupiah_for_sats(29_412, Decimal(1_700_000_000)) == 500_004


def test_a_sum_that_floats_get_wrong_stays_exact() -> None:
    assert math.ceil(34_000 / 1_700_000_000 * 1e8) == 2_001
    assert sats_for_rupiah(34_000, Decimal(1_700_000_000)) == 2_000
    assert sats_for_rupiah(10**30, Decimal(10)) == 10**37


@given(idr=sums, rate=rates)
def test_the_sats_of_a_sum_are_the_fewest_that_are_worth_it(idr: int, rate: Decimal) -> None:
    sats = sats_for_rupiah(idr, rate)
    assert rupiah_for_sats(sats, rate) >= idr
    assert sats == 1 or (sats - 1) * rate < idr * 10**8


@given(sats=sums, rate=rates)
def test_there_and_back_never_costs_more_sats_than_it_began_with(sats: int, rate: Decimal) -> None:
    assert sats_for_rupiah(rupiah_for_sats(sats, rate), rate) <= sats


@given(one=sums, other=sums, rate=rates)
def test_more_rupiah_never_cost_fewer_sats(one: int, other: int, rate: Decimal) -> None:
    less, more = sorted((one, other))
    assert sats_for_rupiah(less, rate) <= sats_for_rupiah(more, rate)
    assert rupiah_for_sats(less, rate) <= rupiah_for_sats(more, rate)


@pytest.mark.parametrize("rate", [Decimal(0), Decimal(-1), Decimal("NaN"), Decimal("Infinity")])
def test_a_rate_that_is_no_positive_number_is_refused(rate: Decimal) -> None:
    with pytest.raises(ValueError, match="rate"):
        sats_for_rupiah(50_000, rate)
    with pytest.raises(ValueError, match="rate"):
        rupiah_for_sats(50_000, rate)
