"""Quotes of the rate and its history, subscriptions to it, and price alerts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Final

from bot.core.errors import Rejection
from bot.core.money import SETTLEMENT_FEE_IDR, Ambiguous, Amount, parse_amount, rupiah_for_sats, sats_for_rupiah
from bot.core.text import plain
from bot.settlement.model import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A user who gets broadcasts, and a daily quote where `daily_minute` is set.

    `daily_minute`, `quiet_from` and `quiet_until` are minutes of the user's own day (0 to 1,439), or None.
    """

    user_id: int
    subscribed_at: datetime
    daily_minute: int | None = None
    next_daily_at: datetime | None = None
    quiet_from: int | None = None
    quiet_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateAlert:
    """An alert that is sent when one bitcoin is above (or below) `threshold` rupiah.

    Attributes:
        cooldown_seconds: seconds until the alert can be sent again. None if it is sent once.
        cooldown_until: the alert isn't checked before then.
        expires_at: the alert isn't checked after that.
    """

    id: str
    user_id: int
    is_above: bool
    threshold: Decimal
    cooldown_seconds: int | None = None
    cooldown_until: datetime | None = None
    created_at: datetime
    expires_at: datetime

    def is_met_by(self, rate: Decimal) -> bool:
        """Return whether a rate reaches the threshold."""
        return rate >= self.threshold if self.is_above else rate <= self.threshold


@dataclass(frozen=True, slots=True)
class RateUpdates:
    """All rate updates of a user. Alerts are in the order of their creation."""

    subscription: Subscription | None = None
    alerts: tuple[RateAlert, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the user gets no rate updates."""
        return self.subscription is None and not self.alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRequest:
    """An alert that a user requests. `cooldown_hours` is None if it is sent once. It expires after `days`."""

    is_above: bool
    threshold: Decimal
    cooldown_hours: int | None
    days: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an order costs at a quote: whole sats to pay, and whole rupiah that arrive."""

    sats: int
    idr: int
    fee_idr: int
    quote: Quote


def estimate(amount: Amount, quote: Quote) -> Estimate:
    """Return what `amount` costs at `quote`, rounded as the service rounds (sats up, rupiah down)."""
    if amount.currency == "SAT":
        idr = rupiah_for_sats(amount.value, quote.btc_idr)
        return Estimate(amount.value, idr, SETTLEMENT_FEE_IDR, quote)
    sats = sats_for_rupiah(amount.value, quote.btc_idr)
    return Estimate(sats, amount.value, SETTLEMENT_FEE_IDR, quote)


def price_drift_percent(*, expected_sats: int, expected_idr: int, sats: int, idr: int) -> Decimal:
    """Return how much worse for the payer the locked price is than the reviewed one, in percent.

    A negative result means a better price. The prices are compared in sats for one rupiah, so the result doesn't depend
    on which amount the user typed.
    """
    if min(expected_sats, expected_idr, sats, idr) <= 0:
        return Decimal("Infinity")
    locked = Decimal(sats) / Decimal(idr)
    reviewed = Decimal(expected_sats) / Decimal(expected_idr)
    return (locked / reviewed - 1) * 100


PERCENT_STEPS: Final = (1, 2, 5)
"""Percent up or down that have a button."""

COOLDOWN_HOURS: Final = (6, 24)
"""Hours until a repeated alert can be sent again."""

DURATION_DAYS: Final = (30, 90)
"""Days after which an alert expires."""

MAX_FACTOR: Final = 5
"""A price further than this factor above or below the rate is a typing mistake."""

_SIGNIFICANT_DIGITS: Final = 4
_PERCENT: Final = re.compile(r"(?P<sign>[+-]?) ?(?P<size>\d{1,3}(?:[.,]\d{1,2})?) ?(?:%|persen|percent)", re.ASCII)
_SCALES_TO_TRY: Final = ("", " miliar", " juta")


def shift_rate(rate: Decimal, percent: Decimal | int) -> Decimal:
    """Return the rate changed by `percent`, in whole rupiah with four significant digits."""
    exact = rate * (100 + percent) / 100
    last = max(exact.adjusted() - _SIGNIFICANT_DIGITS + 1, 0)
    return Decimal(int(exact.quantize(Decimal(1).scaleb(last))))


def is_sensible(threshold: Decimal, rate: Decimal) -> bool:
    """Return whether the price is near enough to `rate` to be meant."""
    return rate / MAX_FACTOR <= threshold <= rate * MAX_FACTOR


def read_threshold(text: str, rate: Decimal) -> Decimal:
    """Return the price of one bitcoin in rupiah that `text` names ("1,75 M", "1.2 miliar", "1750", "-3%").

    Of several meanings the one near `rate` is taken. The words "juta" and "miliar" can be left out.

    Raises:
        Rejection: `rates.subscription.alert_unreadable`, `rates.subscription.alert_too_far` (with `lowest` and
            `highest`), `rates.subscription.alert_is_there`.
    """
    readings = tuple(_readings(text, rate))
    near = [each for each in readings if is_sensible(each, rate)]
    if not readings:
        raise Rejection("rates.subscription.alert_unreadable")
    if not near:
        raise Rejection(
            "rates.subscription.alert_too_far", lowest=int(rate / MAX_FACTOR), highest=int(rate * MAX_FACTOR)
        )
    if near[0] == rate:
        raise Rejection("rates.subscription.alert_is_there")
    return near[0]


def _readings(text: str, rate: Decimal) -> Iterator[Decimal]:
    """Yield all prices that `text` can mean: first as written, then with "miliar" and "juta" added."""
    percent = _PERCENT.fullmatch(plain(text).casefold())
    if percent is not None:
        size = Decimal(percent["size"].replace(",", "."))
        yield shift_rate(rate, -size if percent["sign"] == "-" else size)
        return
    for scale in _SCALES_TO_TRY:
        yield from _read_rupiah(f"{text}{scale}")


def _read_rupiah(text: str) -> Iterator[Decimal]:
    try:
        found = parse_amount(text)
    except Rejection:
        return
    for amount in found.readings if isinstance(found, Ambiguous) else (found,):
        if amount.currency == "IDR":
            yield Decimal(amount.value)


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
