"""The figures of a destination: medians, nine in ten, their errors, and the parts of the week that differ."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import comb

import pytest

from bot.orders.destinations.model import (
    SentTransfer,
    WeekPart,
    chance_of_at_least,
    find_highest_share,
    measure_times,
    measure_week,
)

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MONDAY = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
"""10:00 in Jakarta."""


def binomial(count: int, hits: int, share: float) -> float:
    return comb(count, hits) * share**hits * (1 - share) ** (count - hits)


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


def test_a_median_that_could_as_well_be_twice_as_long_is_not_told() -> None:
    chance = random.Random(13)
    wide = measure_times(40 * MINUTE * chance.lognormvariate(0, 1.5) for _ in range(20)).median
    assert wide.high > 2 * wide.low
    assert not wide.is_precise
    assert measure_times([4 * MINUTE] * 20).median.is_precise
    assert all(first <= second for first, second in pairwise((wide.low, wide.value, wide.high)))
