"""Change orders after the service's reports and after time limits. Each change is saved with its notifications."""

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.log_context import bind_fields
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.events import OrderEvents, OrderProblem
from bot.orders.metrics import record_payment_noticed
from bot.orders.notifications.kinds import OrderNotification, OrderWarning
from bot.orders.notifications.queueing import ALARM_OF, operator_notifications, order_notifications
from bot.orders.order import EventNote, Failure, Order, Phase, advance, expire, mark_overdue
from bot.orders.placement.service import OrderService
from bot.orders.preferences import DeliveryMode, delivery_mode, step_notification
from bot.orders.repository import OrderRepository
from bot.orders.tracking.intervals import LONGEST_INTERVAL, next_poll_at
from bot.payments import bolt11
from bot.settlement.model import Deposit, OrderReport
from bot.settlement.steps import COMPLETED
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import add_order_alarm, clear_alarm
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

WARNING_OF = {OrderProblem.OVERDUE: OrderWarning.STUCK, OrderProblem.FAILED: OrderWarning.FAILED}
MAX_TRIES = 3
POLL_AWAITED_FOR = timedelta(minutes=2)
"""How long to wait for the next poll before a paid order counts as overdue by its last known state. So after a pause of
the bot itself, the service is polled first."""


class Observer:
    """Apply changes to orders. If two observers change the same order, its version lets only one of them save.

    If an order fails after the payment or takes too long, operators get an alarm, and `events` notifies its listeners.
    """

    def __init__(self, orders: OrderService, events: OrderEvents) -> None:
        self._orders = orders
        self._events = events
        self._store = orders.store
        self._clock = orders.clock
        self._started_at = orders.clock.now()
        self._skipped = set[str]()

    def begin_to_lead(self) -> None:
        """Wait for the next polls before orders count as overdue, as after a start."""
        self._started_at = self._clock.now()

    async def apply_report(self, reference: str, report: OrderReport, *, asked_at: datetime) -> Order | None:
        """Apply a report of the service, and return the order. Return None if it is unknown or can't be read.

        `asked_at` is when the request for the report began. Only a report requested after the expiry can prove that an
        order expired unpaid: with an earlier one, the payment may have arrived at the last moment.
        """
        with bind_fields(order=reference):
            try:
                return await self._apply_report(reference, report, asked_at)
            except RowUnreadable:
                await self._skip(reference)
                return None

    async def skip_unreadable(self) -> None:
        """Stop polling the orders that any query has found unreadable.

        A query for several orders leaves unreadable ones out of its result, so they would stay due for ever.
        """
        for reference in self._store.unreadable_keys("orders") - self._skipped:
            with bind_fields(order=reference):
                await self._skip(reference)

    async def _skip(self, reference: str) -> None:
        """Stop polling an order that can't be read, so that the others are still polled. The monitor raises the alarm.

        If only the time of its next poll can't be read, the order is polled now.
        """
        self._skipped.add(reference)
        async with self._store.transaction() as tx:
            is_skipped = await OrderRepository(tx).skip_polling(reference, self._clock.now())
        if is_skipped:
            log.error("unreadable_order_skipped")

    async def _apply_report(self, reference: str, report: OrderReport, asked_at: datetime) -> Order | None:
        for _ in range(MAX_TRIES):
            now = self._clock.now()
            async with self._store.transaction() as tx:
                before = await OrderRepository(tx).get(reference)
                if before is None or before.phase is not Phase.OPEN:
                    return before
                if before.service_id != report.service_id:
                    log.error("order_report_mismatched")
                    poll_at = next_poll_at(before, now, self._orders.rules.poll_interval)
                    return await OrderRepository(tx).save(replace(before, last_polled_at=now, next_poll_at=poll_at))
                after, kinds = advance(before, report, now)
                after = replace(after, next_poll_at=next_poll_at(after, now, self._orders.rules.poll_interval))
                after, ending = _expire_or_close(after, asked_at)
                kinds = tuple(dict.fromkeys((*kinds, *ending)))
                saved = await OrderRepository(tx).save(after)
                if saved is None:
                    continue
                await _record_report(tx, before, saved, report, now)
                kinds = (*kinds, *await _step_if_chosen(tx, before, saved))
                await _queue_notifications(tx, saved, kinds, now, has_expired=OrderNotification.EXPIRED in ending)
                if OrderNotification.FAILED in kinds and saved.failure is not Failure.UNPAID:
                    await self._warn_staff(tx, saved, OrderProblem.FAILED, now)
                elif kinds or saved.state != before.state:
                    await self._events.report_change(tx, saved, now)
                if saved.is_ended and before.is_overdue:
                    await self._clear_overdue(tx, saved, now)
            if saved.is_paid and not before.is_paid and report.paid_at is not None:
                record_payment_noticed(report.paid_at, now)
            if kinds:
                self._orders.on_notification()
            return saved
        log.warning("order_update_conflict")
        return None

    async def postpone(self, reference: str, *, is_known: bool = True) -> None:
        """Schedule the next poll of an order after a poll without a report.

        `is_known` is False if the service answered that it doesn't know the order. Any other order is polled until the
        service answers, because it may have been paid while the service was down.
        """
        try:
            await self._postpone(reference, is_known=is_known)
        except RowUnreadable:
            await self._skip(reference)

    async def _postpone(self, reference: str, *, is_known: bool) -> None:
        now = self._clock.now()
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase is not Phase.OPEN:
                return
            poll_at = next_poll_at(order, now, self._orders.rules.poll_interval)
            if poll_at is not None or is_known:
                await OrderRepository(tx).save(
                    replace(order, last_polled_at=now, next_poll_at=poll_at or now + LONGEST_INTERVAL)
                )
                return
            # No report will come any longer, so its invoice is taken down.
            after, kinds = _expire_or_close(replace(order, last_polled_at=now, next_poll_at=None), now)
            saved = await OrderRepository(tx).save(after)
            if saved is None:
                return
            await _queue_notifications(tx, saved, kinds, now, has_expired=OrderNotification.EXPIRED in kinds)
        self._orders.on_notification()

    async def close_offers(self) -> int:
        """Abandon the orders that were not accepted in time. Return how many."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            over = [
                order
                for order in await OrderRepository(tx).in_phase({Phase.NEEDS_CONFIRMATION})
                if order.is_offer_over(now)
            ]
        for order in over:
            with bind_fields(order=order.reference):
                await self._close_offer(order.reference, now)
        return len(over)

    async def mark_overdue(self) -> int:
        """Notify users and staff of paid orders that take too long. Return how many."""
        now, after = self._clock.now(), self._orders.rules.overdue_after
        async with self._store.reading() as tx:
            due = await OrderRepository(tx).overdue(now - after)
        marked = 0
        for order in due:
            if self._is_up_to_date(order, now):
                with bind_fields(order=order.reference):
                    marked += await self._mark_overdue(order.reference, now)
        return marked

    def _is_up_to_date(self, order: Order, now: datetime) -> bool:
        """Return whether the order was polled after its deadline. The bot itself may have paused before that."""
        deadline = (order.paid_at or now) + self._orders.rules.overdue_after
        was_polled = order.last_polled_at is not None and order.last_polled_at >= deadline
        return was_polled or now >= max(deadline, self._started_at) + POLL_AWAITED_FOR

    async def _mark_overdue(self, reference: str, now: datetime) -> bool:
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None:
                return False
            after, kinds = mark_overdue(order, now, self._orders.rules.overdue_after)
            saved = await OrderRepository(tx).save(after) if kinds else None
            if saved is None:
                return False
            await OrderRepository(tx).record_event(saved, now, EventNote.OVERDUE)
            await OutboxRepository(tx).add(order_notifications(saved, kinds, now))
            await self._warn_staff(tx, saved, OrderProblem.OVERDUE, now)
        self._orders.on_notification()
        return True

    async def _clear_overdue(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Clear the alarm. Operators are notified, unless the order failed: then they get another alarm."""
        has_failed = order.state != COMPLETED
        notified_ids = frozenset[int]() if has_failed else self._orders.rules.operator_ids
        await clear_alarm(tx, AlarmKind.ORDER_STUCK, order.reference, now, notified_ids)

    async def _warn_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        operators, warning = self._orders.rules.operator_ids, WARNING_OF[problem]
        await add_order_alarm(tx, ALARM_OF[warning], order.reference, now)
        await OutboxRepository(tx).add(operator_notifications(operators, warning, order, now))
        await self._events.report_problem(tx, order, problem, now)

    async def _close_offer(self, reference: str, now: datetime) -> None:
        """Abandon one order. Its user isn't notified, because no invoice was shown. Its buttons say that it is over."""
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase is not Phase.NEEDS_CONFIRMATION:
                return
            saved = await OrderRepository(tx).save(replace(order, phase=Phase.ABANDONED))
            if saved is not None:
                await OrderRepository(tx).record_event(saved, now, EventNote.OFFER_OVER)


