"""What the service says of an order, and what the clock says of it: each change and its news in one transaction."""

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.db.unreadable import unreadable_keys
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.events import OrderEvents, OrderProblem
from bot.orders.notifications import news_of, staff_news, subject_of
from bot.orders.order import EventNote, Failure, Order, OrderNotification, Phase, advance, expire, stick
from bot.orders.placement.service import OrderService
from bot.orders.preferences import Way, step_news, way_of
from bot.orders.repository import OrderRepository
from bot.orders.tracking.intervals import LONGEST_INTERVAL, next_poll_at
from bot.payments import bolt11
from bot.settlement.model import Deposit, OrderReport
from bot.settlement.steps import COMPLETED
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import of_order, over
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

ALARM_OF = {OrderProblem.OVERDUE: AlarmKind.ORDER_STUCK, OrderProblem.FAILED: AlarmKind.ORDER_FAILED}
NOTIFICATION_OF = {
    OrderProblem.OVERDUE: OrderNotification.STAFF_STUCK,
    OrderProblem.FAILED: OrderNotification.STAFF_FAILED,
}
TRIES = 3
UNSEEN_FOR = timedelta(minutes=2)
"""How long a paid order's next look may fail to come before it is called stuck by what was last known. After a longer
pause of the bot's own, the service is asked first."""


class Observer:
    """Moves orders on. Two observers of one order can't both tell the same news: the version decides.

    If an order fails after the payment or takes too long, operators get an alarm. `events` passes it on.
    """

    def __init__(self, orders: OrderService, events: OrderEvents) -> None:
        self._orders = orders
        self._events = events
        self._store = orders.store
        self._clock = orders.clock
        self._since = orders.clock.now()
        self._aside = set[str]()

    async def observe(self, reference: str, report: OrderReport, *, asked_at: datetime) -> Order | None:
        """Take in one report of the service; the order as it is now, or None where it is nobody's or can't be read.

        `asked_at` is when the request for the report began. An expiry is told only by a report that was asked for
        after it: of an order that was paid at the last moment, an earlier one says nothing.
        """
        try:
            return await self._observe(reference, report, asked_at)
        except RowUnreadable:
            await self._set_aside(reference)
            return None

    async def set_unreadable_aside(self) -> None:
        """Leave all orders out of the polling that any query has found unreadable, once.

        One that is listed or looked for with others is only left out of the answer, so it would stay due.
        """
        for reference in unreadable_keys(self._store, "orders") - self._aside:
            await self._set_aside(reference)

    async def _set_aside(self, reference: str) -> None:
        """Leave an order that can't be read out of the polling: the others go on, and the watch raises the alarm.

        If only the time of its next look can't be read, it is looked at now.
        """
        self._aside.add(reference)
        async with self._store.transaction() as tx:
            is_skipped = await OrderRepository(tx).set_aside(reference, self._clock.now())
        if is_skipped:
            log.error("unreadable_order_skipped", order=reference)

    async def _observe(self, reference: str, report: OrderReport, asked_at: datetime) -> Order | None:
        for _ in range(TRIES):
            now = self._clock.now()
            async with self._store.transaction() as tx:
                before = await OrderRepository(tx).get(reference)
                if before is None or before.phase is not Phase.OPEN:
                    return before
                if before.service_id != report.service_id:
                    log.error("order_report_mismatched", order=reference)
                    look = next_poll_at(before, now, self._orders.rules.poll_interval)
                    return await OrderRepository(tx).save(replace(before, looked_at=now, next_look_at=look))
                after, news = advance(before, report, now)
                after = replace(after, next_look_at=next_poll_at(after, now, self._orders.rules.poll_interval))
                after, ending = _end_if_over(after, asked_at)
                news = tuple(dict.fromkeys((*news, *ending)))
                saved = await OrderRepository(tx).save(after)
                if saved is None:
                    continue
                await _note_report(tx, before, saved, report, now)
                news = (*news, *await _steps_wished(tx, before, saved))
                await _tell(tx, saved, news, now, has_expired=OrderNotification.EXPIRED in ending)
                if OrderNotification.FAILED in news and saved.failure is not Failure.UNPAID:
                    await self._tell_staff(tx, saved, OrderProblem.FAILED, now)
                elif news or saved.state != before.state:
                    await self._events.changed(tx, saved, now)
                if saved.is_ended and before.is_stuck:
                    await self._unstick(tx, saved, now)
            if news:
                self._orders.on_news()
            return saved
        log.warning("order_update_conflict", order=reference)
        return None

    async def put_off(self, reference: str, *, is_known: bool = True) -> None:
        """A look that brought nothing: the next comes at its usual time.

        `is_known`: the service hasn't said that it doesn't know the order. Such an order is followed until there is an
        answer about it: it may have been paid while the service was away.
        """
        try:
            await self._put_off(reference, is_known=is_known)
        except RowUnreadable:
            await self._set_aside(reference)

    async def _put_off(self, reference: str, *, is_known: bool) -> None:
        now = self._clock.now()
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or order.phase is not Phase.OPEN:
                return
            look = next_poll_at(order, now, self._orders.rules.poll_interval)
            if look is not None or is_known:
                await OrderRepository(tx).save(
                    replace(order, looked_at=now, next_look_at=look or now + LONGEST_INTERVAL)
                )
                return
            # Nothing more will be heard of it, so its invoice is taken down at last.
            after, news = _end_if_over(replace(order, looked_at=now, next_look_at=None), now)
            saved = await OrderRepository(tx).save(after)
            if saved is None:
                return
            await _tell(tx, saved, news, now, has_expired=OrderNotification.EXPIRED in news)
        self._orders.on_news()

    async def close_offers(self) -> int:
        """Close the offers that nobody took in time; how many."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            over = [held for held in await OrderRepository(tx).in_phase({Phase.HELD}) if held.offer_is_over(now)]
        for held in over:
            await self._close_offer(held.reference, now)
        return len(over)

    async def stick_due(self) -> int:
        """Tell the paid orders that aren't done after so long, to their persons and to the staff; how many."""
        now, patience = self._clock.now(), self._orders.rules.stuck_after
        async with self._store.reading() as tx:
            due = await OrderRepository(tx).stuck(now - patience)
        return sum([await self._stick(order.reference, now) for order in due if self._is_known_by(order, now)])

    def _is_known_by(self, order: Order, now: datetime) -> bool:
        """Whether the service was asked late enough: what a bot that was away last knew tells nothing of today."""
        deadline = (order.paid_at or now) + self._orders.rules.stuck_after
        was_seen = order.looked_at is not None and order.looked_at >= deadline
        return was_seen or now >= max(deadline, self._since) + UNSEEN_FOR

    async def _stick(self, reference: str, now: datetime) -> bool:
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None:
                return False
            after, news = stick(order, now, self._orders.rules.stuck_after)
            saved = await OrderRepository(tx).save(after) if news else None
            if saved is None:
                return False
            await OrderRepository(tx).record_event(saved, now, EventNote.STUCK)
            await OutboxRepository(tx).add(news_of(saved, news, now))
            await self._tell_staff(tx, saved, OrderProblem.OVERDUE, now)
        self._orders.on_news()
        return True

    async def _unstick(self, tx: Transaction, order: Order, now: datetime) -> None:
        """What has failed is told as that; else operators hear that it came through after all."""
        has_failed = order.state != COMPLETED
        tell = frozenset[int]() if has_failed else self._orders.rules.operator_ids
        await over(tx, AlarmKind.ORDER_STUCK, order.reference, now, tell)

    async def _tell_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        operators, notice = self._orders.rules.operator_ids, NOTIFICATION_OF[problem]
        await of_order(tx, ALARM_OF[problem], order.reference, now)
        await OutboxRepository(tx).add(staff_news(operators, notice, subject_of(order), now, reference=order.reference))
        await self._events.needs_staff(tx, order, problem, now)

    async def _close_offer(self, reference: str, now: datetime) -> None:
        """Nothing was shown of it, so nothing is told: its buttons explain themselves."""
        async with self._store.transaction() as tx:
            held = await OrderRepository(tx).get(reference)
            if held is None or held.phase is not Phase.HELD:
                return
            saved = await OrderRepository(tx).save(replace(held, phase=Phase.UNSHOWN))
            if saved is not None:
                await OrderRepository(tx).record_event(saved, now, EventNote.OFFER_OVER)


