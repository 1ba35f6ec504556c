"""Read and write reconciliations, and read the orders that they compare."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, Text, bindparam, delete, func, insert, literal_column, or_, select, tuple_

from bot.infra.db import encryption
from bot.infra.db.columns import POSTGRESQL, Instant, constant
from bot.infra.db.transaction import Transaction
from bot.operations.reconciliation.books import PaidOrder
from bot.operations.reconciliation.model import Difference, DifferenceKind, Facts, ListedSpan, Pending, Run
from bot.operations.reconciliation.tables import runs, spans
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.repository import POLLED
from bot.orders.rows import to_polled_order
from bot.orders.tables import IS_CLAIMED, IS_PAID_AT, IS_UNCLAIMED, MAY_BE_DEPOSITED, orders
from bot.settlement import json_values as nested

COUNTS: Final = ("ours", "others", "uncertain", "unlisted", "unchecked")
TIMES: Final = ("found_at", "checked_at")

SINCE, UNTIL, BEFORE, AFTER = (bindparam(name, type_=Instant()) for name in ("since", "until", "before", "after"))
LIMIT = bindparam("limit", type_=Integer())
CREATED_WITHIN = (orders.c.created_at >= SINCE, orders.c.created_at < UNTIL)
ABSENT = (
    POLLED.where(IS_CLAIMED, *CREATED_WITHIN, orders.c.service_id.not_in(bindparam("ids", expanding=True)))
    .order_by(orders.c.created_at)
    .limit(LIMIT)
)
BY_REFERENCE = POLLED.where(orders.c.reference.in_(bindparam("references", expanding=True)))
DEPOSITS = (
    POLLED.where(MAY_BE_DEPOSITED, IS_CLAIMED, orders.c.phase == constant(Phase.OPEN))
    .order_by(orders.c.created_at.desc())
    .limit(LIMIT)
)
COUNT_UNCERTAIN = (
    select(func.count())
    .select_from(orders)
    .where(IS_UNCLAIMED, orders.c.phase.in_([constant(phase) for phase in sorted(UNCERTAIN_PHASES)]), *CREATED_WITHIN)
)
COUNT_CREATED = select(func.count()).select_from(orders).where(IS_CLAIMED, *CREATED_WITHIN)

PAID = (
    select(
        *(orders.c[name] for name in ("reference", "paid_at", "state", "method", "channel")),
        func.coalesce(orders.c.idr, orders.c.expected_idr).label("idr"),
        func.coalesce(orders.c.sats, orders.c.expected_sats).label("sats"),
    )
    .where(IS_PAID_AT, orders.c.paid_at >= SINCE, orders.c.paid_at < UNTIL)
    .order_by(orders.c.paid_at, orders.c.reference)
    .limit(LIMIT)
)
PAID_AFTER = PAID.where(
    tuple_(orders.c.paid_at, orders.c.reference)
    > tuple_(bindparam("at", type_=Instant()), bindparam("reference", type_=Text()))
)

NEWEST = select(runs).order_by(runs.c.asked_at.desc(), runs.c.id.desc()).limit(1)
DELETE_RUNS = delete(runs).where(or_(runs.c.asked_at < BEFORE, runs.c.asked_at > AFTER))
SPANS = select(spans.c.since, spans.c.until).order_by(spans.c.since)
DELETE_SPANS = delete(spans).where(or_(spans.c.until < BEFORE, spans.c.since.in_(bindparam("merged", expanding=True))))
# The numbers of the other locks are in `orders/repository.py` and `infra/leases`.
LOCK = select(func.pg_advisory_xact_lock(literal_column("4"), literal_column("0")))


class ReconciliationRepository:
    """Reconciliations, the times that lists have shown, and the orders to compare. Orders have no personal data."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def lock(self) -> None:
        """Let no other process save a run until the end of the transaction. SQLite has one writer at a time."""
        if self._connection.dialect.name == POSTGRESQL:
            await self._connection.execute(LOCK)

    async def newest(self) -> Run | None:
        """Return the newest run. None if there is none, or it can't be read."""
        row = (await self._connection.execute(NEWEST)).mappings().first()
        return encryption.read_row_or_none(self._vault, runs, dict(row), _run) if row else None

    async def add(self, run: Run) -> None:
        """Add a run."""
        await self._connection.execute(insert(runs).inline(), _row(run))

    async def find_spans(self) -> tuple[ListedSpan, ...]:
        """Return the times that lists have shown, the oldest first. They don't overlap."""
        found = (await self._connection.execute(SPANS)).mappings()
        return encryption.read_rows(self._vault, spans, found, lambda row: ListedSpan(**row))

    async def replace_spans(self, before: Sequence[ListedSpan], after: Sequence[ListedSpan], oldest: datetime) -> None:
        """Save the changed spans, and delete those that ended before `oldest`."""
        kept, new = set(before) & set(after), set(after) - set(before)
        merged = [span.since for span in before if span not in kept]
        await self._connection.execute(DELETE_SPANS, {"before": oldest, "merged": merged})
        if new:
            await self._connection.execute(insert(spans), [asdict(span) for span in sorted(new, key=_since)])

    async def delete_runs(self, *, before: datetime, after: datetime) -> None:
        """Delete runs before a time and after another."""
        await self._connection.execute(DELETE_RUNS, {"before": before, "after": after})

    async def absent(self, span: ListedSpan, listed: Collection[str], limit: int) -> tuple[Order, ...]:
        """Return our orders of that time that the service has created, without those in its list, the oldest first."""
        return await self._orders(ABSENT, since=span.since, until=span.until, ids=tuple(listed), limit=limit)

    async def by_reference(self, references: Collection[str]) -> Mapping[str, Order]:
        """Return the orders with these references."""
        found = await self._orders(BY_REFERENCE, references=tuple(references))
        return {order.reference: order for order in found}

    async def deposits(self, limit: int) -> tuple[Order, ...]:
        """Return our deposits that are shown and wait for a payment, the newest first."""
        return await self._orders(DEPOSITS, limit=limit)

    async def count_uncertain(self, span: ListedSpan) -> int:
        """Count the orders of that time of which we don't know whether the service has created them."""
        return await self._count(COUNT_UNCERTAIN, span)

    async def count_created(self, span: ListedSpan) -> int:
        """Count our orders of that time that the service has created."""
        return await self._count(COUNT_CREATED, span)

    async def paid(
        self, since: datetime, until: datetime, after: PaidOrder | None, limit: int
    ) -> tuple[PaidOrder, ...]:
        """Return orders that were paid in this time, the oldest first. If `after` is set, only those after it."""
        parameters: dict[str, object] = {"since": since, "until": until, "limit": limit}
        if after is None:
            found = await self._connection.execute(PAID, parameters)
        else:
            position = {"at": after.paid_at, "reference": after.reference}
            found = await self._connection.execute(PAID_AFTER, {**parameters, **position})
        rows = (encryption.read_sealed_row(self._vault, orders, dict(row), _paid_order) for row in found.mappings())
        return tuple(row for row in rows if row is not None)

    async def _orders(self, statement: Any, **values: object) -> tuple[Order, ...]:  # noqa: ANN401  SQLAlchemy's
        found = (to_polled_order(row, self._vault) for row in await self._connection.execute(statement, values))
        return tuple(order for order in found if order is not None)

    async def _count(self, statement: Any, span: ListedSpan) -> int:  # noqa: ANN401  SQLAlchemy's
        found = await self._connection.execute(statement, {"since": span.since, "until": span.until})
        return int(found.scalar_one())


