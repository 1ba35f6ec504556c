"""Which due orders are polled: paid orders never starve unpaid ones, and viewed orders never starve others."""

from collections import deque
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.orders.poll_intervals import LONGEST_INTERVAL
from bot.orders.tracking.poller import MIN_REQUESTS, DueOrders, paid_interval, select_orders

FIVE = timedelta(seconds=5)
PLACES = st.integers(MIN_REQUESTS, 60)
SIZES = st.integers(0, 80)


def due(name: str, urgent: int, others: int) -> DueOrders[str]:
    return DueOrders(
        [f"{name} urgent {place}" for place in range(urgent)], [f"{name} {place}" for place in range(others)]
    )


def counts(selected: list[str]) -> dict[str, int]:
    kinds = [item.rpartition(" ")[0] for item in selected]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


@pytest.mark.parametrize(
    ("paid", "unpaid", "selected"),
    [
        (120, 100, {"paid": 6, "unpaid": 3}),
        (2, 100, {"paid": 2, "unpaid": 7}),
        (120, 1, {"paid": 8, "unpaid": 1}),
        (120, 0, {"paid": 9}),
        (0, 100, {"unpaid": 9}),
        (4, 4, {"paid": 4, "unpaid": 4}),
        (0, 0, {}),
    ],
)
def test_unpaid_orders_get_a_third_and_unused_places_pass_over(
    paid: int, unpaid: int, selected: dict[str, int]
) -> None:
    assert counts(select_orders(due("paid", 0, paid), due("unpaid", 0, unpaid), 9)) == selected


def test_urgent_orders_come_first_and_get_half_of_their_classs_places() -> None:
    selected = select_orders(due("paid", 50, 50), due("unpaid", 50, 50), 12)
    assert counts(selected) == {"paid": 4, "paid urgent": 4, "unpaid": 2, "unpaid urgent": 2}
    assert all("urgent" in item for item in selected[:6])
    assert counts(select_orders(due("paid", 3, 50), due("unpaid", 50, 1), 12)) == {
        "paid": 5,
        "paid urgent": 3,
        "unpaid": 1,
        "unpaid urgent": 3,
    }


def test_the_longest_waiting_are_selected_and_the_classes_alternate() -> None:
    selected = select_orders(due("paid", 0, 50), due("unpaid", 0, 50), 6)
    assert selected == ["paid 0", "unpaid 0", "paid 1", "paid 2", "unpaid 1", "paid 3"]


@given(SIZES, SIZES, SIZES, SIZES, PLACES)
def test_all_places_are_used_and_each_group_gets_its_own(
    paid_urgent: int, paid_others: int, unpaid_urgent: int, unpaid_others: int, places: int
) -> None:
    paid, unpaid = due("paid", paid_urgent, paid_others), due("unpaid", unpaid_urgent, unpaid_others)
    selected = select_orders(paid, unpaid, places)
    assert len(selected) == len(set(selected)) == min(places, len(paid) + len(unpaid))
    found = counts(selected)
    of_unpaid = found.get("unpaid", 0) + found.get("unpaid urgent", 0)
    assert of_unpaid * 3 >= min(places, 3 * len(unpaid))
    for name, others in (("paid", paid_others), ("unpaid", unpaid_others)):
        of_class = found.get(name, 0) + found.get(f"{name} urgent", 0)
        assert found.get(name, 0) >= min(others, of_class // 2)
        assert of_class > 1 or not others or len(paid) + len(unpaid) < places


@given(st.integers(1, 60), st.integers(0, 500), st.integers(0, 60), PLACES)
def test_the_gap_of_an_unpaid_order_is_bounded_whatever_number_of_paid_ones_there_is(
    unpaid: int, paid: int, viewed: int, places: int
) -> None:
    """All orders are always due, which is the worst case. The viewed orders, paid and unpaid, are always viewed."""
    waiting = deque(f"unpaid {place}" for place in range(unpaid))
    others = due("paid", viewed, paid)
    gaps = dict.fromkeys(waiting, 0)
    # A third of the requests, and half of that beside viewed orders.
    bound = -(-unpaid // (-(-places // 3) // 2))
    for _ in range(3 * bound):
        selected = set(select_orders(others, DueOrders(due("seen", viewed, 0).urgent, list(waiting)), places))
        for order in list(waiting):
            gaps[order] += 1
            if order in selected:
                gaps[order] = 0
                waiting.remove(order)
                waiting.append(order)
            assert gaps[order] <= bound


@pytest.mark.parametrize(
    ("paid", "unpaid", "seconds"),
    [(0, 0, 5), (25, 100, 5), (50, 0, 5), (50, 100, 10), (120, 100, 24), (120, 0, 12), (120, 20, 20), (10**6, 0, 600)],
)
def test_the_interval_of_paid_orders_stretches_with_their_number(paid: int, unpaid: int, seconds: float) -> None:
    assert paid_interval(FIVE, paid, unpaid, 10.0) == timedelta(seconds=seconds)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0.01, 1000), st.timedeltas(FIVE, timedelta(days=1)))
def test_it_is_never_shorter_than_the_usual_and_stretched_to_the_slowest_at_most(
    paid: int, unpaid: int, per_second: float, interval: timedelta
) -> None:
    assert interval <= paid_interval(interval, paid, unpaid, per_second) <= max(interval, LONGEST_INTERVAL)
