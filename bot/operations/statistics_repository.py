"""Count statistics in the database, without reading users' rows or encrypted texts."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)

from bot.infra.db import encryption
from bot.infra.db.columns import Instant, constant, microseconds_between
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.tables import inbox
from bot.operations.statistics import (
    OrderLine,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    RequestStatistics,
    SubscriberStatistics,
    Tally,
    UserStatistics,
)
from bot.orders.destinations.repository import MIDDLE
from bot.orders.order import UNCERTAIN_PHASES, Phase
from bot.orders.tables import IS_PAID_AT, order_events, orders
from bot.payment_requests.tables import payment_requests
from bot.payments.tokens import LIGHTNING
from bot.rates.tables import rate_alerts, subscriptions
from bot.settlement import json_values as nested
from bot.settlement.steps import COMPLETED, FAILED
from bot.users.tables import users

SINCE, UNTIL, NOW = (bindparam(name, type_=Instant()) for name in ("since", "until", "now"))
ONE = literal_column("1", Integer)

HALF: Final = 10**9
"""Amounts are summed in two halves, because SQLite's sum fails above 63 bits."""


def _within(moment: ColumnElement[datetime]) -> ColumnElement[bool]:
    return and_(moment >= SINCE, moment < UNTIL)


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((condition, ONE)))


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
"""`operations/statistics.find_outcome`, in SQL. A test compares the two."""

IDR = func.coalesce(orders.c.idr, orders.c.expected_idr)
SATS = func.coalesce(orders.c.sats, orders.c.expected_sats)
PLACED_WITHIN = _within(orders.c.created_at)

COUNT_USERS = select(func.count(), func.count(users.c.blocked_at), _count_if(users.c.last_seen_at >= SINCE))
HAS_ORDERED = exists().where(orders.c.user_id == users.c.id).correlate(users)
HAS_PAID = exists().where(orders.c.user_id == users.c.id, orders.c.is_paid).correlate(users)
COUNT_NEW_USERS = select(func.count(), _count_if(HAS_ORDERED), _count_if(HAS_PAID)).where(_within(users.c.created_at))

COUNT_SUBSCRIBERS = select(
    func.count(), _count_if(_within(subscriptions.c.subscribed_at)), func.count(subscriptions.c.daily_minute)
)
COUNT_ALERTS = select(func.count()).select_from(rate_alerts).where(rate_alerts.c.expires_at > NOW)

COUNT_REQUESTS = select(func.count()).select_from(payment_requests).where(_within(payment_requests.c.created_at))
COUNT_LINK_PAYMENTS = (
    select(func.count()).select_from(orders).where(orders.c.origin.is_not(None), _within(orders.c.paid_at))
)

COUNT_ORDERS = select(func.count()).select_from(orders).where(PLACED_WITHIN)
POSITION = tuple_(orders.c.created_at, orders.c.reference)
AFTER = tuple_(bindparam("at", type_=Instant()), bindparam("reference", type_=Text()))
LINES = (
    select(
        *(orders.c[name] for name in ("reference", "service_id", "created_at", "paid_at", "ended_at")),
        OUTCOME.label("outcome"),
        *(orders.c[name] for name in ("state", "method", "channel")),
        IDR.label("idr"),
        SATS.label("sats"),
        orders.c.btc_idr,
    )
    .where(PLACED_WITHIN)
    .order_by(orders.c.created_at, orders.c.reference)
    .limit(bindparam("limit", type_=Integer()))
)
LINES_AFTER = LINES.where(POSITION > AFTER)

# An event of the same report can have a later time of the service: when the rupiah were sent.
LAST_PAYMENT = (
    select(microseconds_between(order_events.c.service_at, order_events.c.at))
    .join(orders, and_(orders.c.reference == order_events.c.reference, orders.c.paid_at == order_events.c.at))
    .where(IS_PAID_AT, order_events.c.service_at.is_not(None))
    .order_by(orders.c.paid_at.desc(), order_events.c.service_at)
    .limit(1)
)
ANSWER = microseconds_between(inbox.c.received_at, inbox.c.finished_at)
COUNT_ANSWERS = select(func.count()).select_from(inbox).where(inbox.c.finished_at > SINCE)
ANSWERS = select(ANSWER).where(inbox.c.finished_at > SINCE).order_by(ANSWER).limit(1).offset(bindparam("place"))