async def _record_report(tx: Transaction, before: Order, after: Order, report: OrderReport, now: datetime) -> None:
    """Record what a report changed, and whether it has another invoice than the one that was shown."""
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
    """Return whether the report has another invoice or address than the user was shown."""
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
    user = await UserRepository(tx).get_if_readable(after.user_id)
    mode = delivery_mode(step, user.notification_preferences if user else None)
    return () if mode is DeliveryMode.STATUS_ONLY else (step,)


def _expire_or_close(order: Order, asked_at: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, as expired or closed if its time is over, and the notifications about that.

    `asked_at` is as in `Observer.apply_report`.
    """
    after, expiry = expire(order, asked_at)
    after, closing = _close_if_not_polled(after)
    return after, tuple(dict.fromkeys((*expiry, *closing)))


async def _queue_notifications(
    tx: Transaction, order: Order, kinds: tuple[OrderNotification, ...], now: datetime, *, has_expired: bool
) -> None:
    """Queue the notifications of a saved order. Record in its timeline if it has expired."""
    if has_expired:
        await OrderRepository(tx).record_event(order, now, EventNote.EXPIRED)
    await OutboxRepository(tx).add(order_notifications(order, kinds, now))


def _close_if_not_polled(order: Order) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, as closed if it is no longer polled, and the notifications about that.

    The bot wouldn't see a later payment, so the invoice is taken down.
    """
    if order.phase is not Phase.OPEN or order.next_poll_at is not None:
        return order, ()
    return replace(order, phase=Phase.DONE), (OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT)