async def _note_report(tx: Transaction, before: Order, after: Order, report: OrderReport, now: datetime) -> None:
    """What a report has changed, for the timeline; and that it names another invoice than the one that was shown."""
    if after.is_paid and not before.is_paid and report.paid_at is not None and not report.is_payment:
        await OrderRepository(tx).record_event(after, now, EventNote.PAYMENT, report.paid_at)
    if after.state != before.state:
        await OrderRepository(tx).record_event(after, now, service_at=report.since)
    if _is_another_invoice(before, report):
        known = {event.note for event in await OrderRepository(tx).events(after.reference)}
        if EventNote.INVOICE_REPLACED not in known:
            log.error("invoice_replaced", order=after.reference)
            await OrderRepository(tx).record_event(after, now, EventNote.INVOICE_REPLACED, report.since)


def _is_another_invoice(order: Order, report: OrderReport) -> bool:
    """Whether it is to be paid elsewhere than its person was shown."""
    shown, named = (_where_to_pay(each.bolt11, each.deposit) for each in (order, report))
    return shown is not None and named is not None and shown != named


def _where_to_pay(invoice: str | None, deposit: Deposit | None) -> str | None:
    """The invoice or the address in one spelling: neither minds capital letters."""
    if invoice:
        return bolt11.bare(invoice)
    return deposit.to_address.casefold() if deposit else None


async def _steps_wished(tx: Transaction, before: Order, after: Order) -> tuple[OrderNotification, ...]:
    """The news of a small step, for whom wishes to hear of it; nearly everybody leaves that to the card."""
    step = step_news(before, after)
    if step is None:
        return ()
    person = await UserRepository(tx).get_if_readable(after.person_id)
    wished = way_of(step, person.notices if person else None)
    return () if wished is Way.CARD else (step,)


def _end_if_over(order: Order, asked_at: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, expired and closed if its time is over, and what its sender is told of that.

    `asked_at` is as in `Observer.observe`.
    """
    after, expiry = expire(order, asked_at)
    after, closing = _close_if_unwatched(after)
    return after, tuple(dict.fromkeys((*expiry, *closing)))


async def _tell(
    tx: Transaction, order: Order, news: tuple[OrderNotification, ...], now: datetime, *, has_expired: bool
) -> None:
    """Queue `news` of a saved order; that it has just expired belongs in its timeline, too."""
    if has_expired:
        await OrderRepository(tx).record_event(order, now, EventNote.EXPIRED)
    await OutboxRepository(tx).add(news_of(order, news, now))


def _close_if_unwatched(order: Order) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order, closed if the service isn't asked about it any longer, and what its sender is told of that.

    A payment that came later would be seen by nobody, so what it can be paid with goes.
    """
    if order.phase is not Phase.OPEN or order.next_look_at is not None:
        return order, ()
    return replace(order, phase=Phase.DONE), (OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT)
