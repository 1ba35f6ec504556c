"""Finding an order whose creation was never answered.

The service has no idempotency keys (settlement API, 4.5): an order that it may have made is looked for among its
newest, and adopted only if it surely is ours. What is not found is no proof that it doesn't exist; after the set
time the person is asked, and never is anything sent again by itself.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.actions.market import LIGHTNING
from bot.actions.news import news_of
from bot.actions.orders import Orders
from bot.actions.ports import (
    Newest,
    OrderEvent,
    OrderNotFound,
    Placed,
    Settlement,
    SettlementFailure,
    Store,
)
from bot.domain.order import LOOKED_FOR, Notice, Order, OrderReport, Phase
from bot.domain.payout import same_recipient

log = structlog.get_logger(__name__)

BEFORE = timedelta(seconds=5)
AFTER = timedelta(seconds=40)
"""An order was made between our intent and the end of the longest request, a little slack on both sides."""

GIVE_UP_LOOKING = timedelta(days=1)


class Reconciler:
    """Looks for orders with an unknown outcome."""

    def __init__(self, orders: Orders, settlement: Settlement) -> None:
        self._orders = orders
        self._store: Store = orders.store
        self._settlement = settlement

    async def run_once(self) -> int:
        """One look for all that is being looked for; how many still are. Raises `SettlementFailure` never."""
        now = self._orders.clock.now()
        lost = await self._lost(now)
        if not lost:
            return 0
        await self._search(lost, now)
        for order in lost:
            if now - order.created_at >= self._orders.rules.reconcile_for:
                await self._ask(order.reference, now)
        return len(lost)

    async def _lost(self, now: datetime) -> list[Order]:
        async with self._store.reading() as tx:
            found = await tx.orders.in_phase(LOOKED_FOR)
        return [
            order
            for order in found
            if not self._orders.is_posting(order.reference) and now - order.created_at < GIVE_UP_LOOKING
        ]

    async def _search(self, lost: list[Order], now: datetime) -> None:
        try:
            newest = await self._settlement.newest()
        except SettlementFailure as failure:
            log.info("reconcile_without_list", why=type(failure).__name__, looked_for=len(lost))
            return
        free = await self._unclaimed(newest)
        for order in lost:
            report = await self._only_match(order, free, newest, now)
            if report is not None:
                await self._adopt(order, report)

    async def _unclaimed(self, newest: Newest) -> list[OrderReport]:
        async with self._store.reading() as tx:
            claimed = await tx.orders.by_service_id([report.service_id for report in newest.reports])
        return [report for report in newest.reports if report.service_id not in claimed]

    async def _only_match(
        self, order: Order, free: list[OrderReport], newest: Newest, now: datetime
    ) -> OrderReport | None:
        matches = [report for report in free if could_be(order, report, newest.served_at, now)]
        if len(matches) != 1:
            return None
        async with self._store.reading() as tx:
            rivals = await tx.orders.unclaimed_like(order, order.created_at - BEFORE - AFTER)
        others = [rival for rival in rivals if rival.reference != order.reference]
        if any(could_be(rival, matches[0], newest.served_at, now) for rival in others):
            log.warning("reconcile_ambiguous", order=order.reference)
            return None
        return matches[0]

    async def _adopt(self, order: Order, report: OrderReport) -> None:
        # The single record says the most; where it can't be had now, the next look tries again.
        try:
            full = await self._settlement.look_up(report.service_id)
        except OrderNotFound:
            full = report
        except SettlementFailure:
            return
        placed = _as_placed(order, full)
        if placed is not None and await self._orders.settle(order.reference, placed):
            log.info("order_adopted", order=order.reference)

    async def _ask(self, reference: str, now: datetime) -> None:
        async with self._store.transaction() as tx:
            order = await tx.orders.get(reference)
            if order is None or order.phase not in {Phase.INTENDED, Phase.UNKNOWN}:
                return
            saved = await tx.orders.save(replace(order, phase=Phase.UNRESOLVED))
            if saved is None:
                return
            await tx.orders.add_event(OrderEvent(reference=reference, at=now, phase=saved.phase, state=""))
            await tx.outbox.add(news_of(saved, (Notice.UNRESOLVED,), now))
        self._orders.on_news()


def could_be(order: Order, report: OrderReport, served_at: datetime | None, now: datetime) -> bool:
    """Whether the service's order may be the one that `order` intended.

    Times are compared as ages, each by its own clock: the service's may differ from ours.
    """
    return (
        (report.bank_code, report.bank_name) == (order.method.code, order.method.name)
        and _has_given_amount(order, report)
        and (report.channel or LIGHTNING) == order.channel
        and report.recipient is not None
        and same_recipient(order.number, report.recipient, order.method.kind) != "different"
        and _made_in_window(order, report, served_at, now)
    )


def _has_given_amount(order: Order, report: OrderReport) -> bool:
    said = report.sats if order.given.currency == "SAT" else report.idr
    return said == order.given.value


def _made_in_window(order: Order, report: OrderReport, served_at: datetime | None, now: datetime) -> bool:
    if report.created_at is None or served_at is None:
        return False
    made_after_intent = (now - order.created_at) - (served_at - report.created_at)
    return -BEFORE <= made_after_intent <= AFTER


def _as_placed(order: Order, report: OrderReport) -> Placed | None:
    if report.sats is None or report.idr is None:
        return None
    return Placed(
        service_id=report.service_id,
        sats=report.sats,
        idr=report.idr,
        btc_idr=report.btc_idr,
        bolt11=report.bolt11 if order.channel == LIGHTNING else None,
        deposit=report.deposit,
        expires_at=None,
    )
