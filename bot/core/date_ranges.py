"""Periods for statistics and history: the last day, week or month, or dates that a user types.

Days begin and end at midnight in the user's zone. That also holds on days when the clocks change.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from functools import partial
from typing import Final

from bot.core.text import plain

HOURS_PER_DAY: Final = 24
LONGEST_DAYS: Final = 366
"""The longest period that can be typed, in days."""

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
_MICROSECOND: Final = timedelta(microseconds=1)


class Period(StrEnum):
    """The periods that have their own button."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


DAYS_OF_PERIOD: Final = {Period.WEEK: 7, Period.MONTH: 30}


@dataclass(frozen=True, slots=True)
class Span:
    """A period cut into parts.

    `edges` are aware UTC times. Each pair of neighbours is one part, and the last is exclusive.
    """

    edges: tuple[datetime, ...]

    @property
    def since(self) -> datetime:
        """Return the start of the period."""
        return self.edges[0]

    @property
    def until(self) -> datetime:
        """Return the end of the period, exclusive."""
        return self.edges[-1]

    @property
    def parts(self) -> int:
        """Return the number of parts."""
        return len(self.edges) - 1


def get_recent_span(period: Period, now: datetime, zone: tzinfo) -> Span:
    """Return the last 24 hours by the hour, or the last 7 or 30 days by the day. The last part is the current one."""
    if period is Period.DAY:
        end = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR
        return Span(tuple(end - HOUR * back for back in range(HOURS_PER_DAY, -1, -1)))
    today = now.astimezone(zone).date()
    return get_day_span(today - timedelta(days=DAYS_OF_PERIOD[period] - 1), today, zone)


def get_day_span(first: date, last: date, zone: tzinfo) -> Span:
    """Return the days from `first` to `last`, both included, by the day."""
    count = (last - first).days + 1
    return Span(tuple(_midnight(first + timedelta(days=number), zone) for number in range(count + 1)))


def get_month_span(now: datetime, zone: tzinfo, back: int = 0) -> Span:
    """Return the current calendar month, or the month `back` months ago, by the day."""
    today = now.astimezone(zone).date()
    months = today.year * 12 + today.month - 1 - back
    return get_day_span(*_month(months // 12, months % 12 + 1), zone)


NAMED_SPANS: Final[Mapping[str, Callable[[datetime, tzinfo], Span]]] = {
    "day": partial(get_recent_span, Period.DAY),
    "week": partial(get_recent_span, Period.WEEK),
    "month": partial(get_recent_span, Period.MONTH),
    "this_month": get_month_span,
    "last_month": partial(get_month_span, back=1),
}
"""The periods that have a button for a file. Each is computed from the current time and a zone."""


def first_and_last_day(span: Span, zone: tzinfo) -> tuple[date, date]:
    """Return the days on which a period begins and ends, both included."""
    return span.since.astimezone(zone).date(), (span.until - _MICROSECOND).astimezone(zone).date()


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _month(year: int, number: int) -> tuple[date, date]:
    first = date(year, number, 1)
    following = (first.replace(day=28) + timedelta(days=4)).replace(day=1)
    return first, following - DAY


MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "jan january januari",
            "feb february februari peb pebruari",
            "mar march maret mrt",
            "apr april",
            "may mei",
            "jun june juni",
            "jul july juli",
            "aug august agustus agu agt ags",
            "sep sept september",
            "oct october oktober okt",
            "nov november nop nopember",
            "dec december desember des",
        ),
        start=1,
    )
    for name in names.split()
}

_NAMES: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES: Final = re.compile(
    r"(?<![\da-z])(?:"
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?"
    rf"|(?P<day2>\d{{1,2}})[-/. ](?P<month2>\d{{1,2}}|{_NAMES})(?:[-/. ](?P<year2>\d{{4}}))?"
    rf"|(?P<month3>\d{{1,2}}|{_NAMES})[-/. ](?P<year3>\d{{4}})"
    rf"|(?P<month4>{_NAMES})"
    r"|(?P<year5>\d{4})"
    r")(?![\da-z])"
)
_BETWEEN: Final = re.compile(r"|-|\.\.+|to|until|till|through|sampai|hingga|s/d|s\.d\.|sd")
_BEFORE: Final = re.compile(r"^(?:from|dari|sejak|since)\b")
_LAST_DAYS: Final = re.compile(r"(?:last )?(?P<count>\d{1,3}) ?(?:d|days?|h|hari)(?: terakhir)?")


def parse_span(text: str, today: date, zone: tzinfo) -> Span | None:
    """Read a day, a month, a year, or two of them as first and last. Return None for anything else.

    The day comes before the month, as in Indonesia, except after a year. A date without a year is its last occurrence.
    A span is at most a year long and can't begin after `today`.
    """
    try:
        first, last = _read(plain(text).lower(), today)
        if not first <= last or first > today or (last - first).days >= LONGEST_DAYS:
            return None
        return get_day_span(first, min(last, today), zone)
    except (ValueError, OverflowError):
        return None


def _read(text: str, today: date) -> tuple[date, date]:
    """Return the first and the last day. Raise ValueError for text that isn't a date."""
    if counted := _LAST_DAYS.fullmatch(text):
        return today - timedelta(days=int(counted["count"]) - 1), today
    text = _BEFORE.sub("", text)
    found = list(_DATES.finditer(text))
    if len(found) not in {1, 2} or not _has_only_dates(text, found):
        raise ValueError("not one or two dates")
    dates = [_TypedDate.from_match(match) for match in found]
    year = next((each.year for each in reversed(dates) if each.year is not None), None)
    ends = [each.first_and_last(year, today) for each in dates]
    return ends[0][0], ends[-1][1]


def _has_only_dates(text: str, found: list[re.Match[str]]) -> bool:
    """Return whether the text holds only the dates and a word between them."""
    outside = text[: found[0].start()] + text[found[-1].end() :]
    between = text[found[0].end() : found[-1].start()].strip() if len(found) > 1 else ""
    return not outside.strip() and _BETWEEN.fullmatch(between) is not None


@dataclass(frozen=True, slots=True)
class _TypedDate:
    """One date as typed: a day, a month or a year. A part that was left out is None."""

    year: int | None
    month: int | None
    day: int | None

    @classmethod
    def from_match(cls, match: re.Match[str]) -> "_TypedDate":
        parts = {
            name.rstrip("2345"): MONTHS.get(value) or int(value) for name, value in match.groupdict().items() if value
        }
        return cls(parts.get("year"), parts.get("month"), parts.get("day"))

    def first_and_last(self, year: int | None, today: date) -> tuple[date, date]:
        """Return the first and last day.

        Without a year, use the latest that has begun. Raise ValueError for a wrong date.
        """
        known = year if self.year is None else self.year
        if known is None:
            known = today.year if self._span_in(today.year)[0] <= today else today.year - 1
        return self._span_in(known)

    def _span_in(self, year: int) -> tuple[date, date]:
        if self.month is None:
            return date(year, 1, 1), date(year, 12, 31)
        if self.day is None:
            return _month(year, self.month)
        return date(year, self.month, self.day), date(year, self.month, self.day)
