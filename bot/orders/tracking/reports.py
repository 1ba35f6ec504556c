"""Record what a report of the service changes about an order, in the transaction that reads the order."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from prometheus_client import Histogram

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notification_kinds import OrderNotification, OrderWarning
from bot.orders.notification_queue import ALARM_OF, operator_notifications, queue_order_notifications
from bot.orders.order import EventNote, Failure, Order, OrderProblem, Phase, advance, expire
from bot.orders.poll_intervals import next_poll_at
from bot.orders.preferences import DeliveryMode, delivery_mode, step_notification
from bot.orders.receipts.service import create_receipt
from bot.orders.repository import OrderRepository, TrackedOrder
from bot.orders.rules import OrderRules
from bot.payments import bolt11
from bot.settlement.model import Deposit, OrderReport
from bot.settlement.steps import COMPLETED
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import add_order_alarm, clear_alarm
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

PAYMENT_NOTICED_SECONDS: Final = Histogram(
    "kirim_payment_noticed_seconds",
    "From the service's time of a payment until the bot saved it.",
    buckets=(1, 2, 3, 5, 8, 13, 30, 60, 300, 3600),
)

WARNING_OF = {OrderProblem.OVERDUE: OrderWarning.STUCK, OrderProblem.FAILED: OrderWarning.FAILED}


class ReportRecorder:
    """Save orders with what a report changes: their notifications, their timeline, alarms, and events."""

    def __init__(self, infra: Infra, rules: OrderRules) -> None:
        self._rules = rules
        self._features = infra.features

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

        `tracked` is an open order. `asked_at` is when the request for the report began. `is_new` says that its user has
        no message of it to remove yet.
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
        shown = tuple(kind for kind in kinds if not (is_new and kind is OrderNotification.TAKE_DOWN))
        await queue_notifications(tx, saved, shown, now, has_expired=has_expired)
        if OrderNotification.FAILED in kinds and saved.failure is not Failure.UNPAID:
            await self.warn_staff(tx, saved, OrderProblem.FAILED, now)
        elif kinds or saved.state != before.state:
            for feature in self._features:
                for listener in feature.order_listeners:
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
        """Return the order after a report, the notifications about that, and whether it has expired."""
        after, kinds = advance(before, report, now)
        after = replace(after, next_poll_at=next_poll_at(after, now, self._rules.poll_interval))
        after, ending = expire_or_close(after, asked_at)
        return after, tuple(dict.fromkeys((*kinds, *ending))), OrderNotification.EXPIRED in ending

    async def warn_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Raise the alarm about an order, and notify the operators and the listeners."""
        operators, warning = self._rules.operator_ids, WARNING_OF[problem]
        await add_order_alarm(tx, ALARM_OF[warning], order.reference, now)
        await OutboxRepository(tx).add(operator_notifications(operators, warning, order, now))
        for feature in self._features:
            for listener in feature.order_listeners:
                await listener.order_needs_staff(tx, order, problem, now)

    async def _clear_overdue(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Clear the alarm. Operators are notified, unless the order failed: then they get another alarm."""
        has_failed = order.state != COMPLETED
        notified_ids = frozenset[int]() if has_failed else self._rules.operator_ids
        await clear_alarm(tx, AlarmKind.ORDER_STUCK, order.reference, now, notified_ids)


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
    user = None if after.payer.user_id is None else await UserRepository(tx).get_if_readable(after.payer.user_id)
    mode = delivery_mode(step, user.notification_preferences if user else None)
    return () if mode is DeliveryMode.STATUS_ONLY else (step,)


def expire_or_close(order: Order, asked_at: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, as expired or closed if its time is over, and the notifications about that.

    `asked_at` is as in `Observer.apply_report`.
    """
    after, expiry = expire(order, asked_at)
    after, closing = _close_if_not_polled(after)
    return after, tuple(dict.fromkeys((*expiry, *closing)))


async def queue_notifications(
    tx: Transaction, order: Order, kinds: tuple[OrderNotification, ...], now: datetime, *, has_expired: bool
) -> None:
    """Queue the notifications of a saved order. Record in its timeline if it has expired."""
    if has_expired:
        await OrderRepository(tx).record_event(order, now, EventNote.EXPIRED)
    await queue_order_notifications(tx, order, kinds, now)


def _close_if_not_polled(order: Order) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, as closed if it is no longer polled, and the notifications about that.

    The bot wouldn't see a later payment, so the invoice is taken down.
    """
    if order.phase is not Phase.OPEN or order.next_poll_at is not None:
        return order, ()
    return replace(order, phase=Phase.DONE), (OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT)
