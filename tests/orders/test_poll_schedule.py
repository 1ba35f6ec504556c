"""Which due orders are polled: paid orders never starve unpaid ones, and viewed orders never starve others."""

from collections import deque
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
