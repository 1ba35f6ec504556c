"""The figures of a destination: medians, nine in ten, their errors, and the parts of the week that differ."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import comb

import pytest

from bot.orders.destinations.model import (
    History,
    SentTransfer,
    WeekPart,
    chance_of_at_least,
    compare,
    find_highest_share,
    find_ranks,
    find_week_part,
    measure,
    measure_times,
    measure_week,
)
from tests.settlement.builders import BCA

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MONDAY = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
"""10:00 in Jakarta."""


def binomial(count: int, hits: int, share: float) -> float:
    return comb(count, hits) * share**hits * (1 - share) ** (count - hits)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("count", [6, 20, 36, 77, 200])
def test_the_ranks_are_the_narrowest_with_no_more_than_a_fortieth_on_each_side(count: int, share: float) -> None:
    lower, upper = find_ranks(count, share)
    below = [sum(binomial(count, each, share) for each in range(rank)) for rank in range(count + 1)]
    assert lower == max((rank for rank in range(1, count + 1) if below[rank] <= 0.025), default=None)
    above = {rank: sum(binomial(count, each, share) for each in range(rank, count + 1)) for rank in range(1, count + 1)}
    assert upper == min((rank for rank in above if above[rank] <= 0.025), default=None)


def test_nine_in_ten_have_an_upper_limit_from_36_transfers_on() -> None:
    assert (find_ranks(35, 0.9)[1], find_ranks(36, 0.9)[1]) == (None, 36)
    lengths = [MINUTE * number for number in range(1, 37)]
    assert measure_times(lengths[:35]).ninety is None
    assert measure_times(lengths).ninety is not None


@pytest.mark.parametrize("count", [20, 36, 90])
def test_the_interval_holds_the_true_median_at_least_nineteen_times_in_twenty(count: int) -> None:
    chance, held, rounds = random.Random(5), 0, 600
    for _ in range(rounds):
        found = measure_times(MINUTE * chance.lognormvariate(0, 1) for _ in range(count)).median
        held += found.low <= MINUTE <= found.high
    assert held / rounds > 0.93


def test_the_highest_share_is_that_at_which_so_few_would_be_rare() -> None:
    for hits, count in ((0, 20), (0, 36), (1, 50), (7, 300)):
        share = find_highest_share(hits, count)
        assert sum(binomial(count, each, share) for each in range(hits + 1)) == pytest.approx(0.025, rel=1e-6)
    assert find_highest_share(20, 20) == pytest.approx(1.0)
    assert chance_of_at_least(4, 4, 0.1) == pytest.approx(1e-4)


def test_the_comparison_of_two_samples_is_seldom_wrong_and_sees_what_differs() -> None:
    chance = random.Random(7)

    def draw(count: int, factor: int = 1) -> list[int]:
        return [factor * round(100 * chance.lognormvariate(0, 0.8)) for _ in range(count)]

    alike = sorted(compare(draw(25), draw(40)) for _ in range(2_000))
    assert sum(each < 0.05 for each in alike) / len(alike) == pytest.approx(0.05, abs=0.02)
    assert alike[1] > 1e-4
    assert compare(draw(40, 4), draw(40)) < 1e-6
    assert compare([7] * 20, [7] * 20) == 1.0


def test_median_and_nine_in_ten_are_those_of_the_sample() -> None:
    lengths = [MINUTE * number for number in range(1, 41)]
    random.Random(3).shuffle(lengths)
    times = measure_times(lengths)
    assert times.median.value == 20.5 * MINUTE
    assert times.ninety is not None
    assert (times.count, times.ninety.value, times.ninety.high) == (40, 36 * MINUTE, 40 * MINUTE)
    assert times.late_after == 80 * MINUTE
    short = measure_times([timedelta(seconds=5)] * 40)
    assert short.late_after == timedelta(seconds=125), "a transfer of seconds isn't late after ten"


@pytest.mark.parametrize(
    ("moment", "part"),
    [
        (MONDAY, WeekPart.WORKDAY),
        (MONDAY + 12 * HOUR - timedelta(seconds=1), WeekPart.WORKDAY),
        (MONDAY + 12 * HOUR, WeekPart.NIGHT),
        (MONDAY + 20 * HOUR - timedelta(seconds=1), WeekPart.NIGHT),
        (MONDAY + 20 * HOUR, WeekPart.WORKDAY),
        (MONDAY + 5 * DAY, WeekPart.WEEKEND),
        (MONDAY + 5 * DAY + 13 * HOUR, WeekPart.NIGHT),
        (MONDAY + 7 * DAY, WeekPart.WORKDAY),
    ],
)
def test_the_parts_of_a_week_are_those_of_jakarta(moment: datetime, part: WeekPart) -> None:
    assert find_week_part(moment) is part


def a_week(chance: random.Random, count: int, at_night: float) -> list[SentTransfer]:
    moments = [MONDAY + 28 * DAY * chance.random() for _ in range(count)]
    factors = [at_night if find_week_part(each) is WeekPart.NIGHT else 1.0 for each in moments]
    return [
        SentTransfer(moment, 4 * MINUTE * chance.lognormvariate(0, 0.5) * factor)
        for moment, factor in zip(moments, factors, strict=True)
    ]


def test_nights_are_apart_only_where_they_differ() -> None:
    chance = random.Random(11)
    week = measure_week(a_week(chance, 200, at_night=3))
    assert week is not None
    assert set(week.different) == {WeekPart.NIGHT}
    night, day = week.at(MONDAY + 13 * HOUR), week.at(MONDAY)
    assert night.median.low > day.median.high
    assert night.count + day.count == 200
    alike = [measure_week(a_week(chance, 200, at_night=1)) for _ in range(100)]
    assert [each for each in alike if each is None or each.different] == []


def test_too_few_nights_are_not_apart_and_too_few_transfers_say_nothing() -> None:
    days = [SentTransfer(MONDAY + DAY * (number % 5), 4 * MINUTE) for number in range(30)]
    nights = [SentTransfer(MONDAY + 13 * HOUR, HOUR)] * 20
    few = measure_week([*days, *nights[:19]])
    assert few is not None
    assert few.different == {}
    enough = measure_week([*days, *nights])
    assert enough is not None
    assert set(enough.different) == {WeekPart.NIGHT}
    assert measure_week(days[:19]) is None


def test_what_is_late_is_decided_by_transfers_of_earlier_days_alone() -> None:
    now = MONDAY + 30 * DAY
    old = [SentTransfer(now - 2 * DAY - HOUR * number, 4 * MINUTE) for number in range(40)]
    today = [SentTransfer(now - HOUR, 5 * HOUR)] * 40
    history = History(
        method=BCA, sent=80, failed=3, settled_sent=40, settled_failed=0, last_sent_at=now, sample=[*old, *today]
    )
    usual = measure(history, now)
    assert usual.limits is not None
    assert usual.times is not None
    assert usual.limits.usual.late_after == 8 * MINUTE
    assert usual.times.usual.median.value > 8 * MINUTE
    assert usual.fail_chance == find_highest_share(0, 40)
    assert (usual.finished, usual.is_known) == (83, True)


def test_a_median_that_could_as_well_be_twice_as_long_is_not_told() -> None:
    chance = random.Random(13)
    wide = measure_times(40 * MINUTE * chance.lognormvariate(0, 1.5) for _ in range(20)).median
    assert wide.high > 2 * wide.low
    assert not wide.is_precise
    assert measure_times([4 * MINUTE] * 20).median.is_precise
    assert all(first <= second for first, second in pairwise((wide.low, wide.value, wide.high)))
