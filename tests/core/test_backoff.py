"""Waits between attempts grow by their factor, up to their limit."""

from itertools import islice

import pytest

from bot.core.backoff import Backoff, FixedWaits


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [
        (Backoff(first=0.5), [0.5, 1.0, 2.0, 4.0, 8.0]),
        (Backoff(first=0.25, longest=1.5), [0.25, 0.5, 1.0, 1.5, 1.5]),
        (Backoff(first=1.0, longest=20.0, factor=3.0), [1.0, 3.0, 9.0, 20.0, 20.0]),
        (Backoff(first=9.0, longest=5.0), [5.0] * 5),
        (Backoff(first=0.0), [0.0] * 5),
    ],
)
def test_each_wait_is_a_factor_longer_up_to_the_limit(backoff: Backoff, waits: list[float]) -> None:
    assert list(islice(backoff.waits(), len(waits))) == waits
    assert [backoff.after(failures) for failures in range(1, len(waits) + 1)] == waits
    assert [min(backoff.first, backoff.longest), *map(backoff.next_wait, waits[:-1])] == waits


def test_steps_are_waited_in_their_order_and_the_last_is_repeated() -> None:
    assert list(islice(FixedWaits((0.5, 1.0, 5.0)).waits(), 5)) == [0.5, 1.0, 5.0, 5.0, 5.0]
