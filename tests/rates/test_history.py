"""Thinning the history keeps the lowest and the highest rate, and gaps are recognised."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from bot.rates.model import ChartPeriod, RateHistory, RatePoint, make_history, thin_points
from bot.settlement.model import Quote

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
TWO_MINUTES = timedelta(minutes=2)


def at(minutes: float, rate: int = 1_600_000_000) -> RatePoint:
    """Return the time this many minutes ago."""
    return RatePoint(NOW - timedelta(minutes=minutes), Decimal(rate))


def looking_back(*seen: RatePoint, period: ChartPeriod = ChartPeriod.DAY, rate: int = 1_600_000_000) -> RateHistory:
    return make_history(period, seen, Quote(Decimal(rate), NOW))


def test_the_quote_is_the_last_point_and_what_is_older_than_the_period_is_left_out() -> None:
    history = looking_back(at(24 * 60 + 1), at(24 * 60), at(5), rate=1_616_000_000)
    assert [point.at for point in history.points] == [NOW - timedelta(days=1), at(5).at, NOW]
    assert history.is_whole
    assert history.change_percent == 1


def test_a_quote_that_is_recorded_already_is_there_once() -> None:
    history = looking_back(at(5), at(0), at(-5))
    assert [point.at for point in history.points] == [at(5).at, NOW]


def test_a_silence_of_more_than_an_hour_of_a_day_is_a_gap() -> None:
    seen = [at(2 * number) for number in range(700, 0, -1)]
    whole, without_an_hour = looking_back(*seen), looking_back(*(seen[:300] + seen[340:]))
    assert [len(looking.runs) for looking in (whole, without_an_hour)] == [1, 2]
    assert sum(map(len, without_an_hour.runs)) == len(without_an_hour.points)


@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=2_000), st.integers(4, 400))
def test_thinning_keeps_the_ends_the_extremes_and_the_order(rates: list[int], most: int) -> None:
    points = [RatePoint(NOW + number * TWO_MINUTES, Decimal(rate)) for number, rate in enumerate(rates)]
    kept = thin_points(points, most)
    assert len(kept) <= most
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert list(kept) == sorted(set(kept), key=lambda point: point.at)
    assert _ends(kept) == _ends(points)


def _ends(points: Sequence[RatePoint]) -> tuple[Decimal, Decimal]:
    rates = [point.rate for point in points]
    return min(rates), max(rates)
