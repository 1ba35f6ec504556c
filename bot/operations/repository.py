"""Count statistics in the database, without reading users' rows or encrypted texts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Table,
    Text,
    and_,
    case,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
)

from bot.infra.db import encryption
from bot.infra.db.columns import Instant, constant, microseconds_between
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.tables import inbox
from bot.operations.model import (
    OrderLine,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    RequestFigures,
    RequestStatistics,
    SubscriberStatistics,
    Tally,
    UserStatistics,
)
from bot.orders.destinations.repository import PayoutTimeRepository
from bot.orders.order import UNCERTAIN_PHASES, Phase
from bot.orders.tables import IS_FROM_LINK, IS_PAID_AT, order_events, orders
from bot.payment_requests.tables import IS_CLOSED, IS_SHARED, payment_requests
from bot.payments.tokens import LIGHTNING
from bot.rates.tables import rate_alerts, subscriptions
from bot.settlement import json_values as nested
from bot.settlement.model import COMPLETED, FAILED
from bot.users.tables import users

HALF: Final = 10**9
"""Amounts are summed in two halves, because SQLite's sum fails above 63 bits."""


def _within(moment: ColumnElement[Any], since: datetime, until: datetime) -> ColumnElement[bool]:
    return and_(moment >= since, moment < until)


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((condition, literal_column("1", Integer))))


def _is(state: str) -> ColumnElement[bool]:
    return orders.c.state == constant(state)


def _in(*phases: Phase) -> ColumnElement[bool]:
    return orders.c.phase.in_([constant(phase) for phase in phases])


OUTCOME: ColumnElement[str] = case(
    (_is(COMPLETED), constant(OrderOutcome.SENT)),
    (and_(orders.c.is_paid, _is(FAILED)), constant(OrderOutcome.FAILED)),
    (orders.c.is_paid, constant(OrderOutcome.UNDER_WAY)),
    (and_(_is(FAILED), orders.c.channel == constant(LIGHTNING)), constant(OrderOutcome.UNPAID)),
    (_is(FAILED), constant(OrderOutcome.FAILED_UNKNOWN)),
    (_in(Phase.REFUSED), constant(OrderOutcome.REFUSED)),
    (_in(Phase.ABANDONED), constant(OrderOutcome.CLOSED)),
    (_in(Phase.NEEDS_CONFIRMATION), constant(OrderOutcome.PRICE_CHANGED)),
    (_in(*sorted(UNCERTAIN_PHASES)), constant(OrderOutcome.UNCERTAIN)),
    (or_(_in(Phase.DONE), orders.c.expiry_notified), constant(OrderOutcome.UNPAID)),
    else_=constant(OrderOutcome.WAITING),
)
"""The outcome of an order. A test compares it with Python."""

IDR = func.coalesce(orders.c.idr, orders.c.expected_idr)
SATS = func.coalesce(orders.c.sats, orders.c.expected_sats)


