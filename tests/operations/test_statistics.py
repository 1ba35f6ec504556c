"""Statistics as values, and orders as a table that is safe in any spreadsheet."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bot.core.csv import write_rows
from bot.operations.model import OrderLine, OrderOutcome, Tally
from bot.operations.service import COLUMNS, order_rows
from bot.orders.order import Phase
from bot.settlement.model import PayoutMethod
from tests.operations.order_outcomes import find_outcome
from tests.orders.builders import an_open_order, orders_in_each_state
from tests.settlement.builders import LISTED_BCA

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
LINE = OrderLine(
    reference="ABC2345",
    service_id="cm1",
    created_at=NOW,
    paid_at=NOW,
    ended_at=None,
    outcome=OrderOutcome.UNDER_WAY,
    state="LN_INVOICE_PAID",
    method=PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 1),
    channel="lightning",
    idr=500_000,
    sats=29_412,
    btc_idr=Decimal("1700000000.50"),
)


def read(lines: Sequence[OrderLine]) -> list[dict[str, str]]:
    """Return the rows of a file of these orders, as another program reads them."""
    content = write_rows([list(COLUMNS)]) + order_rows(lines)
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def one(part: int, outcome: OrderOutcome) -> dict[OrderOutcome, Tally]:
    return {outcome: Tally(orders=part, idr=part * 10, sats=part * 100)}


def test_an_order_is_counted_by_its_outcome() -> None:
    counted = {name: find_outcome(order) for name, order in orders_in_each_state(LISTED_BCA)}
    assert counted["COMPLETED"] is OrderOutcome.SENT
    assert counted["failed paid"] is OrderOutcome.FAILED
    assert find_outcome(an_open_order(state="FAILED", phase=Phase.DONE)) is OrderOutcome.UNPAID
    assert counted["refused"] is OrderOutcome.REFUSED
    assert counted["held"] is OrderOutcome.PRICE_CHANGED
    assert find_outcome(an_open_order(phase=Phase.OPEN)) is OrderOutcome.WAITING
    assert find_outcome(an_open_order(phase=Phase.OPEN, expiry_notified=True)) is OrderOutcome.UNPAID
    assert find_outcome(an_open_order(phase=Phase.OPEN, expiry_notified=True, paid_at=NOW)) is OrderOutcome.UNDER_WAY
    assert find_outcome(an_open_order(phase=Phase.UNRESOLVED)) is OrderOutcome.UNCERTAIN


def test_a_row_holds_what_its_header_says() -> None:
    (row,) = read([LINE])
    assert row == {
        "reference": "ABC2345",
        "service_id": "cm1",
        "created_at": "2026-11-21T09:30:00+00:00",
        "paid_at": "2026-11-21T09:30:00+00:00",
        "ended_at": "",
        "outcome": "under_way",
        "service_state": "LN_INVOICE_PAID",
        "destination_code": "014",
        "destination_name": "BANK CENTRAL ASIA",
        "destination_kind": "bank",
        "paid_by": "lightning",
        "idr": "500000",
        "sats": "29412",
        "idr_per_btc": "1700000000.50",
    }


@pytest.mark.parametrize(
    "name",
    ["=1+1", "+62", "-1", "@SUM(A1)", "\t=1", "\r=1", "\u200b=1", "\uff1d1+1", " =1", "\ufe6211", "\u22121", "\uff20x"],
)
def test_no_cell_is_a_formula(name: str) -> None:
    line = replace(LINE, method=PayoutMethod(name, name, name), state=name, service_id=name, channel=name)
    (row,) = read([line])
    assert [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert row["destination_name"].startswith("'")


def test_no_column_is_about_a_user() -> None:
    forbidden = ("person", "chat", "number", "holder", "recipient", "name_given", "user")
    assert [name for name in COLUMNS for word in forbidden if word in name] == []
