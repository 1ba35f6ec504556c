"""The contents of a chart, already in the user's language. Positions are shares of its sides."""

from dataclasses import dataclass
from enum import StrEnum


class Trend(StrEnum):
    """The direction of the change. It decides the colour of `change`."""

    UP = "up"
    DOWN = "down"
    FLAT = "flat"


@dataclass(frozen=True, slots=True)
class Mark:
    """A label on an axis. `share` is 0 (left or bottom) to 1 (right or top)."""

    share: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its height from 0 to 1, the label below it and, if there is space, the value above it."""

    share: float
    label: str
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A name with a bar beside it: strong up to `share`, pale up to `reach`, both 0 to 1. `value` is at its end."""

    label: str
    share: float
    reach: float
    value: str
    is_marked: bool = False
    """Whether it stands out from the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFacts:
    """The parts of every chart. Plain text, not HTML. Empty parts are left out, long ones are cut."""

    brand: str
    title: str
    """What the chart shows, such as "BTC/IDR"."""
    period: str
    """The period, in a word or two."""
    main_number: str
    """The main number."""
    change: str = ""
    trend: Trend = Trend.FLAT
    note: str = ""
    """Shown next to `change`, or instead of it."""
    levels: tuple[Mark, ...] = ()
    """Horizontal lines, from the bottom."""
    columns: tuple[tuple[str, str], ...] = ()
    """(label, value) below the chart, up to three."""
    footer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFacts(SheetFacts):
    """A line over time. A gap between two runs means that the values between are unknown."""

    runs: tuple[tuple[tuple[float, float], ...], ...]
    """(x, y), each from 0 to 1, from left to right. The last point is the current one."""
    times: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BarFacts(SheetFacts):
    """A bar chart of up to about 31 bars."""

    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFacts(SheetFacts):
    """A chart of up to 16 rows."""

    rows: tuple[Row, ...]