class StatisticsRepository:
    """Count statistics. Periods include `since` and exclude `until`."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._connection = tx.connection
        self._vault = tx.vault

    async def count_users(self, since: datetime, until: datetime) -> UserStatistics:
        """Count all users, and the new users of this period."""
        is_active = _count_if(users.c.last_seen_at >= since)
        all_users = select(func.count(), func.count(users.c.blocked_at), is_active)
        known, away, active = (await self._connection.execute(all_users)).one()
        has_ordered = exists().where(orders.c.user_id == users.c.id).correlate(users)
        has_paid = exists().where(orders.c.user_id == users.c.id, orders.c.is_paid).correlate(users)
        new_users = select(func.count(), _count_if(has_ordered), _count_if(has_paid))
        within = new_users.where(_within(users.c.created_at, since, until))
        new, ordered, paid = (await self._connection.execute(within)).one()
        return UserStatistics(known=known, away=away, active=active, new=new, ordered=ordered, paid=paid)

    async def count_subscribers(self, since: datetime, until: datetime, now: datetime) -> SubscriberStatistics:
        """Count all subscribers, the new ones of this period, and the alerts that haven't expired."""
        is_new = _count_if(_within(subscriptions.c.subscribed_at, since, until))
        counts = select(func.count(), is_new, func.count(subscriptions.c.daily_minute))
        total, new, daily = (await self._connection.execute(counts)).one()
        alerts = await self._count(rate_alerts, rate_alerts.c.expires_at > now)
        return SubscriberStatistics(total=total, new=new, daily=daily, alerts=alerts)

    async def find_answer_times(self, since: datetime) -> tuple[float | None, float | None]:
        """Return the seconds within which half and 99 in 100 of the updates finished since then were answered."""
        length, is_counted = microseconds_between(inbox.c.received_at, inbox.c.finished_at), inbox.c.finished_at > since
        count = await self._count(inbox, is_counted)
        in_order = select(length).where(is_counted).order_by(length).limit(1)
        places = (max(count - 1, 0) // 2, max(count * 99 - 1, 0) // 100)
        half, most = [await self._connection.scalar(in_order.offset(place)) for place in places]
        return _to_seconds(half), _to_seconds(most)

    async def find_last_payment(self) -> float | None:
        """Return the seconds from the service's time of the last payment until the bot saved it. None if none is."""
        # An event of the same report can have a later time of the service: when the rupiah were sent.
        last_payment = (
            select(microseconds_between(order_events.c.service_at, order_events.c.at))
            .join(orders, and_(orders.c.reference == order_events.c.reference, orders.c.paid_at == order_events.c.at))
            .where(IS_PAID_AT, order_events.c.service_at.is_not(None))
            .order_by(orders.c.paid_at.desc(), order_events.c.service_at)
            .limit(1)
        )
        return _to_seconds(await self._connection.scalar(last_payment))

    async def count_requests(self, since: datetime, until: datetime) -> RequestStatistics:
        """Count the new payment requests of this period, and what was paid in it by links."""
        new = await self._count(payment_requests, _within(payment_requests.c.created_at, since, until))
        paid = await self._count(orders, orders.c.origin.is_not(None), _within(orders.c.paid_at, since, until))
        return RequestStatistics(new=new, paid=paid)

    async def get_request_figures(self, since: datetime) -> RequestFigures:
        """Count the payment requests that aren't closed, and the orders that links have made since a time."""
        in_browser = orders.c.payer_hash.is_not(None)
        made = select(_count_if(~in_browser), _count_if(in_browser)).where(IS_FROM_LINK, orders.c.created_at >= since)
        in_telegram, in_browsers = (await self._connection.execute(made)).one()
        return RequestFigures(
            open=await self._count(payment_requests, ~IS_CLOSED), in_telegram=in_telegram, in_browsers=in_browsers
        )

    async def has_shared_requests(self) -> bool:
        """Return whether Telegram has told of a message in which a payment request was shared, of those still kept."""
        return await self._count(payment_requests, IS_SHARED) > 0

    async def tally_orders(self, edges: Sequence[datetime]) -> OrderStatistics:
        """Count the orders in each part of a period. A part lies between two neighbours of `edges`."""
        parts: tuple[dict[OrderOutcome, Tally], ...] = tuple({} for _ in edges[1:])
        for part, outcome, *sums in await self._connection.execute(_tallies(edges)):
            parts[part][OrderOutcome(outcome)] = _tally(*map(int, sums))
        times = await PayoutTimeRepository(self._tx).between(edges[0], edges[-1])
        if times is None:
            return OrderStatistics(parts=parts, median=None, timed=0)
        return OrderStatistics(parts=parts, median=times.median, timed=times.orders)

    async def count_orders(self, since: datetime, until: datetime) -> int:
        """Return how many orders were placed in this period."""
        return await self._count(orders, _within(orders.c.created_at, since, until))

    async def count_totals(self) -> OwnTotals:
        """Count all orders that the service has created, and those that were sent."""
        created = await self._count(orders, orders.c.service_id.is_not(None))
        sent = select(func.count(), *_halves(IDR), *_halves(SATS)).where(_is(COMPLETED))
        sums = (await self._connection.execute(sent)).one()
        return OwnTotals(created=created, sent=_tally(*(int(each or 0) for each in sums)))

    async def order_lines(
        self, since: datetime, until: datetime, after: OrderLine | None, limit: int
    ) -> tuple[OrderLine, ...]:
        """Return orders placed in this period, oldest first. If `after` is set, return only those after it."""
        placed = select(
            *(orders.c[name] for name in ("reference", "service_id", "created_at", "paid_at", "ended_at")),
            OUTCOME.label("outcome"),
            *(orders.c[name] for name in ("state", "method", "channel")),
            IDR.label("idr"),
            SATS.label("sats"),
            orders.c.btc_idr,
        ).where(_within(orders.c.created_at, since, until))
        if after is not None:
            position = tuple_(literal(after.created_at, Instant()), literal(after.reference, Text()))
            placed = placed.where(tuple_(orders.c.created_at, orders.c.reference) > position)
        oldest_first = placed.order_by(orders.c.created_at, orders.c.reference)
        found = await self._connection.execute(oldest_first.limit(limit))
        return encryption.read_rows(self._vault, orders, found.mappings(), _line, are_opened=False)

    async def _count(self, table: Table, *conditions: ColumnElement[bool]) -> int:
        counted = select(func.count()).select_from(table).where(*conditions)
        return (await self._connection.execute(counted)).scalar_one()


def _tallies(edges: Sequence[datetime]) -> Select[Any]:
    placed = select(_part(edges[1:-1]).label("part"), OUTCOME.label("outcome"), IDR.label("idr"), SATS.label("sats"))
    one = placed.where(_within(orders.c.created_at, edges[0], edges[-1])).subquery()
    return select(one.c.part, one.c.outcome, func.count(), *_halves(one.c.idr), *_halves(one.c.sats)).group_by(
        one.c.part, one.c.outcome
    )


def _part(inner: Sequence[datetime]) -> ColumnElement[int]:
    if not inner:
        return literal_column("0", Integer)
    numbered = ((orders.c.created_at < edge, literal_column(str(number), Integer)) for number, edge in enumerate(inner))
    return case(*numbered, else_=literal_column(str(len(inner)), Integer))


def _halves(amount: ColumnElement[int]) -> Iterable[ColumnElement[int]]:
    half = literal_column(str(HALF), BigInteger)
    return func.sum(amount // half), func.sum(amount % half)


def _tally(count: int, idr: int, idr_rest: int, sats: int, sats_rest: int) -> Tally:
    return Tally(orders=count, idr=idr * HALF + idr_rest, sats=sats * HALF + sats_rest)


def _line(row: Any) -> OrderLine:  # noqa: ANN401  SQLAlchemy's
    known = {**row, "method": nested.to_method(row["method"]), "outcome": OrderOutcome(row["outcome"])}
    return OrderLine(**known)


def _to_seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else max(int(microseconds) / 1_000_000, 0.0)  # two clocks