class StatisticsRepository:
    """Count statistics. Periods include `since` and exclude `until`."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def count_users(self, since: datetime, until: datetime) -> UserStatistics:
        """Count all users, and the new users of this period."""
        known, away, active = (await self._connection.execute(COUNT_USERS, {"since": since})).one()
        new, ordered, paid = (await self._connection.execute(COUNT_NEW_USERS, {"since": since, "until": until})).one()
        return UserStatistics(known=known, away=away, active=active, new=new, ordered=ordered, paid=paid)

    async def count_subscribers(self, since: datetime, until: datetime, now: datetime) -> SubscriberStatistics:
        """Count all subscribers, the new ones of this period, and the alerts that haven't expired."""
        found = await self._connection.execute(COUNT_SUBSCRIBERS, {"since": since, "until": until})
        total, new, daily = found.one()
        alerts = int((await self._connection.execute(COUNT_ALERTS, {"now": now})).scalar_one())
        return SubscriberStatistics(total=total, new=new, daily=daily, alerts=alerts)

    async def find_answer_times(self, since: datetime) -> tuple[float | None, float | None]:
        """Return the seconds within which half and 99 in 100 of the updates finished since then were answered."""
        count = int((await self._connection.execute(COUNT_ANSWERS, {"since": since})).scalar_one())
        places = (max(count - 1, 0) // 2, max(count * 99 - 1, 0) // 100)
        half, most = [await self._connection.scalar(ANSWERS, {"since": since, "place": place}) for place in places]
        return _to_seconds(half), _to_seconds(most)

    async def find_last_payment(self) -> float | None:
        """Return the seconds from the service's time of the last payment until the bot saved it. None if none is."""
        return _to_seconds(await self._connection.scalar(LAST_PAYMENT))

    async def count_requests(self, since: datetime, until: datetime) -> RequestStatistics:
        """Count the new payment requests of this period, and what was paid in it by links."""
        within = {"since": since, "until": until}
        new = int((await self._connection.execute(COUNT_REQUESTS, within)).scalar_one())
        paid = int((await self._connection.execute(COUNT_LINK_PAYMENTS, within)).scalar_one())
        return RequestStatistics(new=new, paid=paid)

    async def tally_orders(self, edges: Sequence[datetime]) -> OrderStatistics:
        """Count the orders in each part of a period. A part lies between two neighbours of `edges`."""
        within = {"since": edges[0], "until": edges[-1]}
        parts: tuple[dict[OrderOutcome, Tally], ...] = tuple({} for _ in edges[1:])
        for part, outcome, *sums in await self._connection.execute(_tallies(edges), within):
            parts[part][OrderOutcome(outcome)] = _tally(*map(int, sums))
        timed, shorter, longer = (await self._connection.execute(MIDDLE, within)).one()
        median = timedelta(microseconds=(int(shorter) + int(longer)) // 2) if timed else None
        return OrderStatistics(parts=parts, median=median, timed=timed or 0)

    async def count_orders(self, since: datetime, until: datetime) -> int:
        """Return how many orders were placed in this period."""
        return int((await self._connection.execute(COUNT_ORDERS, {"since": since, "until": until})).scalar_one())

    async def count_totals(self) -> OwnTotals:
        """Count all orders that the service has created, and those that were sent."""
        created = int((await self._connection.execute(COUNT_CREATED)).scalar_one())
        sums = (await self._connection.execute(SUM_SENT)).one()
        return OwnTotals(created=created, sent=_tally(*(int(each or 0) for each in sums)))

    async def order_lines(
        self, since: datetime, until: datetime, after: OrderLine | None, limit: int
    ) -> tuple[OrderLine, ...]:
        """Return orders placed in this period, oldest first. If `after` is set, return only those after it."""
        parameters: dict[str, object] = {"since": since, "until": until, "limit": limit}
        if after is None:
            found = await self._connection.execute(LINES, parameters)
        else:
            position = {"at": after.created_at, "reference": after.reference}
            found = await self._connection.execute(LINES_AFTER, {**parameters, **position})
        lines = (encryption.read_sealed_row(self._vault, orders, dict(row), _line) for row in found.mappings())
        return tuple(line for line in lines if line is not None)


def _tallies(edges: Sequence[datetime]) -> Select[Any]:
    placed = select(_part(edges[1:-1]).label("part"), OUTCOME.label("outcome"), IDR.label("idr"), SATS.label("sats"))
    one = placed.where(PLACED_WITHIN).subquery()
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


COUNT_CREATED = select(func.count()).select_from(orders).where(orders.c.service_id.is_not(None))
SUM_SENT = select(func.count(), *_halves(IDR), *_halves(SATS)).where(_is(COMPLETED))


def _tally(count: int, idr: int, idr_rest: int, sats: int, sats_rest: int) -> Tally:
    return Tally(orders=count, idr=idr * HALF + idr_rest, sats=sats * HALF + sats_rest)


def _line(row: Any) -> OrderLine:  # noqa: ANN401  SQLAlchemy's
    known = {**row, "method": nested.to_method(row["method"]), "outcome": OrderOutcome(row["outcome"])}
    return OrderLine(**known)


def _to_seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else max(int(microseconds) / 1_000_000, 0.0)  # two clocks
