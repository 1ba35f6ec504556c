"""Times of a user's day: the next daily quote, quiet hours, and the parser of typed times."""

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

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
