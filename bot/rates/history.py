"""The history of the rate over a period, with as many points as a picture can show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Final

from bot.settlement.model import Quote

MAX_POINTS: Final = 300
_GAP_DIVISOR: Final = 24
"""A gap is this part of the history (an hour of a day) without a record. No line is drawn across a gap."""

_USUAL_INTERVALS: Final = 5


class ChartPeriod(StrEnum):
    """The periods that a chart can show."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    @property
    def length(self) -> timedelta:
        """A day, a week, or 30 days."""
        return _LENGTHS[self]


_LENGTHS: Final = {
    ChartPeriod.DAY: timedelta(days=1),
    ChartPeriod.WEEK: timedelta(days=7),
    ChartPeriod.MONTH: timedelta(days=30),
}


@dataclass(frozen=True, slots=True)
class RatePoint:
    """Rupiah for one bitcoin at a point in time."""

    at: datetime
    rate: Decimal


@dataclass(frozen=True, slots=True)
class RateHistory:
    """The rates that were recorded in a period, oldest first. The last point is the current quote."""

    period: ChartPeriod
    points: tuple[RatePoint, ...]

    @property
    def since(self) -> datetime:
        """The time of the first point."""
        return self.points[0].at

    @property
    def until(self) -> datetime:
        """The time of the current quote."""
        return self.points[-1].at

    @property
    def is_whole(self) -> bool:
        """Whether the history covers the whole period. A new bot has recorded only the end of it."""
        return self.until - self.since >= self.period.length * (1 - 1 / _GAP_DIVISOR)

    @property
    def lowest(self) -> Decimal:
        """The lowest rate."""
        return min(point.rate for point in self.points)

    @property
    def highest(self) -> Decimal:
        """The highest rate."""
        return max(point.rate for point in self.points)

    @property
    def change_percent(self) -> Decimal | None:
        """The change from the first rate to the last, in percent. None for a single rate, or if the first is 0."""
        first = self.points[0].rate
        if len(self.points) == 1 or not first:
            return None
        return (self.points[-1].rate / first - 1) * 100

    @property
    def runs(self) -> tuple[tuple[RatePoint, ...], ...]:
        """The points, split at the gaps."""
        longest = self._longest_silence()
        runs: list[list[RatePoint]] = []
        for point in self.points:
            if runs and point.at - runs[-1][-1].at <= longest:
                runs[-1].append(point)
            else:
                runs.append([point])
        return tuple(tuple(run) for run in runs)

    def _longest_silence(self) -> timedelta:
        """Return the longest time between two points that doesn't count as a gap."""
        between = sorted(after.at - before.at for before, after in pairwise(self.points))
        usual = between[len(between) // 2] if between else timedelta(0)
        return max((self.until - self.since) / _GAP_DIVISOR, usual * _USUAL_INTERVALS)


def to_points(quotes: Iterable[Quote]) -> tuple[RatePoint, ...]:
    """Return the point of each quote."""
    return tuple(RatePoint(quote.fetched_at, quote.btc_idr) for quote in quotes)


def make_history(period: ChartPeriod, seen: Iterable[RatePoint], quote: Quote) -> RateHistory:
    """Return the thinned history of the period before `quote`. The quote is the last point."""
    since = quote.fetched_at - period.length
    before = [point for point in seen if since <= point.at < quote.fetched_at]
    return RateHistory(period, (*thin_points(before, MAX_POINTS - 1), *to_points([quote])))


def thin_points(points: Sequence[RatePoint], most: int) -> tuple[RatePoint, ...]:
    """Return up to `most` (4 or more) of `points`: the first, the last, and the lows and highs of equal parts."""
    if len(points) <= most:
        return tuple(points)
    first, last = points[0], points[-1]
    # Each part keeps two points.
    count = max((most - 2) // 2, 1)
    parts: dict[int, list[RatePoint]] = {}
    for point in points[1:-1]:
        parts.setdefault(int((point.at - first.at) * count / (last.at - first.at)), []).append(point)
    extremes = (point for part in parts.values() for point in _extremes(part))
    return (first, *extremes, last)


def _extremes(part: Sequence[RatePoint]) -> list[RatePoint]:
    """Return the lowest and the highest point, in the order of their times."""
    by_rate = {min(part, key=lambda point: point.rate), max(part, key=lambda point: point.rate)}
    return sorted(by_rate, key=lambda point: point.at)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and the history that it shows."""

    png: bytes = field(repr=False)
    history: RateHistory
