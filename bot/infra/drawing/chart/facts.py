"""What a chart says, already in its reader's words; places in it are shares of its sides."""

from dataclasses import dataclass
from enum import StrEnum


class Trend(StrEnum):
    """Which way it went; it colours `change`."""

    UP = "up"
    DOWN = "down"
    FLAT = "flat"


@dataclass(frozen=True, slots=True)
class Mark:
    """A label on an axis. `share` is from 0 (left or bottom) to 1 (right or top)."""

    share: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its height from 0 to 1, what stands under it and, where there is room, above it."""

    share: float
    label: str
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFacts:
    """What every chart has around it. Plain text, not HTML; what is empty is left out, what is long is cut."""

    brand: str
    title: str
    """What is shown: "BTC/IDR"."""
    period: str
    """Over which time, in a word or two."""
    figure: str
    """The one number that matters."""
    change: str = ""
    trend: Trend = Trend.FLAT
    note: str = ""
    """What stands beside `change`, or in its place."""
    levels: tuple[Mark, ...] = ()
    """Lines across, from the bottom; a few."""
    columns: tuple[tuple[str, str], ...] = ()
    """(label, value) under the chart; three at the most."""
    footer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFacts(SheetFacts):
    """A line over time. Where nothing is known in between, one run of points ends and another begins."""

    runs: tuple[tuple[tuple[float, float], ...], ...]
    """(x, y), each from 0 to 1, from left to right; the last point is now."""
    times: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BarFacts(SheetFacts):
    """Bars beside each other: up to about 31."""

    bars: tuple[Bar, ...]
