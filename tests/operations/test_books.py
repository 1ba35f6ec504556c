"""The books sum up each paid order once: by its day in Jakarta, its destination and its way to pay."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.core.date_ranges import get_day_span
from bot.infra.db.database import Database
from bot.operations.reconciliation import service as module
from bot.operations.reconciliation.books import COLUMNS, ZONE, Books, PaidOrder
from bot.operations.reconciliation.repository import ReconciliationRepository
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from tests.operations.reconciled import reconciliation_of
from tests.orders.builders import an_order
from tests.orders.order_system import OSCAR, OrderSystem
from tests.screens import HOSTILE_NAMES
from tests.settlement.builders import BCA, OVO

MIDNIGHT = datetime(2026, 11, 20, 17, tzinfo=UTC)
"""The first moment of 21 November in Jakarta."""


def a_paid_order(**changes: Any) -> PaidOrder:
    values: dict[str, Any] = {
        "reference": "R2345AB",
        "paid_at": MIDNIGHT,
        "state": "COMPLETED",
        "method": BCA,
        "channel": "lightning",
        "idr": 500_000,
        "sats": 29_412,
    }
    return PaidOrder(**{**values, **changes})


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_each_line_is_a_day_a_destination_and_a_way_to_pay() -> None:
    books = Books()
    books.add(
        [
            a_paid_order(),
            a_paid_order(state="FAILED", idr=200_000, sats=10_000),
            a_paid_order(state="IDR_SETTLED", idr=10**17, sats=10**12),
            a_paid_order(channel="cbbtc"),
            a_paid_order(method=OVO),
            a_paid_order(paid_at=MIDNIGHT - timedelta(microseconds=1)),
        ]
    )
    rows = rows_of(books.to_csv())
    assert [(row["day"], row["destination_name"], row["paid_by"]) for row in rows] == [
        ("2026-11-20", "BANK BCA", "lightning"),
        ("2026-11-21", "BANK BCA", "cbbtc"),
        ("2026-11-21", "BANK BCA", "lightning"),
        ("2026-11-21", "OVO", "lightning"),
    ]
    assert {name: value for name, value in rows[2].items() if name.split("_")[-1] in {"orders", "idr", "sats"}} == {
        "paid_orders": "3",
        "sent_orders": "1",
        "failed_orders": "1",
        "in_progress_orders": "1",
        "paid_idr": str(10**17 + 700_000),
        "sent_idr": "500000",
        "failed_idr": "200000",
        "in_progress_idr": str(10**17),
        "paid_sats": str(10**12 + 39_412),
        "sent_sats": "29412",
        "failed_sats": "10000",
        "in_progress_sats": str(10**12),
    }


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "=1+1", "+1", "-1", "@SUM(A1)", '"; DROP', "\t=1"])
def test_no_cell_is_a_formula_or_another_line(name: str) -> None:
    books = Books()
    books.add([a_paid_order(method=replace(BCA, name=name, code=name, kind=name), channel=name)])
    (row,) = rows_of(books.to_csv())
    assert set(row) == set(COLUMNS)
    assert [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@"))] == []


async def test_both_databases_find_the_paid_orders_of_a_period(store: Database) -> None:
    paid = {"step": OrderStep.PAID, "state": "LN_INVOICE_PAID"}
    async with store.transaction() as tx:
        for number in range(-2, 5):
            at = MIDNIGHT + timedelta(hours=12 * number)
            assert await OrderRepository(tx).add(an_order(f"R{number + 2}", paid_at=at, idr=number + 2, sats=1, **paid))
        assert await OrderRepository(tx).add(an_order("UNPAID"))
    period = get_day_span(MIDNIGHT.astimezone(ZONE).date(), MIDNIGHT.astimezone(ZONE).date(), ZONE)
    assert period.since == MIDNIGHT
    async with store.reading() as tx:
        repository = ReconciliationRepository(tx)
        first = await repository.paid(period.since, period.until, None, 1)
        rest = await repository.paid(period.since, period.until, first[-1], 5)
    assert [order.reference for order in (*first, *rest)] == ["R2", "R3"]
    assert [order.idr for order in rest] == [3]


async def test_the_books_are_read_in_batches_and_recorded(system: OrderSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 3)
    async with system.store.transaction() as tx:
        for number in range(8):
            order = an_order(f"R{number}", step=OrderStep.SENT, state="COMPLETED", paid_at=MIDNIGHT, idr=10, sats=1)
            assert await OrderRepository(tx).add(order)
    day = MIDNIGHT.astimezone(ZONE).date()
    file = await reconciliation_of(system).export_books(get_day_span(day, day, ZONE), OSCAR)
    assert file.content is not None
    (row,) = rows_of(file.content)
    assert (file.count, row["sent_orders"], row["sent_idr"]) == (8, "8", "80")
    before = await reconciliation_of(system).export_books(
        get_day_span(day - timedelta(days=1), day - timedelta(days=1), ZONE), OSCAR
    )
    assert (before.count, before.content) == (0, None)
    async with system.store.reading() as tx:
        entries = await AuditRepository(tx).page(before="", actor_id=0, limit=5)
    assert [(entry.action, entry.subject) for entry in entries] == [(AuditAction.EXPORTED, "books:")]
