"""Change orders after the service's reports and after time limits. Each change is saved with its notifications.

`ReportRecorder` saves what a report changes, in the transaction that reads the order. `OrderTracker` has these
transactions. What a report means is decided in `orders/order.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

import structlog
from prometheus_client import Histogram

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.fence import LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.logging import bind_fields
from bot.infra.workers import run_each
from bot.orders.messages import queue_order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import (
    EventNote,
    Failure,
    Order,
    OrderProblem,
    Phase,
    advance,
    expire,
    mark_overdue,
)
from bot.orders.poll_intervals import LONGEST_INTERVAL, next_poll_at
from bot.orders.preferences import DeliveryMode, delivery_mode, step_notification
from bot.orders.receipts.service import create_receipt
from bot.orders.repository import OrderRepository, TrackedOrder
from bot.orders.rules import OrderRules
from bot.payments import bolt11
from bot.settlement.model import COMPLETED, Deposit, OrderReport
from bot.staff.alarms import clear_alarm, raise_order_alarm
from bot.staff.model import AlarmKind
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

EVERY_TWO_SECONDS: Final = 2.0
EVERY_MINUTE: Final = 60.0

FAR_AHEAD: Final = timedelta(days=1)
"""Every open order is due much sooner than that."""

MAX_TRIES = 3
REPORTS_AT_ONCE = 25
"""How many reports of a list are one transaction. While it is open, no other can write to SQLite."""

UNREADABLE_INTERVAL = timedelta(minutes=1)
"""How often an order is tried again if not even what polling needs can be read. A later version may read it."""

POLL_AWAITED_FOR = timedelta(minutes=2)
"""How long to wait for the next poll before a paid order counts as overdue by its last known state. So after a pause of
the bot itself, the service is polled first."""


PAYMENT_NOTICED_SECONDS: Final = Histogram(
    "kirim_payment_noticed_seconds",
    "From the service's time of a payment until the bot saved it.",
    buckets=(1, 2, 3, 5, 8, 13, 30, 60, 300, 3600),
)

ALARM_OF = {OrderProblem.OVERDUE: AlarmKind.ORDER_STUCK, OrderProblem.FAILED: AlarmKind.ORDER_FAILED}


class OrderListener(Protocol):
    """Reacts to events of orders, in the transaction that changes the order.

    So the listener's own changes are saved together with the change of the order.
    """

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """React to an order that needs the staff. Operators have been notified already."""

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """React to any other change of an order's status."""


