"""The results of benchmarks: rows with a comparison each, and the table of all rows."""

import math
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

SMALL, LARGE = 0.1, 10
"""Limits between which a different number of digits is shown."""

HEAD = ("", "measured", "Kirim", "compared with", "that one", "ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table. `ratio` is Kirim's number divided by the other's. It is empty where it has no meaning."""

    part: str
    measured: str
    ours: str
    versus: str = ""
    theirs: str = ""
    ratio: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """Times in seconds, in ascending order."""

    times: tuple[float, ...]

    @classmethod
    def from_times(cls, times: Sequence[float]) -> "Spread":
        """Sort the times. At least one is needed."""
        if not times:
            raise ValueError("nothing was measured")
        return cls(tuple(sorted(times)))

    @property
    def median(self) -> float:
        """Return the median."""
        return statistics.median(self.times)

    @property
    def p99(self) -> float:
        """Return the 99th percentile. With fewer than 100 times it is the longest."""
        return self.times[min(math.ceil(len(self.times) * 0.99), len(self.times)) - 1]

    @property
    def slowest(self) -> float:
        """Return the longest time."""
        return self.times[-1]

    def __str__(self) -> str:
        return f"{seconds(self.median)} / {seconds(self.p99)}"

    def over(self, other: "Spread") -> str:
        """Return the ratios of the medians and of the 99th percentiles."""
        return f"{times_as_much(self.median, other.median)} / {times_as_much(self.p99, other.p99)}"


def seconds(value: float) -> str:
    """Format a time for readers."""
    if value < SMALL:
        return f"{value * 1000:.1f} ms"
    return f"{value:.2f} s" if value < LARGE else f"{value:.0f} s"


def times_as_much(ours: float, theirs: float) -> str:
    """Format a ratio for readers."""
    if theirs <= 0:
        return ""
    ratio = ours / theirs
    if ratio < SMALL:
        return f"x{ratio:.1g}"
    return f"x{ratio:.2f}" if ratio < LARGE else f"x{ratio:,.0f}"


def table(rows: Sequence[Row]) -> str:
    """Return all rows as one Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def surroundings() -> str:
    """Return the machine and versions that the measurements come from."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    python = platform.python_version()
    return f"Python {python}, {os.cpu_count()} cores, {sys.platform}, load before the run {load}."


def _cells(row: Row) -> tuple[str, ...]:
    return (f"({row.part})", row.measured, row.ours, row.versus, row.theirs, row.ratio)
