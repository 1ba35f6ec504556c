"""Save the result of the request for an order: created, refused or unknown.

Each result is saved with its notifications in one transaction. The request's task and `LostOrders` may get the same
result, even in two processes. The version of the row lets only the first of them save it.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

import structlog

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.deposits import MAY_BE_PAID_FOR, find_earlier_deposits
from bot.orders.messages import order_notifications, queue_order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import UNCERTAIN_PHASES, EventNote, Order, Phase
from bot.orders.placement.invoice_check import InvoiceCheck, check_invoice, withhold
from bot.orders.placement.matching import OrderListing
from bot.orders.poll_intervals import next_poll_at
from bot.orders.repository import OrderRepository, Rival
from bot.orders.rules import OrderRules, may_begin
from bot.settlement.model import CreatedOrder
from bot.staff.alarms import raise_order_alarm
from bot.staff.model import AlarmKind

log = structlog.get_logger(__name__)


class ResultRecorder:
    """Save the results of intents."""

    def __init__(self, infra: Infra, rules: OrderRules) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._rules = rules

    async def may_request(self, reference: str) -> bool:
        """Return whether the one request for this intent may begin now, by the row of the intent."""
        async with self._database.reading() as tx:
            intent = await OrderRepository(tx).get(reference)
        return intent is not None and may_begin(intent, self._clock.now(), self._rules)

    async def find_rivals(self, order: Order, sats: int) -> tuple[Rival, ...]:
        """Return our other orders that a deposit of this sum could pay."""
        async with self._database.reading() as tx:
            return await find_rivals(tx, order, sats, self._clock.now())

    async def record_created(
        self, reference: str, created: CreatedOrder, *, listing: OrderListing | None, is_masked: bool = False
    ) -> Order | None:
        """Save the order that the service created for our intent, and notify its user.

        Return None if the intent was abandoned or already has a result. Then nothing is shown.

        Args:
            reference: the reference of the intent.
            created: the service's answer.
            listing: a list that has the order. An order with an invoice doesn't need one.
            is_masked: whether the service shows only part of the recipient by which the order was found.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            intent = await OrderRepository(tx).get(reference)
            if intent is None or await OrderRepository(tx).by_service_id([created.service_id]):
                return None
            if intent.phase is Phase.ABANDONED and intent.service_id is None:
                # Save the service's id all the same, so that its order isn't assigned to another intent.
                await OrderRepository(tx).save(replace(intent, service_id=created.service_id))
            if intent.phase not in UNCERTAIN_PHASES:
                return None
            check = await self._check(tx, intent, created, listing, now, is_masked=is_masked)
            saved = await self.save_check(tx, check, now)
            if saved is None:
                return None
            if check.complaint:
                await self._warn_staff(tx, saved, check.complaint, now)
            return saved

    async def record_refused(self, reference: str, reason: str | None = None) -> None:
        """Save that the service hasn't created an order. `reason` is the service's own text, if there is one."""
        await self._change_phase(reference, UNCERTAIN_PHASES, Phase.REFUSED, OrderNotification.REFUSED, reason)

    async def record_unknown(self, reference: str) -> None:
        """Save that the request ended without an answer. From now on `LostOrders` looks for the order."""
        await self._change_phase(reference, {Phase.INTENDED, Phase.UNKNOWN}, Phase.UNKNOWN, OrderNotification.CHECKING)

    async def _check(
        self,
        tx: Transaction,
        intent: Order,
        created: CreatedOrder,
        listing: OrderListing | None,
        now: datetime,
        *,
        is_masked: bool,
    ) -> InvoiceCheck:
        """Return what may be shown, after comparing the order with all others: one request, one payment, one order."""
        link_outcome = await self._rules.check_link(tx, intent.origin, now)
        check = check_invoice(intent, created, self._rules, now, is_masked=is_masked)
        other = await _find_same_invoice(tx, check.order)
        if other is not None:
            check = replace(check, order=replace(check.order, payment_hash=None))
        order = check.order
        if order.phase is Phase.ABANDONED:
            return check
        if link_outcome:
            return withhold(order, link_outcome, note=EventNote.LINK_OVER)
        if await is_superseded(tx, intent):
            return withhold(order, OrderNotification.SUPERSEDED, note=EventNote.SUPERSEDED)
        if other is not None:
            return withhold(
                order, OrderNotification.NOT_SHOWN, complaint=f"its payment hash is that of order {other.reference}"
            )
        if order.deposit is not None and not order.is_paid and not order.is_ended:
            await OrderRepository(tx).lock_payment(f"{order.channel}:{order.sats}")
            if await has_rivals(tx, order, listing, now):
                return withhold(order, OrderNotification.DEPOSIT_TAKEN, note=EventNote.DEPOSIT_TAKEN)
        return check

    async def save_check(self, tx: Transaction, check: InvoiceCheck, now: datetime) -> Order | None:
        """Save a checked order with its notifications. Return None if another transaction has changed it."""
        poll_at = next_poll_at(check.order, now, self._rules.poll_interval)
        checked = replace(check.order, next_poll_at=poll_at, posting_until=None)
        saved = await OrderRepository(tx).save_with_event(checked, now, check.note)
        if saved is not None:
            await queue_order_notifications(tx, saved, (*check.notifications, OrderNotification.EDIT_REVIEW), now)
        return saved

    async def _change_phase(
        self,
        reference: str,
        known: Collection[Phase],
        phase: Phase,
        kind: OrderNotification,
        reason: str | None = None,
    ) -> None:
        now = self._clock.now()
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase not in known:
                return
            after = replace(order, phase=phase, refusal=reason, last_polled_at=now)
            await save_uncreated(tx, after, (kind,), now)

    async def _warn_staff(self, tx: Transaction, order: Order, complaint: str, now: datetime) -> None:
        tx.on_commit.append(lambda: log.error("order_withheld", reason=complaint))
        kind, reference, operator_ids = AlarmKind.INVOICE_MISMATCH, order.reference, self._rules.operator_ids
        await raise_order_alarm(tx, kind, reference, now, operator_ids, complaint=complaint)