class ReportRecorder:
    """Save orders with what a report changes: their notifications, their timeline, alarms, and events."""

    def __init__(self, rules: OrderRules, listeners: Sequence[OrderListener] = ()) -> None:
        self._rules = rules
        self._listeners = listeners

    async def record(
        self,
        tx: Transaction,
        tracked: TrackedOrder,
        report: OrderReport,
        now: datetime,
        *,
        asked_at: datetime,
        is_new: bool = False,
    ) -> Order | None:
        """Save the order after a report, and return it. Return None if another transaction has changed it.

        `asked_at` is when the request for the report began. `is_new` says that its user has no message of it to remove
        yet.
        """
        before = tracked.order
        # Whatever it says: the listeners change the link, and it is locked before its orders.
        await self._rules.check_link(tx, before.origin, now)
        after, kinds, has_expired = self._advance(before, report, now, asked_at)
        saved = await OrderRepository(tx).save_tracked(tracked, after)
        if saved is None:
            return None
        await _record_report(tx, before, saved, report, now)
        if saved.state == COMPLETED and saved.has_recipient:
            await create_receipt(tx, saved, now)
        kinds = (*kinds, *await _step_if_chosen(tx, before, saved))
        # There is nothing to remove if its user was never shown how to pay.
        shown = tuple(kind for kind in kinds if not (is_new and kind is OrderNotification.REMOVE_INVOICE))
        await queue_notifications(tx, saved, shown, now, has_expired=has_expired)
        if OrderNotification.FAILED in kinds and saved.failure is not Failure.UNPAID:
            await self.warn_staff(tx, saved, OrderProblem.FAILED, now)
        elif kinds or saved.state != before.state:
            for listener in self._listeners:
                await listener.order_changed(tx, saved, now)
        if saved.is_ended and before.is_overdue:
            await self._clear_overdue(tx, saved, now)
        if saved.is_paid and not before.is_paid and report.paid_at is not None:
            noticed_after = max((now - report.paid_at).total_seconds(), 0.0)
            tx.on_commit.append(partial(PAYMENT_NOTICED_SECONDS.observe, noticed_after))
        return saved

    def find_poll(self, before: Order, report: OrderReport, now: datetime, *, asked_at: datetime) -> Order | None:
        """Return the order with the times of its polls if a report changes nothing else, or else None."""
        after, kinds, _ = self._advance(before, report, now, asked_at)
        polled = replace(before, last_polled_at=after.last_polled_at, next_poll_at=after.next_poll_at)
        return polled if after == polled and not kinds and not _is_another_invoice(before, report) else None

    def _advance(
        self, before: Order, report: OrderReport, now: datetime, asked_at: datetime
    ) -> tuple[Order, tuple[OrderNotification, ...], bool]:
        after, kinds = advance(before, report, now)
        after = replace(after, next_poll_at=next_poll_at(after, now, self._rules.poll_interval))
        after, ending = expire_or_close(after, asked_at)
        return after, tuple(dict.fromkeys((*kinds, *ending))), OrderNotification.EXPIRED in ending

    async def warn_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Raise the alarm about an order, and notify the operators and the listeners."""
        await raise_order_alarm(tx, ALARM_OF[problem], order.reference, now, self._rules.operator_ids)
        for listener in self._listeners:
            await listener.order_needs_staff(tx, order, problem, now)

    async def _clear_overdue(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Clear the alarm. Operators are notified, unless the order failed: then they get another alarm."""
        has_failed = order.state != COMPLETED
        notified_ids = frozenset[int]() if has_failed else self._rules.operator_ids
        await clear_alarm(tx, AlarmKind.ORDER_STUCK, order.reference, now, notified_ids)


class OrderTracker:
    """Apply changes to orders. If two processes change the same order, its version lets only one of them save.

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

    async def tick(self) -> float:
        """Put off unreadable orders, and close old questions and report paid orders that take too long.

        Return the seconds until the next call.
        """
        await run_each("order-deadlines", (self.put_off_unreadable, self.check_deadlines), lambda step: step())
        return EVERY_TWO_SECONDS

    async def find_malformed(self) -> float:
        """Read the orders that are due implausibly late, because their times may be malformed.

        SQLite compares times as text. So a malformed time can sort after all others, and its row would never be read.
        Once it is read, it is recorded as an unreadable row. Return the seconds until the next call.
        """
        far_ahead = self._clock.now() + FAR_AHEAD
        async with self._database.reading() as tx:
            for is_paid in (True, False):
                await OrderRepository(tx).due_after(far_ahead, is_paid=is_paid)
        return EVERY_MINUTE

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
                        continue
                    record = self._reports.record
                    if order.origin is not None or not await record(tx, tracked, report, now, asked_at=asked_at):
                        conflicts.append(order.reference)
            await OrderRepository(tx).save_polls(polled)
        return conflicts

    async def put_off_unreadable(self) -> int:
        """Put off the polls of orders that any query has found unreadable, so that the others are still polled.

        A query for several orders leaves unreadable ones out of its result, so they would stay due. An order whose
        recipient or invoice doesn't open is polled all the same, because polling needs neither.
        """
        now = self._clock.now()
        found = self._database.unreadable_keys("orders")
        self._tried = {reference: at for reference, at in self._tried.items() if reference in found}
        due = [each for each in found if each not in self._tried or now - self._tried[each] >= UNREADABLE_INTERVAL]
        return len(await run_each("order-deadlines", due, self._put_off, field="order"))

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
                saved = await self._reports.record(tx, tracked, report, now, asked_at=asked_at)
                if saved is not None:
                    return _whole(tracked, saved)
        log.warning("order_update_conflict")
        return None

    def _find_poll(self, order: Order, report: OrderReport, now: datetime, asked_at: datetime) -> Order | None:
        """Return the order with the times of its polls if the report changes nothing else, as most don't."""
        if order.service_id == report.service_id:
            return self._reports.find_poll(order, report, now, asked_at=asked_at)
        log.error("order_report_mismatched")
        return replace(order, last_polled_at=now, next_poll_at=next_poll_at(order, now, self._rules.poll_interval))

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
            # No report will come any longer, so its invoice is removed.
            after, kinds = expire_or_close(replace(order, last_polled_at=now, next_poll_at=None), now)
            saved = await OrderRepository(tx).save_tracked(tracked, after)
            if saved is None:
                return
            await queue_notifications(tx, saved, kinds, now, has_expired=OrderNotification.EXPIRED in kinds)

    async def check_deadlines(self) -> int:
        """Abandon orders that weren't accepted in time, and report paid ones that take too long. Return how many.

        An unpaid invoice expires with the next poll instead (`reports.expire_or_close`): it may have been paid.
        """
        now = self._clock.now()
        async with self._database.reading() as tx:
            offers = await OrderRepository(tx).in_phase({Phase.NEEDS_CONFIRMATION})
            late = await OrderRepository(tx).overdue(now - self._rules.overdue_after)
        due = {order.reference: self._close_offer for order in offers if order.is_offer_over(now)}
        due |= {order.reference: self._mark_overdue for order in late if self._is_up_to_date(order, now)}
        return sum(
            await run_each("order-deadlines", due, lambda reference: due[reference](reference, now), field="order")
        )

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
            abandoned = replace(order, phase=Phase.ABANDONED)
            return await OrderRepository(tx).save_with_event(abandoned, now, EventNote.OFFER_OVER) is not None


