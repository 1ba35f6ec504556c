"""Orders as CSV: one order in each row, without personal data.

Times are UTC in ISO 8601, amounts are whole rupiah and sats, and rates are decimal text.
"""

from collections.abc import Callable, Iterable
from typing import Final

from bot.core import csv
from bot.operations.statistics import OrderLine

COLUMNS: Final[dict[str, Callable[[OrderLine], object]]] = {
    "reference": lambda line: csv.format_text(line.reference),
    "service_id": lambda line: csv.format_text(line.service_id),
    "created_at": lambda line: csv.format_time(line.created_at),
    "paid_at": lambda line: csv.format_time(line.paid_at),
    "ended_at": lambda line: csv.format_time(line.ended_at),
    "outcome": lambda line: line.outcome,
    "service_state": lambda line: csv.format_text(line.state),
    "destination_code": lambda line: csv.format_text(line.method.code),
    "destination_name": lambda line: csv.format_text(line.method.name),
    "destination_kind": lambda line: csv.format_text(line.method.kind),
    "paid_by": lambda line: csv.format_text(line.channel),
    "idr": lambda line: line.idr,
    "sats": lambda line: line.sats,
    "idr_per_btc": lambda line: "" if line.btc_idr is None else f"{line.btc_idr:f}",
}
"""The columns from left to right. docs/operating.md describes them."""


def header_row() -> bytes:
    """Return the row with the names of the columns."""
    return csv.write_rows([list(COLUMNS)])


def order_rows(lines: Iterable[OrderLine]) -> bytes:
    """Return the rows of some orders."""
    return csv.write_rows([column(line) for column in COLUMNS.values()] for line in lines)
