"""Poll the open orders, by the document's rules (settlement API, 6.3) and within the request budget.

A single order is looked up by id. If many are due, one list call a tick shows the newest hundred at once, due or not.
`orders/tracking/schedule.py` selects which of the others are looked up by id. The rest is due again in the next tick.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.orders.tracking.observer import Observer
from bot.orders.tracking.schedule import LEAST_PLACES, Due, paid_interval, select
from bot.orders.tracking.viewed_orders import ViewedOrders
from bot.settlement.budget import Budget
from bot.settlement.model import KeyRefused, OrderNotFound, OrderReport, Settlement, SettlementFailure, SlowDown

log = structlog.get_logger(__name__)

LIST_SIZE = 100
MIN_FOR_LIST = 3
"""From this many due orders on, one list call comes before the requests for single orders."""

TICK_SECONDS = 1.0
"""How many seconds of requests one tick makes. In a long tick, paid orders that fall due meanwhile would wait for all
unpaid orders before them: of a thousand orders, they took up to 9.6 s to be seen with 5 s, and take 6 s with 1 s."""

CONCURRENT_REQUESTS = 20
MAX_BACKOFF_SECONDS = 300.0
MAX_RETRY_AFTER_SECONDS = 3600.0
REQUEST_TIMEOUT_SECONDS = 10.0
"""A late answer about one order must not keep all others unseen."""

MAX_PAUSE_SECONDS = 1.0
"""An order falls due at any moment, and looking for it in our own table is cheap."""


@dataclass(frozen=True, slots=True)
class _Backlog:
    """The due orders. `urgent` are those that a user is looking at, and expired ones that are polled a last time."""

    paid: Sequence[Order]
    unpaid: Sequence[Order]
    urgent: Sequence[Order]

    def all(self) -> Mapping[str, Order]:
        """Return all of them by reference."""
        return {order.reference: order for order in (*self.urgent, *self.paid, *self.unpaid)}

    def of_class(self, left: Mapping[str, Order], *, is_paid: bool) -> Due[Order]:
        """Return those of `left` that are paid, or that aren't."""
        urgent = {order.reference: order for order in self.urgent if order.is_paid is is_paid}
        others = self.paid if is_paid else self.unpaid
        return Due(
            [order for reference, order in urgent.items() if reference in left],
            [order for order in others if order.reference in left and order.reference not in urgent],
        )


