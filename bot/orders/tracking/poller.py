"""Watches the orders under way, by the document's rules (settlement API, 6.3) and within the request budget.

One order is looked up by id. Of many, one list call a tick shows the newest hundred at once, due or not; of what is
due and not on it, `orders/tracking/schedule.py` selects what is looked up by id. The rest is due again in the next
tick.
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
from bot.orders.tracking.viewed import ViewedOrders
from bot.settlement.budget import Budget
from bot.settlement.model import KeyRefused, OrderNotFound, OrderReport, Settlement, SettlementFailure, SlowDown

log = structlog.get_logger(__name__)

LIST_SIZE = 100
LIST_WORTH = 3
"""From this many due orders on, one list call is tried before asking for each."""

TICK = 1.0
"""Seconds' worth of looks in one tick. A long one would keep paid orders, which fall due meanwhile, waiting for all
the unpaid ones before them: with 5 s and a thousand orders, their news took up to 9.6 s, and so takes 6."""

AT_ONCE = 20
LONGEST_REST = 300.0
LONGEST_REST_ASKED = 3600.0
LONGEST_LOOK = 10.0
"""Seconds that one answer is waited for: an order that is answered late must not keep all others unseen."""

LONGEST_PAUSE = 1.0
"""An order falls due at any moment; looking into our own table for it is cheap."""


@dataclass(frozen=True, slots=True)
class _Backlog:
    """What is due. `urgent` is what somebody looks at, and what has expired and is asked about for the last time."""

    paid: Sequence[Order]
    unpaid: Sequence[Order]
    urgent: Sequence[Order]

    def all(self) -> Mapping[str, Order]:
        """All of it by reference."""
        return {order.reference: order for order in (*self.urgent, *self.paid, *self.unpaid)}

    def of_class(self, left: Mapping[str, Order], *, is_paid: bool) -> Due[Order]:
        """Those of `left` that are paid, or that aren't."""
        urgent = {order.reference: order for order in self.urgent if order.is_paid is is_paid}
        others = self.paid if is_paid else self.unpaid
        return Due(
            [order for reference, order in urgent.items() if reference in left],
            [order for order in others if order.reference in left and order.reference not in urgent],
        )


class Poller:
    """One `tick` at a time. `interval` is the polling interval of an order; `viewed` is who looks at what."""

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
        self._rests, self._rest = Backoff(first=self._interval, longest=LONGEST_REST), 0.0
        self._expected_at = clock.now()

    @property
    def expected_at(self) -> datetime:
        """By when the next sign of life was to come, as of the last one."""
        return self._expected_at

    async def tick(self) -> float:
        """Look at what is due; in how many seconds to come again."""
        pause = await self._tick()
        self._lives(pause)
        return pause

    async def _tick(self) -> float:
        room = max(self._budget.room_within(TICK), LEAST_PLACES)
        backlog = await self._backlog(room + LIST_SIZE)
        due = backlog.all()
        if not due:
            return min(self._interval, LONGEST_PAUSE)
        try:
            answered = await self._look(backlog, due, room)
        except KeyRefused:
            return self._longer_rest(self._interval)
        except SlowDown as slow:
            return self._longer_rest(min(slow.retry_after or self._interval, LONGEST_REST_ASKED))
        if answered:
            self._rest = 0.0
        return 0.0 if len(due) > room else min(self._interval, LONGEST_PAUSE)

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
        """By how much the interval of paid orders is stretched. What the last list showed needs no look of its own."""
        paid, unpaid = [
            max(await OrderRepository(tx).count_due(now + self._usual, is_paid=is_paid) - self._listed[is_paid], 0)
            for is_paid in (True, False)
        ]
        return paid_interval(self._usual, paid, unpaid, self._budget.per_second) - self._usual

    async def _look(self, backlog: _Backlog, due: Mapping[str, Order], room: int) -> bool:
        """Whether the service has answered anything at all."""
        rest, listed = due, False
        self._listed.clear()
        if len(due) >= LIST_WORTH:
            asked_at, reports = await self._list()
            listed = bool(reports)
            rest = await self._take_in(due, reports, asked_at)
        paid, unpaid = (backlog.of_class(rest, is_paid=is_paid) for is_paid in (True, False))
        return await self._look_at_each(select(paid, unpaid, room)) or listed

    async def _list(self) -> tuple[datetime, Mapping[str, OrderReport]]:
        """When the list was asked for, and what is on it by the service's ids."""
        await self._budget.take()
        self._lives()
        asked_at = self._clock.now()
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                newest = await self._settlement.newest(LIST_SIZE)
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("list_poll_failed", error=type(failure).__name__)
            return asked_at, {}
        return asked_at, {report.service_id: report for report in newest.reports}

    async def _take_in(
        self, due: Mapping[str, Order], reports: Mapping[str, OrderReport], asked_at: datetime
    ) -> Mapping[str, Order]:
        """Observe what the list says of our orders, due or changed; those due that it doesn't show."""
        async with self._store.reading() as tx:
            ours = await OrderRepository(tx).by_service_id(reports.keys())
        for service_id, order in ours.items():
            report = reports[service_id]
            self._listed[order.is_paid] += 1
            if order.phase is Phase.OPEN and (order.reference in due or report.state != order.state):
                await self._observer.observe(order.reference, report, asked_at=asked_at)
        return {reference: order for reference, order in due.items() if order.service_id not in reports}

    async def _look_at_each(self, orders: Sequence[Order]) -> bool:
        gate, stop = asyncio.Semaphore(AT_ONCE), asyncio.Event()
        results = await asyncio.gather(*(self._look_at(order, gate, stop) for order in orders), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return any(result is True for result in results)

    async def _look_at(self, order: Order, gate: asyncio.Semaphore, stop: asyncio.Event) -> bool:
        async with gate:
            if stop.is_set():
                return False
            await self._budget.take()
            if stop.is_set():
                return False
            try:
                return await self._seen(order)
            except (KeyRefused, SlowDown, StoreDown):
                # Not one more request: each would be refused too, or its answer be lost.
                stop.set()
                raise

    async def _seen(self, order: Order) -> bool:
        """Whether the service has said anything of `order`."""
        self._lives()
        asked_at = self._clock.now()
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                report = await self._settlement.look_up(order.service_id or "")
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("order_poll_failed", order=order.reference, error=type(failure).__name__)
            is_known = not isinstance(failure, OrderNotFound)
            await self._observer.put_off(order.reference, is_known=is_known)
            return not is_known
        await self._observer.observe(order.reference, report, asked_at=asked_at)
        return True

    def _lives(self, pause: float = 0.0) -> None:
        self._expected_at = self._clock.now() + timedelta(seconds=pause)

    def _longer_rest(self, at_least: float) -> float:
        """Stop hammering: rest longer and longer while it goes on."""
        self._rest = max(self._rests.longer(self._rest), at_least)
        return self._rest
