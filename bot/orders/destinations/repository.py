"""Read how payouts went: of all destinations together, and of each."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, and_, case, func, literal_column, or_, select

from bot.infra.db.columns import MALFORMED, Instant, constant, microseconds_between
from bot.infra.db.transaction import Transaction
from bot.orders.destinations.model import (
    COUNTS_WITHIN,
    SETTLED_AFTER,
    History,
    PayoutTimes,
    RecentTransfer,
    SentTransfer,
)
from bot.orders.tables import orders
from bot.settlement import json_values as nested
from bot.settlement.model import COMPLETED, FAILED, PayoutMethod

SAMPLE: Final = 1_000
"""Transfers of a destination whose times are read. More would hardly make the figures better."""

RECENT: Final = 500
"""Recent transfers of a destination that are read."""

RECENTLY_CREATED: Final = timedelta(days=3)
"""An older order that is still open says nothing about now. Operators have an alarm about it."""

IS_SENT = orders.c.state == constant(COMPLETED)
IS_FAILED = orders.c.state == constant(FAILED)
IS_TIMED = and_(IS_SENT, orders.c.ended_at > orders.c.paid_at)
LENGTH = microseconds_between(orders.c.paid_at, orders.c.ended_at).label("length")

# A reference is random, so the first ones by reference are a random choice.
AT_RANDOM = func.row_number().over(partition_by=orders.c.method_code, order_by=orders.c.reference).label("place")


def _was_created(since: datetime, until: datetime) -> ColumnElement[bool]:
    return and_(orders.c.created_at >= since, orders.c.created_at < until)


def _count_if(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((and_(*conditions), literal_column("1", Integer))))


class PayoutTimeRepository:
    """Read how long payouts to all destinations took."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def between(self, since: datetime, until: datetime) -> PayoutTimes | None:
        """Return how long payouts of orders from this period took, or None if there was none."""
        timed = select(LENGTH).where(_was_created(since, until), IS_TIMED).subquery()
        ranked = select(
            timed.c.length,
            func.row_number().over(order_by=timed.c.length).label("place"),
            func.count().over().label("every"),
        ).subquery()
        longest = func.max(ranked.c.length)
        is_in_the_middle = ranked.c.place.in_([(ranked.c.every + 1) // 2, (ranked.c.every + 2) // 2])
        middle = select(func.max(ranked.c.every), func.min(ranked.c.length), longest).where(is_in_the_middle)
        count, shorter, longer = (await self._connection.execute(middle)).one()
        if not count:
            return None
        # The length that nine in ten orders didn't exceed.
        slow = await self._connection.scalar(select(longest).where(ranked.c.place == (ranked.c.every * 9 + 9) // 10))
        median = timedelta(microseconds=(int(shorter) + int(longer)) // 2)
        return PayoutTimes(orders=count, median=median, slow=timedelta(microseconds=int(slow)))


class DestinationRepository:
    """Read the transfers to each destination. None of it is personal but the payers' ids, which are only compared."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def histories(self, since: datetime, now: datetime) -> tuple[History, ...]:
        """Return the ended transfers of each destination, of orders created since then."""
        was_created, is_settled = _was_created(since, now), orders.c.paid_at < now - SETTLED_AFTER
        counts = (
            select(
                orders.c.method,
                _count_if(IS_SENT),
                _count_if(IS_FAILED),
                _count_if(IS_SENT, is_settled),
                _count_if(IS_FAILED, is_settled),
                func.max(case((IS_SENT, orders.c.ended_at)), type_=Instant()),
            )
            .where(was_created, orders.c.is_paid, or_(IS_SENT, IS_FAILED))
            .group_by(orders.c.method)
        )
        counted = (await self._connection.execute(counts)).all()
        sent = select(orders.c.method, orders.c.paid_at, LENGTH, AT_RANDOM).where(was_created, IS_TIMED).subquery()
        sample = select(sent.c.method, sent.c.paid_at, sent.c.length).where(sent.c.place <= SAMPLE)
        sampled = (await self._connection.execute(sample)).all()
        return _build_histories(counted, sampled)

    async def recent(self, now: datetime) -> tuple[RecentTransfer, ...]:
        """Return the transfers of each destination that are open or ended within a day."""
        names = ("method", "user_id", "payer_hash", "paid_at", "ended_at", "last_polled_at")
        in_question = (
            select(*(orders.c[name] for name in names), IS_FAILED.label("is_failed"), AT_RANDOM)
            .where(
                _was_created(now - RECENTLY_CREATED, now),
                orders.c.is_paid,
                orders.c.paid_at.is_not(None),
                or_(orders.c.ended_at.is_(None), orders.c.ended_at >= now - COUNTS_WITHIN),
            )
            .subquery()
        )
        columns = (in_question.c[name] for name in (*names, "is_failed"))
        found = await self._connection.execute(select(*columns).where(in_question.c.place <= RECENT))
        return tuple(
            RecentTransfer(
                key=method.key(),
                payer=row.payer_hash or row.user_id,
                paid_at=row.paid_at,
                ended_at=row.ended_at,
                seen_at=max(row.last_polled_at or row.paid_at, row.paid_at),
                is_failed=bool(row.is_failed),
            )
            for row in found
            if (method := _method(row)) is not None
        )


def _build_histories(counted: Iterable[Any], sampled: Iterable[Any]) -> tuple[History, ...]:
    # A destination can have several rows: its cap is part of the stored method and changes.
    samples, methods = defaultdict[str, list[SentTransfer]](list), dict[str, PayoutMethod]()
    for row in sampled:
        if (method := _method(row)) is not None:
            samples[method.key()].append(SentTransfer(row.paid_at, timedelta(microseconds=int(row.length))))
    counts, newest = defaultdict[str, list[Sequence[int]]](list), dict[str, datetime]()
    for row in counted:
        if (method := _method(row)) is None:
            continue
        key, last_sent_at = method.key(), row[-1]
        methods[key] = method
        counts[key].append(row[1:-1])
        if last_sent_at is not None:
            newest[key] = max(last_sent_at, newest.get(key, last_sent_at))
    return tuple(
        _build_history(method, [sum(each) for each in zip(*counts[key], strict=True)], newest.get(key), samples[key])
        for key, method in methods.items()
    )


def _build_history(
    method: PayoutMethod, counts: Sequence[int], last_sent_at: datetime | None, sample: Sequence[SentTransfer]
) -> History:
    sent, failed, settled_sent, settled_failed = counts
    return History(
        method=method,
        sent=sent,
        failed=failed,
        settled_sent=settled_sent,
        settled_failed=settled_failed,
        last_sent_at=last_sent_at,
        sample=tuple(sample),
    )


def _method(row: Any) -> PayoutMethod | None:  # noqa: ANN401  a row of any of the statements
    """Return the destination of a row, or None if a value of the row is malformed."""
    if any(value is MALFORMED for value in row):
        return None
    try:
        return nested.to_method(row.method)
    except (ValueError, TypeError, KeyError):
        return None