def _since(span: ListedSpan) -> datetime:
    return span.since


def _paid_order(row: dict[str, Any]) -> PaidOrder:
    return PaidOrder(**{**row, "method": nested.to_method(row["method"])})


def _row(run: Run) -> dict[str, Any]:
    return {
        "asked_at": run.asked_at,
        "listed": run.listed,
        "counts": {name: getattr(run, name) for name in COUNTS},
        "shown_since": run.shown and run.shown.since,
        "shown_until": run.shown and run.shown.until,
        "next_at": run.next_at,
        "differences": [
            {**asdict(each), **{name: getattr(each, name).isoformat() for name in TIMES}} for each in run.differences
        ],
        "pending": [{**asdict(each), "since": each.since.isoformat()} for each in run.pending],
    }


def _run(row: dict[str, Any]) -> Run:
    since, until = row["shown_since"], row["shown_until"]
    return Run(
        asked_at=row["asked_at"],
        listed=row["listed"],
        **{name: int(row["counts"][name]) for name in COUNTS},
        shown=None if since is None or until is None else ListedSpan(since, until),
        next_at=row["next_at"],
        differences=tuple(map(_difference, row["differences"])),
        pending=tuple(Pending(**{**each, "since": datetime.fromisoformat(each["since"])}) for each in row["pending"]),
    )


def _difference(known: dict[str, Any]) -> Difference:
    theirs = known["theirs"]
    changed = {
        "kind": DifferenceKind(known["kind"]),
        "ours": Facts(**known["ours"]),
        "theirs": None if theirs is None else Facts(**theirs),
        **{name: datetime.fromisoformat(known[name]) for name in TIMES},
    }
    return Difference(**{**known, **changed})
