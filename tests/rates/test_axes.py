"""The axes of a chart have round numbers and round times, few enough to be readable."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rates.axes import make_scale, make_times, round_step

JAKARTA, BERLIN = ZoneInfo("Asia/Jakarta"), ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 10, 6, tzinfo=UTC)
RATES = st.decimals(min_value=0, max_value=10**12, allow_nan=False, places=2)


def test_levels_are_round() -> None:
    assert make_scale(Decimal(1_598_300_000), Decimal(1_611_900_000)).levels == (
        Decimal(1_600_000_000),
        Decimal(1_605_000_000),
        Decimal(1_610_000_000),
    )


def test_a_rate_that_hardly_moves_is_drawn_nearly_flat() -> None:
    ground = make_scale(Decimal(1_600_000_000), Decimal(1_600_000_100))
    assert ground.share(Decimal(1_600_000_100)) - ground.share(Decimal(1_600_000_000)) < 0.001


@given(RATES, RATES)
def test_everything_is_within_the_scale_and_levels_are_few(one: Decimal, other: Decimal) -> None:
    ground = make_scale(min(one, other), max(one, other))
    assert 0 <= ground.share(min(one, other)) <= ground.share(max(one, other)) <= 1
    assert 1 <= len(ground.levels) <= 5
    assert all(0 <= ground.share(level) <= 1 and level % ground.step == 0 for level in ground.levels)


@pytest.mark.parametrize(
    ("least", "step"), [("1", "1"), ("1.1", "2"), ("3", "5"), ("6", "10"), ("0.03", "0.05"), ("21000000", "50000000")]
)
def test_steps_are_one_two_or_five(least: str, step: str) -> None:
    assert round_step(Decimal(least)) == Decimal(step)


def hours(length: timedelta, zone: ZoneInfo, until: datetime = NOW) -> list[str]:
    return [f"{moment.astimezone(zone):%d %H:%M}" for moment in make_times(until - length, until, zone).moments]


def test_a_day_has_hours_of_the_readers_clock() -> None:
    assert hours(timedelta(days=1), JAKARTA) == ["20 18:00", "21 00:00", "21 06:00", "21 12:00"]


def test_a_week_has_days_and_a_month_has_mondays() -> None:
    week, month = make_times(NOW - timedelta(days=7), NOW, JAKARTA), make_times(NOW - timedelta(days=30), NOW, JAKARTA)
    assert week.are_days
    assert 3 <= len(week.moments) <= 4
    assert {moment.astimezone(JAKARTA).weekday() for moment in month.moments} == {0}
    assert len(month.moments) in {4, 5}


def test_a_few_minutes_have_minutes() -> None:
    assert hours(timedelta(minutes=11), JAKARTA) == ["21 16:55", "21 17:00", "21 17:05"]


def test_the_hour_that_a_clock_skips_or_has_twice_is_there_once() -> None:
    for until in (datetime(2026, 3, 29, 12, tzinfo=UTC), datetime(2026, 10, 25, 12, tzinfo=UTC)):
        moments = make_times(until - timedelta(hours=12), until, BERLIN).moments
        assert list(moments) == sorted(set(moments))


@given(st.integers(1, 400 * 86_400))
def test_there_are_never_too_many_times(seconds: int) -> None:
    found = make_times(NOW - timedelta(seconds=seconds), NOW, BERLIN)
    assert len(found.moments) <= 6 or found.step == timedelta(days=14)
    assert all(NOW - timedelta(seconds=seconds) <= moment <= NOW for moment in found.moments)
