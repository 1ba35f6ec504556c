"""Choose the grid of a chart: round rates, and round times of the reader's clock."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from decimal import ROUND_CEILING, Decimal
from typing import Final

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
