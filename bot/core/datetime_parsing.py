"""Days and times that operators type to schedule something: "18.30", "besok 9:00", "24/12 8 pm"."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from bot.core.errors import Rejection
from bot.core.locales import any_of, typed_values, typed_words
from bot.core.text import plain
from bot.core.time_of_day import next_at, read_time

MAX_AHEAD: Final = timedelta(days=366)
MAX_DAYS: Final = 365
MAX_CHARACTERS: Final = 60

_NAMED_DAYS: Final = typed_values("named_days")
_DAY_AND_TIME: Final = re.compile(
    rf"(?P<day>{any_of(_NAMED_DAYS)}|"
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.-]\d{1,2}(?:[/.-]\d{4})?),? "
    r"(?P<time>.+)"
)
_DAY: Final = re.compile(r"(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}))?")
_SOME_DAYS: Final = re.compile(rf"(\d{{1,3}})(?: (?:{any_of(typed_words('days'))}))?", re.ASCII)
_ISO_DAY: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_ZONE_SUFFIXES: Final = {
    "Asia/Jakarta": "wib",
    "Asia/Pontianak": "wib",
    "Asia/Makassar": "wita",
    "Asia/Jayapura": "wit",
}
"""The zone suffixes that a time can have. A suffix of another zone is rejected."""


def read_minute(text: str) -> int:
    """Read a time of day as minutes since midnight.

    Raises:
        Rejection: the text isn't a time of day.
    """
    minute = read_time(text)
    if minute is None:
        raise Rejection("core.template.time_unread")
    return minute


def read_moment(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Read a time of day, or a day and a time, as an aware UTC time.

    A time of day alone is its next occurrence, and so is a day without a year. `zone` is the operator's.

    Raises:
        Rejection: the text isn't a time, the time has passed, or it is more than a year away.
    """
    typed = _without_zone_suffix(plain(text[:MAX_CHARACTERS]).casefold(), zone)
    match = _DAY_AND_TIME.fullmatch(typed)
    minute = read_time(match["time"]) if match else None
    if match is None or minute is None:
        return next_at(read_minute(typed), zone, now)
    day = _day(match["day"], now.astimezone(zone).date())
    moment = datetime.combine(day, time(*divmod(minute, 60)), zone).astimezone(UTC)
    if moment <= now:
        raise Rejection("core.template.time_passed")
    if moment - now > MAX_AHEAD:
        raise Rejection("core.template.time_too_far")
    return moment


def read_days(text: str) -> int:
    """Read a number of days, 1 to 365.

    Raises:
        Rejection: the text isn't such a number.
    """
    match = _SOME_DAYS.fullmatch(plain(text).casefold())
    if match is None or not 1 <= int(match[1]) <= MAX_DAYS:
        raise Rejection("core.template.days_unread", most=MAX_DAYS)
    return int(match[1])


def _without_zone_suffix(typed: str, zone: tzinfo) -> str:
    suffix = _ZONE_SUFFIXES.get(getattr(zone, "key", ""))
    return typed.removesuffix(f" {suffix}") if suffix else typed


def _day(typed: str, today: date) -> date:
    if typed in _NAMED_DAYS:
        return today + timedelta(days=_NAMED_DAYS[typed])
    try:
        if match := _ISO_DAY.fullmatch(typed):
            return date(*map(int, match.groups()))
        if match := _DAY.fullmatch(typed):
            return _next_day(int(match[1]), int(match[2]), match[3], today)
    except ValueError:
        pass
    raise Rejection("core.template.time_unread")


def _next_day(day: int, month: int, year: str | None, today: date) -> date:
    if year is not None:
        return date(int(year), month, day)
    this_year = date(today.year, month, day)
    return this_year if this_year >= today else date(today.year + 1, month, day)
