"""The books as CSV: what was paid on each day, by destination and way to pay, and what became of it.

Days are those of Jakarta. Amounts are whole rupiah and sats, as the service locked them. No cell can be a formula.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from bot.core import csv
from bot.settlement.model import PayoutMethod
from bot.settlement.steps import COMPLETED, FAILED

ZONE: Final = ZoneInfo("Asia/Jakarta")
"""The zone of the days in the books, whoever reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidOrder:
    """A paid order, without account number, name, user and chat."""

    reference: str
    paid_at: datetime
    state: str
    method: PayoutMethod
    channel: str
    idr: int
    sats: int


@dataclass(frozen=True, slots=True)
class _Line:
    """The key of one line, in the order of the lines."""

    day: date
    name: str
    code: str
    kind: str
    channel: str


@dataclass(slots=True)
class _Sums:
    orders: Counter[str] = field(default_factory=Counter)
    idr: Counter[str] = field(default_factory=Counter)
    sats: Counter[str] = field(default_factory=Counter)


PAID, SENT, OPEN = "paid", "sent", "in_progress"
RESULTS: Final = {COMPLETED: SENT, FAILED: "failed"}
"""State of the service -> result of a paid order. Any other state is in progress."""

SUMS: Final = (PAID, *RESULTS.values(), OPEN)


def _count(name: str, _: _Line, sums: _Sums) -> int:
    return sums.orders[name]


def _sum_idr(name: str, _: _Line, sums: _Sums) -> int:
    return sums.idr[name]


def _sum_sats(name: str, _: _Line, sums: _Sums) -> int:
    return sums.sats[name]


COLUMNS: Final[dict[str, Callable[[_Line, _Sums], object]]] = {
    "day": lambda line, _: line.day.isoformat(),
    "destination_code": lambda line, _: csv.format_text(line.code),
    "destination_name": lambda line, _: csv.format_text(line.name),
    "destination_kind": lambda line, _: csv.format_text(line.kind),
    "paid_by": lambda line, _: csv.format_text(line.channel),
    **{f"{name}_orders": partial(_count, name) for name in SUMS},
    **{f"{name}_idr": partial(_sum_idr, name) for name in SUMS},
    **{f"{name}_sats": partial(_sum_sats, name) for name in SUMS},
}
"""The columns from left to right. docs/operators.md describes them."""


class Books:
    """Sums up paid orders by day, destination and way to pay."""

    def __init__(self) -> None:
        self._lines: dict[_Line, _Sums] = {}

    def add(self, orders: Iterable[PaidOrder]) -> None:
        """Add paid orders."""
        for order in orders:
            day = order.paid_at.astimezone(ZONE).date()
            line = _Line(day, order.method.name, order.method.code, order.method.kind, order.channel)
            sums = self._lines.setdefault(line, _Sums())
            for name in (PAID, RESULTS.get(order.state, OPEN)):
                sums.orders[name] += 1
                sums.idr[name] += order.idr
                sums.sats[name] += order.sats

    def to_csv(self) -> bytes:
        """Return the lines as CSV, by day, then by destination."""
        ordered = sorted(self._lines.items(), key=lambda item: _sort_key(item[0]))
        rows = ([column(line, sums) for column in COLUMNS.values()] for line, sums in ordered)
        return csv.write_rows([list(COLUMNS), *rows])


def _sort_key(line: _Line) -> tuple[date, str, str, str, str]:
    return line.day, line.name, line.code, line.kind, line.channel
