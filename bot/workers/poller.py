"""Watches the orders under way, by the document's rules (settlement API, 6.3) and within the request budget.

One order is looked up by id. Of many, one list call a tick shows the newest hundred at once, due or not; what is due
and not on it is looked up by id, paid orders first. What doesn't fit into the budget is due again in the next tick.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import structlog

from bot.actions.budget import Budget
from bot.actions.observe import Observer
from bot.actions.ports import (
    Clock,
    KeyRefused,
    OrderNotFound,
    Settlement,
    SettlementFailure,
    SlowDown,
    Store,
    StoreDown,
)
from bot.domain.order import Order, OrderReport, Phase

log = structlog.get_logger(__name__)

LIST_SIZE = 100
LIST_WORTH = 3
"""From this many due orders on, one list call is tried before asking for each."""

TICK = 1.0
"""Seconds' worth of looks in one tick. A long one would keep paid orders, which fall due meanwhile, waiting for all
the unpaid ones before them: with 5 s and a thousand orders, their news took up to 9.6 s, and so takes 6."""

LEAST_LOOKS = 5
"""A tick's looks where the budget is small, so that the list doesn't take all of it."""

AT_ONCE = 20
LONGEST_REST = 300.0
LONGEST_REST_ASKED = 3600.0
LONGEST_LOOK = 10.0
"""Seconds that one answer is waited for: an order that is answered late must not keep all others unseen."""

LONGEST_PAUSE = 1.0
"""An order falls due at any moment; looking into our own table for it is cheap."""


class Poller:
    """One `tick` at a time. `interval` is the polling interval of an order."""

    def __init__(
        self,
        *,
        store: Store,
        settlement: Settlement,
        observer: Observer,
        clock: Clock,
        budget: Budget,
        interval: timedelta,
    ) -> None:
        self._store = store
        self._settlement = settlement
        self._observer = observer
        self._clock = clock
        self._budget = budget
        self._interval = interval.total_seconds()
        self._rest = 0.0
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
        room = max(self._budget.room_within(TICK), LEAST_LOOKS)
        async with self._store.reading() as tx:
            due = await tx.orders.due(self._clock.now(), limit=room + LIST_SIZE)
        if not due:
            return min(self._interval, LONGEST_PAUSE)
        try:
            answered = await self._look(due, room)
        except KeyRefused:
            return self._longer_rest(self._interval)
        except SlowDown as slow:
            return self._longer_rest(min(slow.retry_after or self._interval, LONGEST_REST_ASKED))
        if answered:
            self._rest = 0.0
        return 0.0 if len(due) > room else min(self._interval, LONGEST_PAUSE)

    async def _look(self, due: Sequence[Order], room: int) -> bool:
        """Whether the service has answered anything at all."""
        rest, listed = list(due), False
        if len(rest) >= LIST_WORTH:
            reports = await self._list()
            listed = bool(reports)
            rest = await self._take_in(rest, reports)
        return await self._look_at_each(rest[:room]) or listed

    async def _list(self) -> Mapping[str, OrderReport]:
        await self._budget.take()
        self._lives()
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                newest = await self._settlement.newest(LIST_SIZE)
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("list_brought_nothing", why=type(failure).__name__)
            return {}
        return {report.service_id: report for report in newest.reports}

    async def _take_in(self, due: list[Order], reports: Mapping[str, OrderReport]) -> list[Order]:
        """Observe what the list says of our orders, due or changed; those due that it doesn't show."""
        async with self._store.reading() as tx:
            ours = await tx.orders.by_service_id(reports.keys())
        due_ids = {order.service_id for order in due}
        for service_id, order in ours.items():
            report = reports[service_id]
            if order.phase is Phase.OPEN and (service_id in due_ids or report.state != order.state):
                await self._observer.observe(order.reference, report)
        return [order for order in due if order.service_id not in reports]

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
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                report = await self._settlement.look_up(order.service_id or "")
        except (KeyRefused, SlowDown):
            raise
        except (SettlementFailure, TimeoutError) as failure:
            log.info("look_brought_nothing", order=order.reference, why=type(failure).__name__)
            await self._observer.put_off(order.reference)
            return isinstance(failure, OrderNotFound)
        await self._observer.observe(order.reference, report)
        return True

    def _lives(self, pause: float = 0.0) -> None:
        self._expected_at = self._clock.now() + timedelta(seconds=pause)

    def _longer_rest(self, at_least: float) -> float:
        """Stop hammering: rest longer and longer while it goes on."""
        self._rest = max(min(self._rest * 2, LONGEST_REST), at_least)
        return self._rest
