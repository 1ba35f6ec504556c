"""Quotes: the cost of an amount, when a quote is stale, and how much worse a locked price is than the reviewed one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.money import Amount
from bot.rates.model import estimate, price_drift_percent
from bot.settlement.model import Quote

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
QUOTE = Quote(Decimal(1_700_000_000), NOW)
rates = st.decimals(Decimal(1_000_000), Decimal(10**11), places=4)


def drift(expected: tuple[int, int], locked: tuple[int, int]) -> Decimal:
    return price_drift_percent(expected_sats=expected[0], expected_idr=expected[1], sats=locked[0], idr=locked[1])


def test_rupiah_given_cost_sats_rounded_up() -> None:
    estimated = estimate(Amount("IDR", 250_000), QUOTE)
    assert (estimated.sats, estimated.idr, estimated.fee_idr) == (14_706, 250_000, 5_000)


def test_sats_given_bring_rupiah_rounded_down() -> None:
    estimated = estimate(Amount("SAT", 14_706), QUOTE)
    assert (estimated.sats, estimated.idr) == (14_706, 250_002)


@given(st.integers(1, 10**12), rates)
def test_what_a_user_asks_to_arrive_arrives(idr: int, rate: Decimal) -> None:
    sats = estimate(Amount("IDR", idr), Quote(rate, NOW)).sats
    assert estimate(Amount("SAT", sats), Quote(rate, NOW)).idr >= idr


@pytest.mark.parametrize(("minutes", "stale"), [(0, False), (10, False), (10.1, True), (-60, False)])
def test_a_quote_is_too_old_after_ten_minutes(minutes: float, *, stale: bool) -> None:
    assert QUOTE.is_stale(NOW + timedelta(minutes=minutes)) is stale


def test_drift_is_the_share_that_a_rupiah_has_become_dearer_by() -> None:
    assert drift((10_000, 100_000), (10_100, 100_000)) == 1
    assert drift((10_000, 101_000), (10_000, 100_000)) == 1
    assert drift((10_000, 100_000), (9_900, 100_000)) == -1
    assert drift((10_000, 100_000), (10_000, 100_000)) == 0