async def save_uncreated(tx: Transaction, order: Order, kinds: Collection[OrderNotification], now: datetime) -> None:
    """Save the new phase of an order that the service hasn't created as far as we know, with its notifications.

    From now on its request isn't in progress.
    """
    saved = await OrderRepository(tx).save_with_event(replace(order, posting_until=None), now)
    if saved is not None:
        await OutboxRepository(tx).add(order_notifications(saved, kinds, now))


async def _find_same_invoice(tx: Transaction, order: Order) -> Order | None:
    """Return another order with the same payment hash. A withheld order keeps its payment hash."""
    if order.payment_hash is None:
        return None
    await OrderRepository(tx).lock_payment(order.payment_hash)
    return await OrderRepository(tx).with_payment_hash(order.payment_hash)


async def find_rivals(tx: Transaction, order: Order, sats: int, now: datetime) -> tuple[Rival, ...]:
    """Return our other orders that a deposit of this sum could pay.

    The sums of our deposits differ. So there are only lost orders whose sum we don't know, and orders for which the
    service named another sum than it was asked for.
    """
    return await OrderRepository(tx).rivals(order.channel, sats, but=order.reference, since=now - MAY_BE_PAID_FOR)


async def has_rivals(tx: Transaction, order: Order, listing: OrderListing | None, now: datetime) -> bool:
    """Return whether a payment for the deposit of `order` could settle another order.

    That can be an order of ours in whatever phase, or an earlier one in the service's list. The service knows nothing
    of what was shown.
    """
    if order.service_id is None or order.deposit is None or order.sats is None:
        return False
    if listing is None:
        raise ValueError("a deposit is shown only after the list of orders was read")
    own = [rival.service_id for rival in await find_rivals(tx, order, order.sats, now)]
    earlier = find_earlier_deposits(listing.reports, order.service_id, order.deposit, order.sats, now)
    return any(each not in listing.settled for each in (*own, *(report.service_id for report in earlier)))


async def is_superseded(tx: Transaction, intent: Order) -> bool:
    """Return whether its payer has placed the same order again since. Only the newest of equal orders is shown.

    Orders that the service refused don't count.
    """
    newer = await OrderRepository(tx).placed_after(intent.payer, intent.created_at)
    return any(order.phase is not Phase.REFUSED and order.is_same_request_as(intent) for order in newer)
