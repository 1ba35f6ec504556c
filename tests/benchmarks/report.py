"""What a benchmark tells: rows that name what they are compared with, and the table they make together."""

import math
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

SMALL, LARGE = 0.1, 10
"""Below and above these, other digits are worth reading."""

HEAD = ("", "measured", "Kirim", "compared with", "that one", "ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table. `ratio` is Kirim's figure over the other's, empty where it would mean nothing."""

    part: str
    measured: str
    ours: str
    versus: str = ""
    theirs: str = ""
    ratio: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """Some times in seconds, ordered."""

    times: tuple[float, ...]

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread":
        """Order them; at least one is needed."""
        if not times:
            raise ValueError("nothing was measured")
        return cls(tuple(sorted(times)))

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.times)

    @property
    def p99(self) -> float:
        """The time that 99 of 100 stay within (the slowest, where there are fewer than 100)."""
        return self.times[min(math.ceil(len(self.times) * 0.99), len(self.times)) - 1]

    @property
    def slowest(self) -> float:
        """The longest."""
        return self.times[-1]

    def __str__(self) -> str:
        return f"{seconds(self.median)} / {seconds(self.p99)}"

    def over(self, other: "Spread") -> str:
        """The ratios of median and p99."""
        return f"{times_as_much(self.median, other.median)} / {times_as_much(self.p99, other.p99)}"


def seconds(value: float) -> str:
    """A time for people."""
    if value < SMALL:
        return f"{value * 1000:.1f} ms"
    return f"{value:.2f} s" if value < LARGE else f"{value:.0f} s"


def times_as_much(ours: float, theirs: float) -> str:
    """A ratio for people."""
    if theirs <= 0:
        return ""
    ratio = ours / theirs
    if ratio < SMALL:
        return f"x{ratio:.1g}"
    return f"x{ratio:.2f}" if ratio < LARGE else f"x{ratio:,.0f}"


def table(rows: Sequence[Row]) -> str:
    """All rows as one Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def surroundings() -> str:
    """Where the figures come from."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    python = platform.python_version()
    return f"Python {python}, {os.cpu_count()} cores, {sys.platform}, load before the run {load}."


def _cells(row: Row) -> tuple[str, ...]:
    return (f"({row.part})", row.measured, row.ours, row.versus, row.theirs, row.ratio)
