"""Select which due orders are polled next if the request budget is too small for all.

Paid and unpaid orders are two groups, and each has its own share of every tick. So even if many paid orders make no
progress, the time until a new payment is seen depends only on the number of unpaid orders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from math import ceil
from typing import Generic, TypeVar

from bot.orders.poll_intervals import LONGEST_INTERVAL

T = TypeVar("T")

UNPAID_SHARE = Fraction(1, 3)
"""The least share of a tick's requests that goes to unpaid orders, if there are so many."""

STRETCHED_SHARE = 0.5
"""The share of the budget for paid orders if their interval is stretched for the sake of unpaid ones."""

MIN_REQUESTS = 6
"""With fewer requests in a tick, one of the four groups (paid or unpaid, urgent or not) would never get any."""


@dataclass(frozen=True, slots=True)
class DueOrders(Generic[T]):
    """The due orders of one group, the longest waiting first. `urgent` are polled before `others`."""

    urgent: Sequence[T] = ()
    others: Sequence[T] = ()

    def __len__(self) -> int:
        return len(self.urgent) + len(self.others)


def select_orders(paid: DueOrders[T], unpaid: DueOrders[T], count: int) -> list[T]:
    """Return which due orders to poll within one tick, in the sequence of polling.

    Unpaid orders get at least `UNPAID_SHARE` of the requests, and paid orders the rest. Within each group, urgent
    orders get up to half. What one group doesn't use goes to the other.

    Args:
        paid: the due orders that are paid.
        unpaid: the due orders that may still be paid.
        count: how many to select, at least `MIN_REQUESTS`.
    """
    of_paid, of_unpaid = _divide(len(paid), len(unpaid), count, ceil(count * UNPAID_SHARE))
    groups = _take(paid, of_paid), _take(unpaid, of_unpaid)
    # Both groups alternate, because a rejection may end the tick at any request.
    return [
        *_alternate(groups[0].urgent, groups[1].urgent),
        *_alternate(groups[0].others, groups[1].others),
    ]


def paid_interval(interval: timedelta, paid: int, unpaid: int, per_second: float) -> timedelta:
    """Return the polling interval of paid orders, which grows with their number.

    Paid orders get the part of the budget that unpaid orders don't need, but at least half of it. The interval never
    exceeds `LONGEST_INTERVAL`, because the numbers change.

    Args:
        interval: the polling interval of an order if the budget is enough for all.
        paid: how many paid orders need a request of their own within `interval`.
        unpaid: how many unpaid orders need one.
        per_second: how many requests the budget allows in a second.
    """
    remaining = per_second - unpaid / interval.total_seconds()
    stretched = timedelta(seconds=paid / max(remaining, per_second * STRETCHED_SHARE))
    return max(interval, min(stretched, LONGEST_INTERVAL))


def _take(due: DueOrders[T], count: int) -> DueOrders[T]:
    of_urgent, of_others = _divide(len(due.urgent), len(due.others), count, count // 2)
    return DueOrders(due.urgent[:of_urgent], due.others[:of_others])


def _divide(first: int, second: int, count: int, least_of_second: int) -> tuple[int, int]:
    """Divide `count` between two groups of these sizes. The second gets at least `least_of_second`, if it has them."""
    of_second = min(second, max(least_of_second, count - first))
    return min(first, count - of_second), of_second


def _alternate(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Merge both sequences, each spread evenly, beginning with `first`."""
    placed = [(place / len(each), item) for each in (first, second) for place, item in enumerate(each)]
    return [item for _, item in sorted(placed, key=lambda pair: pair[0])]
