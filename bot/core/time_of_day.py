"""Times of a user's day, quiet hours, and the days and times that people type ("18.30", "besok 9:00", "24/12 8 pm")."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from bot.core.errors import Rejection
from bot.core.locales import any_of, typed_values, typed_words
from bot.core.text import plain

MINUTES: Final = 24 * 60
DEFAULT_QUIET_HOURS: Final = (22 * 60, 7 * 60)
"""The default: 22:00 to 07:00."""

_HALF_DAY_HOURS: Final = 12
_FIRST_HOUR: Final = typed_values("parts_of_a_day")
"""The first of the twelve hours that a word covers: "1 siang" is 13:00, "12 malam" midnight, "2 malam" 02:00."""

_TIME: Final = re.compile(
    rf"(?:(?:{any_of(typed_words('before_a_time'))}) ?)?(?P<hour>\d{{1,2}})"
    rf"(?:[.:]?(?P<minute>[0-5]\d))? ?(?P<part>{any_of(_FIRST_HOUR)})?",
    re.ASCII,
)
_SPAN: Final = re.compile(
    rf"(?:(?:{any_of(typed_words('before_a_span'))}) )?(?P<start>.+?)"
    rf" ?(?:-| (?:{any_of(typed_words('within_a_span'))}) ) ?(?P<end>.+)"
)
_DOTTED: Final = re.compile(r"\b([ap])\.m\.?")
MAX_CHARACTERS: Final = 40


def next_at(minute: int, zone: tzinfo, after: datetime) -> datetime:
    """Return the first UTC time after `after` (aware) when it is `minute` of the day (0 to 1,439) in `zone`.

    A time that the clocks skip moves by as much as they skip. A time that occurs twice counts once.
    """
    day, at = after.astimezone(zone).date(), time(*divmod(minute, 60))
    days = (day + timedelta(days=ahead) for ahead in (-1, 0, 1, 2))
    moments = [datetime.combine(each, at, tzinfo=zone).astimezone(UTC) for each in days]
    return min(moment for moment in moments if moment > after)


def is_quiet(now: datetime, zone: tzinfo, start: int | None, end: int | None) -> bool:
    """Return whether it is between `start` and `end`, minutes of the day in `zone`. Never if either is None."""
    if start is None or end is None:
        return False
    local = now.astimezone(zone)
    minute = local.hour * 60 + local.minute
    return start <= minute < end if start <= end else minute >= start or minute < end


def read_time(text: str) -> int | None:
    """Read a minute of the day ("7:30", "07.30", "7 pm", "jam 8 malam"). Return None for other text."""
    folded = _fold(text)
    match = _TIME.fullmatch(folded) if len(folded) <= MAX_CHARACTERS else None
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    # 24:00 is accepted: midnight ends a day, too.
    if hour * 60 + minute > MINUTES:
        return None
    if match["part"] and hour <= _HALF_DAY_HOURS:
        begins = _FIRST_HOUR[match["part"]]
        hour = begins + (hour - begins) % _HALF_DAY_HOURS
    return (hour * 60 + minute) % MINUTES


def read_span(text: str) -> tuple[int, int] | None:
    """Read two times with a dash or a word between them ("22-7", "10 pm to 6 am"). Return None for other text."""
    match = _SPAN.fullmatch(_fold(text)[: MAX_CHARACTERS * 2])
    start, end = (read_time(match["start"]), read_time(match["end"])) if match else (None, None)
    return None if start is None or end is None or start == end else (start, end)


def _fold(text: str) -> str:
    return _DOTTED.sub(r"\1m", plain(text).casefold())


MAX_AHEAD: Final = timedelta(days=366)
MAX_DAYS: Final = 365
MAX_MOMENT_CHARACTERS: Final = 60

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
    typed = _without_zone_suffix(plain(text[:MAX_MOMENT_CHARACTERS]).casefold(), zone)
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
