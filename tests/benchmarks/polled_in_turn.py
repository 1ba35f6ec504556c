"""(i) Paid and unpaid orders that share the request budget: the longest that one goes without being polled.

The bot's poller runs in virtual time. Service, store and clock are models, and no order ever changes. The oldest orders
are paid, the newest hundred are on the list, and a request takes a fifth of a second. The lower bound is computed: each
class by id in turn, with the requests that the other class leaves, or its own share if that is more.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.orders.tracking.poller import STRETCHED_SHARE
from bot.settlement.budget import Budget
from tests.benchmarks.report import Row, seconds, times_as_much
from tests.orders.fake_orders import INTERVAL, FakeOrders
from tests.virtual_time import VirtualLoop, now

PER_SECOND = 10.0
LISTED = 100
EVERY = INTERVAL.total_seconds()
SETTLES, ROUNDS = 30.0, 2.0
"""Seconds before measuring, and the number of rounds of the slower class that are measured."""

SIZES = (
    *((paid, unpaid) for paid in (46, 100, 300) for unpaid in (30, 60, 400)),
    (100, 900),
    (300, 9_700),
)
FEW = ((46, 30), (300, 400))


@dataclass(frozen=True, slots=True)
class Gaps:
    """The longest gap of each class in seconds, and the average number of requests a second."""

    paid: float
    unpaid: float
    requests: float


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    return [row for paid, unpaid in (FEW if quick else SIZES) for row in await asyncio.to_thread(_rows, paid, unpaid)]


def _rows(paid: int, unpaid: int) -> list[Row]:
    bounds = lower_bounds(paid, unpaid)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        gaps = runner.run(_measure(paid, unpaid, max(bounds)))
    return [
        _row(f"{paid:,} paid beside {unpaid:,} unpaid orders, {name}", gap, gaps.requests, bound)
        for name, gap, bound in zip(("paid", "unpaid"), (gaps.paid, gaps.unpaid), bounds, strict=True)
    ]


def lower_bounds(paid: int, unpaid: int) -> tuple[float, float]:
    """Return the gaps of paid and unpaid orders that aren't on the list, if no request is wasted."""
    by_id = PER_SECOND - 1  # the list takes one request a second
    paid_by_id, unpaid_by_id = max(paid - max(LISTED - unpaid, 0), 0), max(unpaid - LISTED, 0)
    return _bound(paid_by_id, unpaid_by_id, by_id), _bound(unpaid_by_id, paid_by_id, by_id)


def _bound(number: int, others: int, by_id: float) -> float:
    # Each class gets the requests that the other leaves, and at least the share of a stretched interval.
    return max(EVERY, number / max(by_id - others / EVERY, by_id * STRETCHED_SHARE))


async def _measure(paid: int, unpaid: int, longest: float) -> Gaps:
    orders = FakeOrders(paid + unpaid, paid)
    begin = now() + SETTLES + longest
    end = begin + max(60.0, ROUNDS * longest)
    await orders.watch(end - now(), Budget(PER_SECOND, clock=now))
    return Gaps(
        paid=_worst(orders, range(paid), begin, end),
        unpaid=_worst(orders, range(paid, paid + unpaid), begin, end),
        requests=sum(1 for at, _ in orders.asked if begin <= at < end) / (end - begin),
    )


def _worst(orders: FakeOrders, numbers: Sequence[int], begin: float, end: float) -> float:
    return max(orders.worst_gap(number, begin, end) for number in numbers)


def _row(what: str, gap: float, requests: float, bound: float) -> Row:
    return Row(
        part="i",
        measured=f"{what}: longest time between two polls (requests a second)",
        ours=f"{seconds(gap)} ({requests:.1f})",
        versus=f"in turn, at {PER_SECOND:.0f}/s (calculated)",
        theirs=seconds(bound),
        ratio=times_as_much(gap, bound),
    )
