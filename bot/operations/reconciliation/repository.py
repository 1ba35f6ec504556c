"""Read and write reconciliations, and read the orders that they compare."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, delete, func, insert, literal, literal_column, or_, select, tuple_

from bot.infra.db import encryption
from bot.infra.db.columns import POSTGRESQL, Instant, constant
from bot.operations.reconciliation.books import PaidOrder
from bot.operations.reconciliation.model import Difference, DifferenceKind, Facts, ListedSpan, Pending, Run
from bot.operations.reconciliation.tables import runs, spans
from bot.orders.order import UNCERTAIN_PHASES, Order, Phase
from bot.orders.rows import POLLED, OrderRows
from bot.orders.tables import IS_CLAIMED, IS_PAID_AT, IS_UNCLAIMED, MAY_BE_DEPOSITED, orders
from bot.settlement import json_values as nested

COUNTS: Final = ("ours", "others", "uncertain", "unlisted", "unchecked")
TIMES: Final = ("found_at", "checked_at")


class ReconciliationRepository(OrderRows):
    """Reconciliations, the times that lists have shown, and the orders to compare. Orders have no personal data."""

    async def lock(self) -> None:
        """Let no other process save a run until the end of the transaction. SQLite has one writer at a time."""
        if self._connection.dialect.name == POSTGRESQL:
            # The numbers of the other locks are in `orders/repository.py` and `infra/leases`.
            lock = func.pg_advisory_xact_lock(literal_column("4"), literal_column("0"))
            await self._connection.execute(select(lock))

    async def newest(self) -> Run | None:
        """Return the newest run. None if there is none, or it can't be read."""
        newest = select(runs).order_by(runs.c.asked_at.desc(), runs.c.id.desc()).limit(1)
        found = (await self._connection.execute(newest)).mappings()
        return next(iter(encryption.read_rows(self._vault, runs, found, _run)), None)

    async def add(self, run: Run) -> None:
        """Add a run."""
        await self._connection.execute(insert(runs).inline(), _row(run))

    async def find_spans(self) -> tuple[ListedSpan, ...]:
        """Return the times that lists have shown, the oldest first. They don't overlap."""
        listed = select(spans.c.since, spans.c.until).order_by(spans.c.since)
        found = (await self._connection.execute(listed)).mappings()
        return encryption.read_rows(self._vault, spans, found, lambda row: ListedSpan(**row))

    async def replace_spans(self, before: Sequence[ListedSpan], after: Sequence[ListedSpan], oldest: datetime) -> None:
        """Save the changed spans, and delete those that ended before `oldest`."""
        kept, new = set(before) & set(after), set(after) - set(before)
        merged = [span.since for span in before if span not in kept]
        await self._change(delete(spans).where(or_(spans.c.until < oldest, spans.c.since.in_(merged))))
        if new:
            await self._connection.execute(
                insert(spans), [asdict(span) for span in sorted(new, key=lambda span: span.since)]
            )

    async def delete_runs(self, *, before: datetime, after: datetime) -> None:
        """Delete runs before a time and after another."""
        await self._change(delete(runs).where(or_(runs.c.asked_at < before, runs.c.asked_at > after)))

    async def absent(self, span: ListedSpan, listed: Collection[str], limit: int) -> tuple[Order, ...]:
        """Return our orders of that time that the service has created, without those in its list, the oldest first."""
        claimed = select(*POLLED).where(IS_CLAIMED, *_is_within(span), orders.c.service_id.not_in(listed))
        return await self._find_polled(claimed.order_by(orders.c.created_at).limit(limit))

    async def by_reference(self, references: Collection[str]) -> Mapping[str, Order]:
        """Return the orders with these references."""
        found = await self._find_polled(select(*POLLED).where(orders.c.reference.in_(references)))
        return {order.reference: order for order in found}

    async def deposits(self, limit: int) -> tuple[Order, ...]:
        """Return our deposits that are shown and wait for a payment, the newest first."""
        shown = select(*POLLED).where(MAY_BE_DEPOSITED, IS_CLAIMED, orders.c.phase == constant(Phase.OPEN))
        return await self._find_polled(shown.order_by(orders.c.created_at.desc()).limit(limit))

    async def count_uncertain(self, span: ListedSpan) -> int:
        """Count the orders of that time of which we don't know whether the service has created them."""
        is_uncertain = orders.c.phase.in_([constant(phase) for phase in sorted(UNCERTAIN_PHASES)])
        return await self._count(IS_UNCLAIMED, is_uncertain, *_is_within(span))

    async def count_created(self, span: ListedSpan) -> int:
        """Count our orders of that time that the service has created."""
        return await self._count(IS_CLAIMED, *_is_within(span))

    async def paid(
        self, since: datetime, until: datetime, after: PaidOrder | None, limit: int
    ) -> tuple[PaidOrder, ...]:
        """Return orders that were paid in this time, the oldest first. If `after` is set, only those after it."""
        columns = (orders.c[name] for name in ("reference", "paid_at", "state", "method", "channel"))
        paid = select(
            *columns,
            func.coalesce(orders.c.idr, orders.c.expected_idr).label("idr"),
            func.coalesce(orders.c.sats, orders.c.expected_sats).label("sats"),
        ).where(IS_PAID_AT, orders.c.paid_at >= since, orders.c.paid_at < until)
        if after is not None:
            position = tuple_(literal(after.paid_at, Instant()), literal(after.reference, Text()))
            paid = paid.where(tuple_(orders.c.paid_at, orders.c.reference) > position)
        oldest_first = paid.order_by(orders.c.paid_at, orders.c.reference)
        found = await self._connection.execute(oldest_first.limit(limit))
        return encryption.read_rows(self._vault, orders, found.mappings(), _paid_order, are_opened=False)


def _is_within(span: ListedSpan) -> tuple[ColumnElement[bool], ...]:
    return orders.c.created_at >= span.since, orders.c.created_at < span.until


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
