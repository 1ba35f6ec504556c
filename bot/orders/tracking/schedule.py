"""Which of the due orders are polled next, if the request budget is too small for all of them.

Paid and unpaid orders are two classes, and each has its own places in every tick. However many paid orders don't move,
a payment of another order is seen within a time that depends only on the number of unpaid ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from math import ceil
from typing import Generic, TypeVar

from bot.orders.tracking.intervals import LONGEST_INTERVAL

T = TypeVar("T")

UNPAID_SHARE = Fraction(1, 3)
"""The part of each tick's places that unpaid orders get at least, if there are so many."""

STRETCHED_SHARE = 0.5
"""The part of the budget that paid orders get when their interval is stretched to leave room for unpaid ones."""

LEAST_PLACES = 6
"""With fewer places in a tick, one of the four groups (paid or unpaid, urgent or not) would never get any."""


@dataclass(frozen=True, slots=True)
class Due(Generic[T]):
    """The due orders of one class, the longest waiting first. `urgent` goes before `others`."""

    urgent: Sequence[T] = ()
    others: Sequence[T] = ()

    def __len__(self) -> int:
        return len(self.urgent) + len(self.others)


def select(paid: Due[T], unpaid: Due[T], places: int) -> list[T]:
    """Return which due orders to poll within one tick, in the order of polling.

    Unpaid orders get at least `UNPAID_SHARE` of the places, and paid orders the rest. Within each class, urgent orders
    get up to half. Places that one group doesn't use pass to the other.

    Args:
        paid: the due orders that are paid.
        unpaid: the due orders that may still be paid.
        places: how many to select, at least `LEAST_PLACES`.
    """
    of_paid, of_unpaid = _divide(len(paid), len(unpaid), places, ceil(places * UNPAID_SHARE))
    groups = _first(paid, of_paid), _first(unpaid, of_unpaid)
    # Classes alternate, because a rejection may end the tick at any place.
    return [
        *_alternate(groups[0].urgent, groups[1].urgent),
        *_alternate(groups[0].others, groups[1].others),
    ]


def paid_interval(interval: timedelta, paid: int, unpaid: int, per_second: float) -> timedelta:
    """Return the polling interval of paid orders, stretched with their number.

    All of them together get what unpaid orders leave of the budget, and half of it if those leave less. The interval
    is never stretched beyond `LONGEST_INTERVAL`, because numbers change.

    Args:
        interval: the polling interval of an order if there is room for all.
        paid: how many paid orders need a request of their own within `interval`.
        unpaid: how many unpaid orders do.
        per_second: requests that the budget allows.
    """
    left = per_second - unpaid / interval.total_seconds()
    stretched = timedelta(seconds=paid / max(left, per_second * STRETCHED_SHARE))
    return max(interval, min(stretched, LONGEST_INTERVAL))


def _first(due: Due[T], places: int) -> Due[T]:
    of_urgent, of_others = _divide(len(due.urgent), len(due.others), places, places // 2)
    return Due(due.urgent[:of_urgent], due.others[:of_others])


def _divide(first: int, second: int, places: int, least_of_second: int) -> tuple[int, int]:
    """Return how many of `places` two groups of these sizes get: the second at least so many, if it has them."""
    of_second = min(second, max(least_of_second, places - first))
    return min(first, places - of_second), of_second


def _alternate(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Merge both, each spread evenly over the whole, beginning with `first`."""
    placed = [(place / len(each), item) for each in (first, second) for place, item in enumerate(each)]
    return [item for _, item in sorted(placed, key=lambda pair: pair[0])]
