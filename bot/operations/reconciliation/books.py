"""The books as CSV: what was paid on each day, by destination and way to pay, and what became of it.

Days are those of Jakarta. Amounts are whole rupiah and sats, as the service locked them. No cell can be a formula.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from bot.core import csv
from bot.operations.model import Tally
from bot.settlement.model import COMPLETED, FAILED, PayoutMethod

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


@dataclass(frozen=True, slots=True, order=True)
class _Line:
    """The key of one line, in the order of the lines."""

    day: date
    name: str
    code: str
    kind: str
    channel: str


PAID, SENT, OPEN = "paid", "sent", "in_progress"
RESULTS: Final = {COMPLETED: SENT, FAILED: "failed"}
"""State of the service -> result of a paid order. Any other state is in progress."""

SUMS: Final = (PAID, *RESULTS.values(), OPEN)


def _get_sum(name: str, unit: str, _: _Line, sums: Mapping[str, Tally]) -> int:
    return int(getattr(sums[name], unit))


COLUMNS: Final[dict[str, Callable[[_Line, Mapping[str, Tally]], object]]] = {
    "day": lambda line, _: line.day.isoformat(),
    "destination_code": lambda line, _: csv.format_text(line.code),
    "destination_name": lambda line, _: csv.format_text(line.name),
    "destination_kind": lambda line, _: csv.format_text(line.kind),
    "paid_by": lambda line, _: csv.format_text(line.channel),
    **{f"{name}_{unit}": partial(_get_sum, name, unit) for unit in ("orders", "idr", "sats") for name in SUMS},
}
"""The columns from left to right. docs/operators.md describes them."""


class Books:
    """Sums up paid orders by day, destination and way to pay."""

    def __init__(self) -> None:
        self._lines: defaultdict[_Line, defaultdict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))

    def add(self, orders: Iterable[PaidOrder]) -> None:
        """Add paid orders."""
        for order in orders:
            day = order.paid_at.astimezone(ZONE).date()
            line = _Line(day, order.method.name, order.method.code, order.method.kind, order.channel)
            for name in (PAID, RESULTS.get(order.state, OPEN)):
                self._lines[line][name] += Tally(orders=1, idr=order.idr, sats=order.sats)

    def to_csv(self) -> bytes:
        """Return the lines as CSV, by day, then by destination."""
        rows = ([column(line, self._lines[line]) for column in COLUMNS.values()] for line in sorted(self._lines))
        return csv.write_rows([list(COLUMNS), *rows])
