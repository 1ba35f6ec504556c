"""The contents of a chart, already in the user's language, and its grid of round values and times.

Positions are shares of its sides.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from typing import Final


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


_STEPS: Final = tuple(map(Decimal, (1, 2, 5, 10)))
_MIN_SPREAD: Final = Decimal("0.002")
"""A share of the rate. The chart covers at least this range, so that small changes look small."""

_MARGIN: Final = Decimal("0.08")
"""Space above the highest and below the lowest rate, as a share of the difference."""

_MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720)
_DAYS: Final = (1, 2, 7, 14)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a chart, and the round values in it at distances of `step`."""

    bottom: Decimal
    top: Decimal
    step: Decimal
    levels: tuple[Decimal, ...]

    def share(self, value: Decimal) -> float:
        """Return the position of a value: 0 at the bottom, 1 at the top."""
        return float((value - self.bottom) / (self.top - self.bottom))


@dataclass(frozen=True, slots=True)
class Times:
    """Round times of a reader's clock at distances of `step`."""

    step: timedelta
    moments: tuple[datetime, ...]

    @property
    def are_days(self) -> bool:
        """Whether all are midnights."""
        return self.step >= _DAY


def make_scale(lowest: Decimal, highest: Decimal, most: int = 4) -> Scale:
    """Return a scale from below `lowest` to above `highest` (0 or more), with up to `most` levels."""
    middle, spread = (lowest + highest) / 2, highest - lowest
    spread = max(spread * (1 + 2 * _MARGIN), middle * _MIN_SPREAD) or Decimal(1)
    bottom, top = middle - spread / 2, middle + spread / 2
    step = round_step(spread / most)
    first = (bottom / step).to_integral_value(ROUND_CEILING)
    levels = []
    while first * step <= top:
        levels.append(first * step)
        first += 1
    return Scale(bottom, top, step, tuple(levels))


def round_step(least: Decimal) -> Decimal:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … (or 0.5, 0.2 …) that is `least` (above 0) or more."""
    power = Decimal(1).scaleb(least.adjusted())
    return next(step * power for step in _STEPS if step * power >= least)


def make_times(since: datetime, until: datetime, zone: tzinfo, most: float = 4.5) -> Times:
    """Return round times from `since` to `until` on the clock of `zone`, up to about `most` of them."""
    least = (until - since) / most
    minutes = next((minutes for minutes in _MINUTES if timedelta(minutes=minutes) >= least), None)
    if minutes is None:
        days = next((days for days in _DAYS if timedelta(days=days) >= least), _DAYS[-1])
        return Times(timedelta(days=days), _times_within(since, until, zone, days=days))
    return Times(timedelta(minutes=minutes), _times_within(since, until, zone, minutes=minutes))


def _times_within(
    since: datetime, until: datetime, zone: tzinfo, *, days: int = 1, minutes: int = 24 * 60
) -> tuple[datetime, ...]:
    """Return a time every `minutes` of each day, or of every `days`-th day. Weeks begin on Mondays."""
    found = set()
    day, last = since.astimezone(zone).date(), until.astimezone(zone).date()
    while day <= last:
        if (day.toordinal() - 1) % days == 0:
            clock = (time(minute // 60, minute % 60, tzinfo=zone) for minute in range(0, 24 * 60, minutes))
            found |= {datetime.combine(day, each).astimezone(UTC) for each in clock}
        day += _DAY
    return tuple(moment for moment in sorted(found) if since <= moment <= until)
