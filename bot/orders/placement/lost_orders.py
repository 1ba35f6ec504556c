"""Find lost orders: those whose creation the service never confirmed.

The service has no idempotency keys (settlement API, 4.5). So `LostOrders` searches the service's newest orders, and
adopts one only if it certainly belongs to the intent. An order that isn't found may still exist. So after a set time
the user is asked, and no request is ever repeated automatically.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.reasons import find_location
from bot.infra.feature import Infra
from bot.infra.logging import bind_fields
from bot.infra.workers import run_each
from bot.orders.notifications import OrderNotification
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.placement.matching import (
    CREATED_AFTER,
    CREATED_BEFORE,
    OrderListing,
    compare_recipients,
    may_match,
    read_list,
    read_rivals,
)
from bot.orders.placement.results import ResultRecorder, save_uncreated
from bot.orders.placement.submission import OrderSubmission
from bot.orders.repository import OrderRepository
from bot.orders.rules import OrderRules, may_be_in_progress
from bot.payments.tokens import LIGHTNING
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, SettlementFailure, SlowDown
from bot.settlement.model import CreatedOrder, OrderReport

log = structlog.get_logger(__name__)

EVERY_TWO_SECONDS: Final = 2.0

NOTIFY_AFTER = timedelta(seconds=5)
"""At this age of an intent that lost its process, its user is notified that we check."""

SEARCH_FOR = timedelta(days=1)
MAX_READ = 1000
"""How many orders of one kind are read: the newest, and also the oldest if there are more."""

PAUSE_AFTER_REJECTION = timedelta(seconds=30)
"""How long to pause after the service has rejected our key, or has asked for fewer requests without a time."""

INTERVALS_PER_WAIT = 20
MAX_INTERVAL = timedelta(minutes=10)
"""The list is read after each twentieth of the time since the newest lost order was placed."""


class LostOrders:
    """Look for orders with an unknown result.

    `alone_since` is the time since which no other process has worked on this database, or None if others can be at
    work. Without others, no request for an older intent is in progress, so its order is looked for at once.
    """

    def __init__(
        self,
        infra: Infra,
        settlement: SettlementClient,
        rules: OrderRules,
        *,
        submission: OrderSubmission,
        results: ResultRecorder,
        alone_since: datetime | None = None,
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._settlement = settlement
        self._rules = rules
        self._submission = submission
        self._results = results
        self._alone_since = alone_since
        self._not_before: datetime | None = None
        self._is_own_pause = True

    def begin_to_lead(self) -> None:
        """Forget the pause that this process chose when it led before."""
        self._not_before, self._is_own_pause = None, True

    async def tick(self) -> float:
        """Look for lost orders, and return the seconds until the next call."""
        await self.run_once()
        return EVERY_TWO_SECONDS

    async def run_once(self) -> int:
        """Search for all lost orders once, and return how many there are. It never raises `SettlementFailure`."""
        newest = await self._read_lost(newest_first=True)
        oldest = await self._read_lost(newest_first=False) if len(newest) >= MAX_READ else []
        now = self._clock.now()
        lost = {order.reference: order for order in (*newest, *oldest) if self._is_lost(order, now)}
        searched = [each for each in newest if each.reference in lost and now - each.created_at < SEARCH_FOR]
        if searched and self._is_search_due(searched):
            await self._search(searched)
        await run_each("lost-orders", lost, lambda reference: self._move_on(lost[reference]), field="order")
        return len(lost)

    async def _read_lost(self, *, newest_first: bool) -> list[Order]:
        """Return lost orders, each kind read separately, so that many old orders can't crowd out new ones.

        The newest may still be in the service's list. The oldest may have to be asked about or abandoned.
        """
        async with self._database.reading() as tx:
            unknown = await OrderRepository(tx).in_phase(
                UNCERTAIN_PHASES - {Phase.UNRESOLVED}, MAX_READ, newest_first=newest_first
            )
            asked = await OrderRepository(tx).in_phase({Phase.UNRESOLVED}, MAX_READ, newest_first=newest_first)
        return [*unknown, *asked]

    def _is_lost(self, order: Order, now: datetime) -> bool:
        """Return whether no process can be asking for this order any longer.

        An order isn't searched for while its request can still create it: a similar one could be taken for it. Every
        process judges by the row. Only this process also knows whether it has an answer that it couldn't save in time.
        """
        if self._submission.is_submitting(order.reference):
            return False
        if self._alone_since is not None and order.created_at < self._alone_since:
            return True
        return not may_be_in_progress(order, now)

    def _is_search_due(self, lost: list[Order]) -> bool:
        now = self._clock.now()
        if self._not_before is not None and now < self._not_before:
            # A new lost order doesn't wait for the end of a pause that was chosen for old ones.
            return self._is_own_pause and any(order.phase is not Phase.UNRESOLVED for order in lost)
        return True

    async def _search(self, lost: list[Order]) -> None:
        asked_at = self._clock.now()
        try:
            listing = await read_list(self._settlement, self._clock)
        except SettlementFailure as failure:
            log.info("order_search_failed", error=type(failure).__name__, looked_for=len(lost))
            self._pause(asked_at, lost, failure)
            return
        self._pause(asked_at, lost)
        unclaimed = await self._unclaimed(listing)
        for order in lost:
            with bind_fields(order=order.reference):
                await self._find(order, unclaimed, listing)

    def _pause(self, now: datetime, lost: list[Order], failure: SettlementFailure | None = None) -> None:
        self._is_own_pause = not isinstance(failure, KeyRefused | SlowDown)
        if isinstance(failure, SlowDown) and failure.retry_after:
            self._not_before = now + timedelta(seconds=failure.retry_after)
        elif not self._is_own_pause:
            self._not_before = now + PAUSE_AFTER_REJECTION
        else:
            self._not_before = now + min(
                min(now - order.created_at for order in lost) / INTERVALS_PER_WAIT, MAX_INTERVAL
            )

    async def _find(self, order: Order, unclaimed: list[OrderReport], listing: OrderListing) -> None:
        try:
            report = await self._only_match(order, unclaimed, listing)
            if report is not None:
                await self._adopt(order, report, listing)
        except Exception as error:  # noqa: BLE001  an error about one order must not stop the search for others
            why = type(error).__name__
            log.error("order_match_failed", error=why, where=find_location(error))  # noqa: TRY400  may quote

    async def _unclaimed(self, listing: OrderListing) -> list[OrderReport]:
        async with self._database.reading() as tx:
            claimed = await OrderRepository(tx).by_service_id([report.service_id for report in listing.reports])
        return [report for report in listing.reports if report.service_id not in claimed]

    async def _only_match(
        self, order: Order, unclaimed: list[OrderReport], listing: OrderListing
    ) -> OrderReport | None:
        matches = [report for report in unclaimed if may_match(order, report, listing)]
        if len(matches) != 1:
            return None
        async with self._database.reading() as tx:
            rivals = await OrderRepository(tx).similar_unclaimed(
                order, order.created_at - CREATED_BEFORE - CREATED_AFTER
            )
        others = [rival for rival in rivals if rival.reference != order.reference]
        if any(may_match(rival, matches[0], listing) for rival in others):
            log.warning("order_match_ambiguous")
            return None
        return matches[0]

    async def _adopt(self, order: Order, report: OrderReport, listing: OrderListing) -> None:
        # The single record is the most complete and recent. The list has the same fields (settlement API, 4.7).
        try:
            full = await self._settlement.look_up(report.service_id)
        except SettlementFailure:
            full = report
        if not may_match(order, full, listing):
            return
        created, is_masked = _as_created(order, full), compare_recipients(order, full) == "masked"
        if created.deposit is not None:
            rivals = await self._results.find_rivals(order, created.sats)
            listing = await read_rivals(self._settlement, listing, rivals)
        record_created = self._results.record_created
        if await record_created(order.reference, created, is_masked=is_masked, listing=listing):
            log.info("order_found", order_id=created.service_id, masked=is_masked)

    async def _move_on(self, order: Order) -> None:
        """Notify the user that we check, later ask the user, and finally stop searching."""
        now = self._clock.now()
        phase = self._next_phase(order, now)
        if phase is order.phase:
            return
        async with self._database.transaction() as tx:
            current = await OrderRepository(tx).get(order.reference)
            if current is None or current.version != order.version:
                return
            last_polled_at = now if phase is Phase.UNRESOLVED else current.last_polled_at
            after = replace(current, phase=phase, last_polled_at=last_polled_at)
            await save_uncreated(tx, after, NOTIFICATIONS_OF.get(phase, ()), now)

    def _next_phase(self, order: Order, now: datetime) -> Phase:
        rules = self._rules
        known_since = order.last_polled_at or order.created_at
        if order.phase is Phase.UNRESOLVED:
            return Phase.ABANDONED if now - known_since >= SEARCH_FOR else order.phase
        # Until its result is saved, the service can still be creating the order, even if our process has ended.
        wait = rules.ask_lost_after if order.last_polled_at else max(rules.ask_lost_after, rules.longest_placement)
        if now - known_since >= wait:
            return Phase.UNRESOLVED
        if now - order.created_at >= NOTIFY_AFTER:
            return Phase.UNKNOWN
        return order.phase


NOTIFICATIONS_OF = {Phase.UNKNOWN: (OrderNotification.CHECKING,), Phase.UNRESOLVED: (OrderNotification.UNRESOLVED,)}


def _as_created(order: Order, report: OrderReport) -> CreatedOrder:
    return replace(report.as_created(), bolt11=report.bolt11 if order.channel == LIGHTNING else None, expires_at=None)
