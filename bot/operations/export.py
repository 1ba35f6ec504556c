"""Orders as a table that other programs read: CSV in UTF-8, one order a row, nothing personal in it.

Times are UTC in ISO 8601, amounts whole rupiah and sats, rates decimal text. What comes from outside can't be taken
for a formula by a spreadsheet.
"""

import csv
import io
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Final

from bot.core.text import plain
from bot.operations.statistics_model import OrderLine

FORMULAS: Final = ("=", "+", "-", "@")
"""What a cell must not begin with: spreadsheets would calculate it."""

CELL: Final = 200
"""Characters of a text from outside."""


# Names and states come again and again: without remembering them they are half of a file's time.
@lru_cache(maxsize=1024)
def safe(text: str | None) -> str:
    """A text from outside on one line, without anything hidden; one that looks like a formula begins with a '."""
    shown = plain((text or "")[:CELL])[:CELL]
    return f"'{shown}" if shown.startswith(FORMULAS) else shown


def instant(moment: datetime | None) -> str:
    """A time in UTC, to the second; nothing for one that hasn't come."""
    return "" if moment is None else moment.isoformat(timespec="seconds")


COLUMNS: Final[dict[str, Callable[[OrderLine], object]]] = {
    "reference": lambda line: safe(line.reference),
    "service_id": lambda line: safe(line.service_id),
    "created_at": lambda line: instant(line.created_at),
    "paid_at": lambda line: instant(line.paid_at),
    "ended_at": lambda line: instant(line.ended_at),
    "outcome": lambda line: line.outcome,
    "service_state": lambda line: safe(line.state),
    "destination_code": lambda line: safe(line.method.code),
    "destination_name": lambda line: safe(line.method.name),
    "destination_kind": lambda line: safe(line.method.kind),
    "paid_by": lambda line: safe(line.channel),
    "idr": lambda line: line.idr,
    "sats": lambda line: line.sats,
    "idr_per_btc": lambda line: "" if line.btc_idr is None else f"{line.btc_idr:f}",
}
"""The columns, from the left. docs/operating.md says what each holds."""


def header() -> bytes:
    """The first row."""
    return table([list(COLUMNS)])


def rows(lines: Iterable[OrderLine]) -> bytes:
    """The rows of some orders."""
    return table([column(line) for column in COLUMNS.values()] for line in lines)


def table(cells: Iterable[Iterable[object]]) -> bytes:
    """Rows of cells as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(cells)
    return text.getvalue().encode()
