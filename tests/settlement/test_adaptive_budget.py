"""The budget adapts to the service: it grows up to the setting, and a rejection halves it."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import compute_poller_silence
from bot.config import load
from bot.settlement.budget import LEAST_PER_SECOND, AdaptiveBudget
from tests.infra.keys import REQUIRED_SETTINGS
from tests.virtual_time import in_virtual_time, now


class Seconds:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def test_it_begins_at_ten_and_grows_up_to_the_setting_alone() -> None:
    seconds = Seconds()
    budget, small = AdaptiveBudget(12, clock=seconds), AdaptiveBudget(4, clock=seconds)
    assert (budget.per_second, small.per_second) == (10, 4)
    seconds.at = 10
    assert (budget.per_second, small.per_second) == (11, 4)
    seconds.at = 10**6
    assert (budget.per_second, small.per_second) == (12, 4)


def test_a_rejection_halves_it_and_it_grows_again() -> None:
    seconds = Seconds()
    budget = AdaptiveBudget(10, clock=seconds)
    budget.halve()
    assert budget.per_second == 5
    seconds.at = 20
    assert budget.per_second == 7
    budget.halve()
    assert budget.per_second == 3.5


def test_rejections_of_requests_that_were_under_way_count_once() -> None:
    seconds = Seconds()
    budget = AdaptiveBudget(10, clock=seconds)
    for _ in range(20):
        budget.halve()
    seconds.at = 1.9
    budget.halve()
    assert budget.per_second == pytest.approx(5.19)
    seconds.at = 2
    budget.halve()
    assert budget.per_second == pytest.approx(2.6)


@given(st.floats(0.01, 1000), st.lists(st.tuples(st.floats(0, 10_000), st.booleans()), max_size=60))
def test_whatever_happens_it_stays_between_its_limits(most: float, events: list[tuple[float, bool]]) -> None:
    seconds = Seconds()
    budget = AdaptiveBudget(most, clock=seconds)
    for passes, is_rejected in events:
        seconds.at += passes
        if is_rejected:
            budget.halve()
        assert min(LEAST_PER_SECOND, most) <= budget.per_second <= most


def test_turns_are_as_far_apart_as_the_rate_of_the_moment_says() -> None:
    times: list[float] = []

    @in_virtual_time
    async def take_turns() -> None:
        budget = AdaptiveBudget(10, clock=now, sleep=asyncio.sleep)
        began = now()
        for turn in range(20):
            if turn == 10:
                budget.halve()
            await budget.take()
            times.append(now() - began)

    take_turns()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[:10] == pytest.approx([0.1] * 10)
    assert all(0.18 < gap <= 0.2 for gap in gaps[10:])


@pytest.mark.parametrize(("most", "least"), [("1000", 0.5), ("10", 0.5), ("0.05", 0.05)])
def test_a_halved_budget_is_not_taken_for_a_silent_poller(most: str, least: float) -> None:
    settings = load(None, **REQUIRED_SETTINGS, service_max_requests_per_second=most)
    assert compute_poller_silence(settings) > timedelta(seconds=1 / least)
