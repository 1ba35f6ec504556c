"""Poll the open orders within the request budget (settlement API, 6.3).

A single order is looked up by id. If many are due, each tick begins with one list of the newest hundred orders.
`orders/tracking/schedule.py` selects which of the others are looked up by id. The rest stays due for the next tick.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Generic, TypeVar

import structlog

from bot.core.backoff import Backoff
from bot.infra.db.errors import LASTING, StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.logging import bind_fields
from bot.orders.order import Order, Phase, is_late_payment
from bot.orders.poll_intervals import LONGEST_INTERVAL
from bot.orders.repository import OrderRepository
from bot.orders.tracking.tracker import OrderTracker
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.settlement.access import SettlementAccess
from bot.settlement.errors import KeyRefused, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import OrderReport

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
    ranked = [(place / len(each), item) for each in (first, second) for place, item in enumerate(each)]
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]


log = structlog.get_logger(__name__)

LIST_SIZE = 100
MIN_FOR_LIST = 3
"""If at least so many orders are due, the list is read before single orders are looked up."""

TICK_SECONDS = 1.0
"""How many seconds of requests one tick makes. In a long tick, paid orders that become due would wait for all unpaid
orders before them. With a thousand orders, they waited up to 9.6 s in ticks of 5 s, and wait 6 s in ticks of 1 s."""

CONCURRENT_REQUESTS = 20
MAX_BACKOFF_SECONDS = 300.0
MAX_RETRY_AFTER_SECONDS = 3600.0
REQUEST_TIMEOUT_SECONDS = 10.0
"""A late answer about one order must not hold up all others."""

MAX_PAUSE_SECONDS = 1.0
"""An order can become due at any moment, and the query for due orders is cheap."""


@dataclass(frozen=True, slots=True)
class _Backlog:
    """The due orders. `urgent` are those that a user is viewing, and expired ones."""

    paid: Sequence[Order]
    unpaid: Sequence[Order]
    urgent: Sequence[Order]

    def all(self) -> Mapping[str, Order]:
        """Return all of them by reference."""
        return {order.reference: order for order in (*self.urgent, *self.paid, *self.unpaid)}

    def select_group(self, remaining: Mapping[str, Order], *, is_paid: bool) -> DueOrders[Order]:
        """Return the paid or the unpaid orders among `remaining`."""
        urgent = {order.reference: order for order in self.urgent if order.is_paid is is_paid}
        others = self.paid if is_paid else self.unpaid
        return DueOrders(
            [order for reference, order in urgent.items() if reference in remaining],
            [order for order in others if order.reference in remaining and order.reference not in urgent],
        )


class Poller:
    """Poll orders, one `tick` at a time. `interval` is the polling interval of an order."""

    def __init__(
        self,
        infra: Infra,
        access: SettlementAccess,
        tracker: OrderTracker,
        viewed: ViewedOrders,
        interval: timedelta,
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._settlement = access.settlement
        self._budget = access.budget
        self._tracker = tracker
        self._viewed = viewed
        self._interval = interval
        self._interval_seconds = interval.total_seconds()
        self._listed = Counter[bool]()
        self._backoff, self._pause = Backoff(first=self._interval_seconds, longest=MAX_BACKOFF_SECONDS), 0.0
        self._expected_at = infra.clock.now()

    @property
    def expected_at(self) -> datetime:
        """The time by which the poller will be active again. The monitor checks it."""
        return self._expected_at

    def begin_to_lead(self) -> None:
        """Forget the pause that this process chose when it led before."""
        self._pause = 0.0
        self._listed.clear()
        self._expect_next()

    async def tick(self) -> float:
        """Poll what is due, and return the seconds until the next tick."""
        pause = await self._tick()
        self._expect_next(pause)
        return pause

    async def _tick(self) -> float:
        max_requests = max(self._budget.remaining_within(TICK_SECONDS), MIN_REQUESTS)
        backlog = await self._backlog(max_requests + LIST_SIZE)
        due = backlog.all()
        if not due:
            return min(self._interval_seconds, MAX_PAUSE_SECONDS)
        try:
            answered = await self._poll(backlog, due, max_requests)
        except KeyRefused:
            return self._back_off(self._interval_seconds)
        except SlowDown as slow:
            return self._back_off(min(slow.retry_after or self._interval_seconds, MAX_RETRY_AFTER_SECONDS))
        if answered:
            self._pause = 0.0
        return 0.0 if len(due) > max_requests else min(self._interval_seconds, MAX_PAUSE_SECONDS)

    async def _backlog(self, limit: int) -> _Backlog:
        now = self._clock.now()
        async with self._database.reading() as tx:
            stretch = await self._stretch(tx, now)
            return _Backlog(
                paid=await OrderRepository(tx).due(now - stretch, is_paid=True, limit=limit),
                unpaid=await OrderRepository(tx).due(now, is_paid=False, limit=limit),
                urgent=(
                    *await OrderRepository(tx).due_if_viewed(
                        self._viewed.references(), self._viewed.users(), now, now - self._interval, limit
                    ),
                    *await OrderRepository(tx).expiring(now, limit),
                ),
            )

    async def _stretch(self, tx: Transaction, now: datetime) -> timedelta:
        """Return how much longer the interval of paid orders is. Orders in the last list need no request."""
        paid, unpaid = [
            max(await OrderRepository(tx).count_due(now + self._interval, is_paid=is_paid) - self._listed[is_paid], 0)
            for is_paid in (True, False)
        ]
        return paid_interval(self._interval, paid, unpaid, self._budget.per_second) - self._interval

    async def _poll(self, backlog: _Backlog, due: Mapping[str, Order], max_requests: int) -> bool:
        """Poll the backlog, and return whether the service has answered at all."""
        rest, listed = due, False
        errors: Sequence[Exception] = ()
        self._listed.clear()
        if len(due) >= MIN_FOR_LIST:
            asked_at, reports = await self._read_list()
            listed = bool(reports)
            errors = await self._apply_list(due, reports, asked_at)
            rest = {reference: order for reference, order in due.items() if order.service_id not in reports}
        paid, unpaid = (backlog.select_group(rest, is_paid=is_paid) for is_paid in (True, False))
        answered = await self._look_up_each(select_orders(paid, unpaid, max_requests)) or listed
        for error in errors:
            raise error  # after the other orders, so that a bad one holds up none of them
        return answered

    async def _read_list(self) -> tuple[datetime, Mapping[str, OrderReport]]:
        """Read the list. Return when it was requested, and its orders by the service's ids."""
        await self._budget.take()
        self._expect_next()
        asked_at = self._clock.now()
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                newest = await self._settlement.newest(LIST_SIZE)
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("list_poll_failed", error=type(failure).__name__)
            return asked_at, {}
        return asked_at, {report.service_id: report for report in newest.reports}

    async def _apply_list(
        self, due: Mapping[str, Order], reports: Mapping[str, OrderReport], asked_at: datetime
    ) -> Sequence[Exception]:
        """Apply the list to our orders that are due, changed or paid late. Return the errors of those that failed."""
        async with self._database.reading() as tx:
            ours = await OrderRepository(tx).polled_by_service_id(reports.keys())
        self._listed.update(order.is_paid for order in ours.values())
        changed = {
            order.reference: reports[service_id]
            for service_id, order in ours.items()
            if order.reference in due
            or (order.phase is Phase.OPEN and reports[service_id].state != order.state)
            or is_late_payment(order, reports[service_id])
        }
        return await self._tracker.apply_reports(changed, asked_at=asked_at)

    async def _look_up_each(self, orders: Sequence[Order]) -> bool:
        semaphore, stop = asyncio.Semaphore(CONCURRENT_REQUESTS), asyncio.Event()
        results = await asyncio.gather(
            *(self._look_up(order, semaphore, stop) for order in orders), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return any(result is True for result in results)

    async def _look_up(self, order: Order, semaphore: asyncio.Semaphore, stop: asyncio.Event) -> bool:
        async with semaphore:
            if stop.is_set():
                return False
            await self._budget.take()
            if stop.is_set():
                return False
            try:
                with bind_fields(order=order.reference):
                    return await self._poll_order(order)
            except LASTING:
                raise  # it is about this order only
            except (KeyRefused, SlowDown, StoreDown):
                # Stop all further requests: each would be rejected too, or its answer lost.
                stop.set()
                raise

    async def _poll_order(self, order: Order) -> bool:
        self._expect_next()
        asked_at = self._clock.now()
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                report = await self._settlement.look_up(order.service_id or "")
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("order_poll_failed", error=type(failure).__name__)
            is_known = not isinstance(failure, OrderNotFound)
            await self._tracker.postpone(order.reference, is_known=is_known)
            return not is_known
        await self._tracker.apply_report(order.reference, report, asked_at=asked_at)
        return True

    def _expect_next(self, pause: float = 0.0) -> None:
        self._expected_at = self._clock.now() + timedelta(seconds=pause)

    def _back_off(self, at_least: float) -> float:
        """Return a longer pause than the last one, and at least `at_least` seconds."""
        self._pause = max(self._backoff.next_wait(self._pause), at_least)
        return self._pause