class Poller:
    """Poll orders, one `tick` at a time. `interval` is the polling interval of an order."""

    def __init__(
        self,
        *,
        store: Database,
        settlement: Settlement,
        observer: Observer,
        clock: Clock,
        budget: Budget,
        viewed: ViewedOrders,
        interval: timedelta,
    ) -> None:
        self._store = store
        self._settlement = settlement
        self._observer = observer
        self._clock = clock
        self._budget = budget
        self._viewed = viewed
        self._usual = interval
        self._interval = interval.total_seconds()
        self._listed = Counter[bool]()
        self._backoff, self._pause = Backoff(first=self._interval, longest=MAX_BACKOFF_SECONDS), 0.0
        self._expected_at = clock.now()

    @property
    def expected_at(self) -> datetime:
        """The time by which the poller has announced its next sign of life."""
        return self._expected_at

    async def tick(self) -> float:
        """Poll what is due, and return the seconds until the next tick."""
        pause = await self._tick()
        self._announce(pause)
        return pause

    async def _tick(self) -> float:
        places = max(self._budget.remaining_within(TICK_SECONDS), LEAST_PLACES)
        backlog = await self._backlog(places + LIST_SIZE)
        due = backlog.all()
        if not due:
            return min(self._interval, MAX_PAUSE_SECONDS)
        try:
            answered = await self._poll(backlog, due, places)
        except KeyRefused:
            return self._back_off(self._interval)
        except SlowDown as slow:
            return self._back_off(min(slow.retry_after or self._interval, MAX_RETRY_AFTER_SECONDS))
        if answered:
            self._pause = 0.0
        return 0.0 if len(due) > places else min(self._interval, MAX_PAUSE_SECONDS)

    async def _backlog(self, limit: int) -> _Backlog:
        now = self._clock.now()
        async with self._store.reading() as tx:
            longer = await self._longer_by(tx, now)
            return _Backlog(
                paid=await OrderRepository(tx).due(now - longer, is_paid=True, limit=limit),
                unpaid=await OrderRepository(tx).due(now, is_paid=False, limit=limit),
                urgent=(
                    *await OrderRepository(tx).due_if_viewed(
                        self._viewed.references(), self._viewed.users(), now, now - self._usual, limit
                    ),
                    *await OrderRepository(tx).expiring(now, limit),
                ),
            )

    async def _longer_by(self, tx: Transaction, now: datetime) -> timedelta:
        """Return by how much the interval of paid orders is stretched. What the last list showed needs no request."""
        paid, unpaid = [
            max(await OrderRepository(tx).count_due(now + self._usual, is_paid=is_paid) - self._listed[is_paid], 0)
            for is_paid in (True, False)
        ]
        return paid_interval(self._usual, paid, unpaid, self._budget.per_second) - self._usual

    async def _poll(self, backlog: _Backlog, due: Mapping[str, Order], places: int) -> bool:
        """Return whether the service has answered anything at all."""
        rest, listed = due, False
        self._listed.clear()
        if len(due) >= MIN_FOR_LIST:
            asked_at, reports = await self._list()
            listed = bool(reports)
            rest = await self._apply_list(due, reports, asked_at)
        paid, unpaid = (backlog.of_class(rest, is_paid=is_paid) for is_paid in (True, False))
        return await self._look_up_each(select(paid, unpaid, places)) or listed

    async def _list(self) -> tuple[datetime, Mapping[str, OrderReport]]:
        """Return when the list was asked for, and its orders by the service's ids."""
        await self._budget.take()
        self._announce()
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
    ) -> Mapping[str, Order]:
        """Apply the list to our orders that are due or have changed. Return the due orders that it doesn't show."""
        async with self._store.reading() as tx:
            ours = await OrderRepository(tx).by_service_id(reports.keys())
        for service_id, order in ours.items():
            report = reports[service_id]
            self._listed[order.is_paid] += 1
            if order.phase is Phase.OPEN and (order.reference in due or report.state != order.state):
                await self._observer.apply_report(order.reference, report, asked_at=asked_at)
        return {reference: order for reference, order in due.items() if order.service_id not in reports}

    async def _look_up_each(self, orders: Sequence[Order]) -> bool:
        gate, stop = asyncio.Semaphore(CONCURRENT_REQUESTS), asyncio.Event()
        results = await asyncio.gather(*(self._look_up(order, gate, stop) for order in orders), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return any(result is True for result in results)

    async def _look_up(self, order: Order, gate: asyncio.Semaphore, stop: asyncio.Event) -> bool:
        async with gate:
            if stop.is_set():
                return False
            await self._budget.take()
            if stop.is_set():
                return False
            try:
                return await self._ask(order)
            except (KeyRefused, SlowDown, StoreDown):
                # No further request: each would be refused too, or its answer lost.
                stop.set()
                raise

    async def _ask(self, order: Order) -> bool:
        """Return whether the service has said anything about `order`."""
        self._announce()
        asked_at = self._clock.now()
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                report = await self._settlement.look_up(order.service_id or "")
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("order_poll_failed", order=order.reference, error=type(failure).__name__)
            is_known = not isinstance(failure, OrderNotFound)
            await self._observer.postpone(order.reference, is_known=is_known)
            return not is_known
        await self._observer.apply_report(order.reference, report, asked_at=asked_at)
        return True

    def _announce(self, pause: float = 0.0) -> None:
        self._expected_at = self._clock.now() + timedelta(seconds=pause)

    def _back_off(self, at_least: float) -> float:
        """Return a longer pause than last time, at least `at_least` seconds."""
        self._pause = max(self._backoff.longer(self._pause), at_least)
        return self._pause
