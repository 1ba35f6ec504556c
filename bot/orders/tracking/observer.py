"""Change orders after the service's reports and after time limits. Each change is saved with its notifications."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.fence import LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.log_context import bind_fields
from bot.infra.workers import run_each
from bot.orders.evidence import add_evidence
from bot.orders.notification_kinds import OrderNotification
from bot.orders.notification_queue import queue_order_notifications
from bot.orders.order import EventNote, Order, OrderProblem, Phase, is_late_payment, mark_overdue
from bot.orders.poll_intervals import LONGEST_INTERVAL, next_poll_at
from bot.orders.repository import OrderRepository, TrackedOrder
from bot.orders.rules import OrderRules
from bot.orders.tracking.reports import ReportRecorder, expire_or_close, queue_notifications
from bot.settlement.model import OrderReport

log = structlog.get_logger(__name__)

MAX_TRIES = 3
REPORTS_AT_ONCE = 25
"""How many reports of a list are one transaction. While it is open, no other can write to SQLite."""

UNREADABLE_INTERVAL = timedelta(minutes=1)
"""How often an order is tried again if not even what polling needs can be read. A later version may read it."""

POLL_AWAITED_FOR = timedelta(minutes=2)
"""How long to wait for the next poll before a paid order counts as overdue by its last known state. So after a pause of
the bot itself, the service is polled first."""


class Observer:
    """Apply changes to orders. If two observers change the same order, its version lets only one of them save.

    If an order fails after the payment or takes too long, operators get an alarm, and listeners are notified.
    """

    def __init__(self, infra: Infra, rules: OrderRules, reports: ReportRecorder) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._rules = rules
        self._reports = reports
        self._started_at = infra.clock.now()
        self._tried: dict[str, datetime] = {}

    def begin_to_lead(self) -> None:
        """Wait for the next polls before orders count as overdue, as after a start."""
        self._started_at = self._clock.now()
        self._tried.clear()

    async def apply_report(self, reference: str, report: OrderReport, *, asked_at: datetime) -> Order | None:
        """Apply a report of the service, and return the order. Return None if it is unknown or doesn't open.

        `asked_at` is when the request for the report began. Only a report requested after the expiry can prove that an
        order expired unpaid: with an earlier one, the payment may have arrived at the last moment.
        """
        with bind_fields(order=reference):
            try:
                return await self._apply_report(reference, report, asked_at)
            except RowUnreadable:
                await self._put_off(reference)
                return None

    async def apply_reports(self, reports: Mapping[str, OrderReport], *, asked_at: datetime) -> Sequence[Exception]:
        """Apply the reports of one list, by the references of our orders. Return the errors of those that failed.

        Several reports are one transaction. If that fails, each is applied on its own, so that a bad one holds up no
        other. `asked_at` is as in `apply_report`.
        """
        errors, references = list[Exception](), list(reports)
        for first in range(0, len(references), REPORTS_AT_ONCE):
            some = {reference: reports[reference] for reference in references[first : first + REPORTS_AT_ONCE]}
            try:
                alone: Collection[str] = await self._apply_together(some, asked_at)
            except LeaseLost:
                raise
            except Exception as error:  # noqa: BLE001  whatever it is, it may be about one order only
                log.error("order_reports_not_applied", error=type(error).__name__)  # noqa: TRY400  it may quote rows
                alone = some
            for reference in alone:
                try:
                    await self.apply_report(reference, some[reference], asked_at=asked_at)
                except LeaseLost:
                    raise
                except Exception as error:  # noqa: BLE001  the caller raises it after the other orders
                    errors.append(error)
        return errors

    async def _apply_together(self, reports: Mapping[str, OrderReport], asked_at: datetime) -> Collection[str]:
        """Apply reports in one transaction. Return the orders that another transaction has changed meanwhile.

        Orders from links whose report changes something are returned, too. Each of them locks its link first.
        """
        now, polled, conflicts = self._clock.now(), list[Order](), list[str]()
        async with self._database.transaction() as tx:
            for tracked in await OrderRepository(tx).find_tracked(reports):
                order, report = tracked.order, reports[tracked.order.reference]
                with bind_fields(order=order.reference):
                    poll = self._find_poll(order, report, now, asked_at)
                    if poll is not None:
                        polled.append(poll)
                    elif order.origin is not None or await self._apply(tx, tracked, report, now, asked_at) is None:
                        conflicts.append(order.reference)
            await OrderRepository(tx).save_polls(polled)
        return conflicts

    async def put_off_unreadable(self) -> int:
        """Put off the polls of orders that any query has found unreadable, so that the others are still polled.

        A query for several orders leaves unreadable ones out of its result, so they would stay due. An order whose
        recipient or invoice doesn't open is polled all the same, because polling needs neither.
        """
        now = self._clock.now()
        found = self._database.unreadable_keys("orders") | self._database.left_keys("orders")
        self._tried = {reference: at for reference, at in self._tried.items() if reference in found}
        due = [each for each in found if each not in self._tried or now - self._tried[each] >= UNREADABLE_INTERVAL]
        return len(await run_each("expiries", due, self._put_off, field="order"))

    async def _put_off(self, reference: str) -> None:
        """Try an order later if even what polling needs can't be read. The monitor raises the alarm.

        If only the time of its next poll can't be read, the order is polled now.
        """
        now = self._clock.now()
        self._tried[reference] = now
        async with self._database.transaction() as tx:
            is_put_off = await OrderRepository(tx).poll_unreadable(reference, now, now + UNREADABLE_INTERVAL)
        if is_put_off:
            log.warning("unreadable_order_put_off")

    async def _apply_report(self, reference: str, report: OrderReport, asked_at: datetime) -> Order | None:
        for _ in range(MAX_TRIES):
            now = self._clock.now()
            async with self._database.transaction() as tx:
                tracked = await OrderRepository(tx).get_tracked(reference)
                if tracked is None:
                    return None
                poll = self._find_poll(tracked.order, report, now, asked_at)
                if poll is not None:
                    await OrderRepository(tx).save_polls([poll])
                    return _whole(tracked, poll)
                saved = await self._apply(tx, tracked, report, now, asked_at)
                if saved is not None:
                    return _whole(tracked, saved)
        log.warning("order_update_conflict")
        return None

    def _find_poll(self, order: Order, report: OrderReport, now: datetime, asked_at: datetime) -> Order | None:
        """Return the order with the times of its polls if the report changes nothing else, as most don't."""
        if order.phase is not Phase.OPEN or order.service_id != report.service_id:
            return None
        return self._reports.find_poll(order, report, now, asked_at=asked_at)

    async def _apply(
        self, tx: Transaction, tracked: TrackedOrder, report: OrderReport, now: datetime, asked_at: datetime
    ) -> Order | None:
        """Save what a report changes, and return the order. Return None if another transaction has changed it."""
        if tracked.order.service_id != report.service_id:
            log.error("order_report_mismatched")
            return await self._save_poll(tx, tracked.order, now)
        if tracked.order.phase is Phase.OPEN or is_late_payment(tracked.order, report):
            return await self._reports.record(tx, tracked, report, now, asked_at=asked_at)
        return await self._keep_evidence(tx, tracked, report, now)

    async def _keep_evidence(self, tx: Transaction, tracked: TrackedOrder, report: OrderReport, now: datetime) -> Order:
        """Return an order that isn't tracked, with what is new in a report. Support can still ask for one.

        Nothing is added to an order whose recipient was deleted, because evidence is deleted with the recipient.
        """
        order = await self._save_poll(tx, tracked.order, now)
        evidence = add_evidence(order.evidence, report, now)
        if evidence == order.evidence or not tracked.is_whole or not order.has_recipient:
            return order
        return await OrderRepository(tx).save_tracked(tracked, replace(order, evidence=evidence)) or order

    async def _save_poll(self, tx: Transaction, order: Order, now: datetime) -> Order:
        """Save when an order was polled, and when it is polled next, and return it."""
        polled = replace(order, last_polled_at=now, next_poll_at=next_poll_at(order, now, self._rules.poll_interval))
        await OrderRepository(tx).save_polls([polled])
        return polled

    async def postpone(self, reference: str, *, is_known: bool = True) -> None:
        """Schedule the next poll of an order after a poll without a report.

        `is_known` is False if the service answered that it doesn't know the order. Any other order is polled until the
        service answers, because it may have been paid while the service was down.
        """
        try:
            await self._postpone(reference, is_known=is_known)
        except RowUnreadable:
            await self._put_off(reference)

    async def _postpone(self, reference: str, *, is_known: bool) -> None:
        now = self._clock.now()
        async with self._database.transaction() as tx:
            tracked = await OrderRepository(tx).get_tracked(reference)
            if tracked is None or tracked.order.next_poll_at is None:
                return
            order = tracked.order
            poll_at = next_poll_at(order, now, self._rules.poll_interval)
            if poll_at is not None or is_known:
                polled = replace(order, last_polled_at=now, next_poll_at=poll_at or now + LONGEST_INTERVAL)
                await OrderRepository(tx).save_tracked(tracked, polled)
                return
            # No report will come any longer, so its invoice is taken down.
            after, kinds = expire_or_close(replace(order, last_polled_at=now, next_poll_at=None), now)
            saved = await OrderRepository(tx).save_tracked(tracked, after)
            if saved is None:
                return
            await queue_notifications(tx, saved, kinds, now, has_expired=OrderNotification.EXPIRED in kinds)

    async def check_times(self) -> int:
        """Abandon orders that weren't accepted in time, and report paid ones that take too long. Return how many."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            offers = await OrderRepository(tx).in_phase({Phase.NEEDS_CONFIRMATION})
            late = await OrderRepository(tx).overdue(now - self._rules.overdue_after)
        due = {order.reference: self._close_offer for order in offers if order.is_offer_over(now)}
        due |= {order.reference: self._mark_overdue for order in late if self._is_up_to_date(order, now)}
        return sum(await run_each("expiries", due, lambda reference: due[reference](reference, now), field="order"))

    def _is_up_to_date(self, order: Order, now: datetime) -> bool:
        """Return whether the order was polled after its deadline. The bot itself may have paused before that."""
        deadline = (order.paid_at or now) + self._rules.overdue_after
        was_polled = order.last_polled_at is not None and order.last_polled_at >= deadline
        return was_polled or now >= max(deadline, self._started_at) + POLL_AWAITED_FOR

    async def _mark_overdue(self, reference: str, now: datetime) -> bool:
        async with self._database.transaction() as tx:
            tracked = await OrderRepository(tx).get_tracked(reference)
            if tracked is None:
                return False
            after, kinds = mark_overdue(tracked.order, now, self._rules.overdue_after)
            saved = await OrderRepository(tx).save_tracked(tracked, after) if kinds else None
            if saved is None:
                return False
            await OrderRepository(tx).record_event(saved, now, EventNote.OVERDUE)
            await queue_order_notifications(tx, saved, kinds, now)
            await self._reports.warn_staff(tx, saved, OrderProblem.OVERDUE, now)
        return True

    async def _close_offer(self, reference: str, now: datetime) -> bool:
        """Abandon one order. Its user isn't notified, because no invoice was shown. Its buttons say that it is over."""
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase is not Phase.NEEDS_CONFIRMATION:
                return False
            saved = await OrderRepository(tx).save(replace(order, phase=Phase.ABANDONED))
            if saved is not None:
                await OrderRepository(tx).record_event(saved, now, EventNote.OFFER_OVER)
        return saved is not None


def _whole(tracked: TrackedOrder, order: Order) -> Order | None:
    """Return the order, unless its row doesn't open: then it can't be shown."""
    return order if tracked.is_whole else None