def _whole(tracked: TrackedOrder, order: Order) -> Order | None:
    """Return the order, unless its row doesn't open: then it can't be shown."""
    return order if tracked.is_whole else None


async def _record_report(tx: Transaction, before: Order, after: Order, report: OrderReport, now: datetime) -> None:
    if after.is_paid and not before.is_paid and report.paid_at is not None and not report.is_payment:
        await OrderRepository(tx).record_event(after, now, EventNote.PAYMENT, report.paid_at)
    if after.state != before.state:
        await OrderRepository(tx).record_event(after, now, service_at=report.since)
    if _is_another_invoice(before, report):
        known = {event.note for event in await OrderRepository(tx).events(after.reference)}
        if EventNote.INVOICE_REPLACED not in known:
            log.error("invoice_replaced")
            await OrderRepository(tx).record_event(after, now, EventNote.INVOICE_REPLACED, report.since)


def _is_another_invoice(order: Order, report: OrderReport) -> bool:
    shown, reported = (_payment_target(each.bolt11, each.deposit) for each in (order, report))
    return shown is not None and reported is not None and shown != reported


def _payment_target(invoice: str | None, deposit: Deposit | None) -> str | None:
    """Return the invoice or the address in lower case, so that both can be compared."""
    if invoice:
        return bolt11.normalize(invoice)
    return deposit.to_address.casefold() if deposit else None


async def _step_if_chosen(tx: Transaction, before: Order, after: Order) -> tuple[OrderNotification, ...]:
    """Return the notification of a small step if the user has chosen to get it."""
    step = step_notification(before, after)
    if step is None:
        return ()
    user = None if after.payer.user_id is None else await UserRepository(tx).get_if_readable(after.payer.user_id)
    mode = delivery_mode(step, user.notification_preferences if user else None)
    return () if mode is DeliveryMode.STATUS_ONLY else (step,)


def expire_or_close(order: Order, asked_at: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, as expired or closed if its time is over, and the notifications about that.

    `asked_at` is as in `OrderTracker.apply_report`.
    """
    if order.phase is not Phase.OPEN:
        return order, ()
    after, kinds = expire(order, asked_at)
    if after.next_poll_at is None:
        # The bot wouldn't see a later payment, so the invoice is removed.
        closing = (OrderNotification.REMOVE_INVOICE, OrderNotification.EDIT_STATUS)
        after, kinds = replace(after, phase=Phase.DONE), tuple(dict.fromkeys((*kinds, *closing)))
    return after, kinds


async def queue_notifications(
    tx: Transaction, order: Order, kinds: tuple[OrderNotification, ...], now: datetime, *, has_expired: bool
) -> None:
    """Queue the notifications of a saved order. Record in its timeline if it has expired."""
    if has_expired:
        await OrderRepository(tx).record_event(order, now, EventNote.EXPIRED)
    await queue_order_notifications(tx, order, kinds, now)
