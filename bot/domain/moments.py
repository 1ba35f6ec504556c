"""Times that are typed or chosen for something to happen: "18.30", "besok 9:00", "24/12 08:00", every day at 7."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from bot.domain.errors import Rejection
from bot.domain.text import plain

FURTHEST: Final = timedelta(days=366)
MINUTES_A_DAY: Final = 24 * 60
MOST_DAYS: Final = 365

_CLOCK: Final = re.compile(r"([01]?\d|2[0-3])(?:[:.]([0-5]\d))?")
_DAY: Final = re.compile(r"(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}))?")
_ISO_DAY: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_NAMED_DAYS: Final = {"today": 0, "tomorrow": 1, "hari ini": 0, "besok": 1, "lusa": 2}
_FILLERS: Final = re.compile(r"^(?:at|pukul|jam|on|pada)\s+|\s+(?:at|pukul|jam)(?=\s)|\s*(?:wib|wita|wit)$|,")


def read_minute(text: str) -> int:
    """A time of day as minutes since midnight: "7", "07.30", "18:05".

    Raises:
        Rejection: it isn't one.
    """
    match = _CLOCK.fullmatch(_said(text))
    if match is None:
        raise Rejection("broadcast.time_unread")
    return int(match[1]) * 60 + int(match[2] or 0)


def read_moment(text: str, now: datetime, zone: tzinfo) -> datetime:
    """When something is to happen, in UTC: a time of day, which is the next such one, or a day and a time.

    `zone` is where the reader's clock is. A day without its year is the next such day.

    Raises:
        Rejection: it isn't a time, it has passed, or it is more than a year away.
    """
    day, _separator, clock = _said(text).rpartition(" ")
    minute = read_minute(clock)
    if not day:
        return next_at(minute, zone, now)
    today = now.astimezone(zone).date()
    moment = _at(_day(day, today), minute, zone)
    if moment <= now:
        raise Rejection("broadcast.time_passed")
    if moment - now > FURTHEST:
        raise Rejection("broadcast.time_too_far")
    return moment


def read_days(text: str) -> int:
    """A number of days, 1 to 365.

    Raises:
        Rejection: it isn't one.
    """
    match = re.fullmatch(r"(\d{1,3})(?: (?:days?|hari))?", plain(text).casefold(), re.ASCII)
    if match is None or not 1 <= int(match[1]) <= MOST_DAYS:
        raise Rejection("broadcast.days_unread", most=MOST_DAYS)
    return int(match[1])


def next_at(minute: int, zone: tzinfo, after: datetime) -> datetime:
    """The first moment after `after` at which the clock of `zone` shows this minute of the day, in UTC.

    Where the clock is put forward over it, so much later; where it shows it twice, the first time.
    """
    today = after.astimezone(zone).date()
    candidates = (_at(today + timedelta(days=days), minute, zone) for days in range(3))
    return next(moment for moment in candidates if moment > after)


def _said(text: str) -> str:
    return " ".join(_FILLERS.sub("", plain(text).casefold()).split())


def _day(said: str, today: date) -> date:
    if said in _NAMED_DAYS:
        return today + timedelta(days=_NAMED_DAYS[said])
    try:
        if match := _ISO_DAY.fullmatch(said):
            return date(*map(int, match.groups()))
        if match := _DAY.fullmatch(said):
            return _next_day(int(match[1]), int(match[2]), match[3], today)
    except ValueError:
        pass
    raise Rejection("broadcast.time_unread")


def _next_day(day: int, month: int, year: str | None, today: date) -> date:
    if year is not None:
        return date(int(year), month, day)
    this_year = date(today.year, month, day)
    return this_year if this_year >= today else date(today.year + 1, month, day)


def _at(day: date, minute: int, zone: tzinfo) -> datetime:
    hours, minutes = divmod(minute, 60)
    return datetime.combine(day, time(hours, minutes), zone).astimezone(UTC)
