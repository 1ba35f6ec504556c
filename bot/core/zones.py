"""Time zones of users, and finding a zone by a city, a country, its name or UTC+2."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rapidfuzz import fuzz

from bot.core.text import plain

PRESUMED: Final = ZoneInfo.no_cache("Asia/Jakarta")
"""Used until a user chooses a zone.

It differs from a chosen Asia/Jakarta because an app may know the user's zone better.
"""

INDONESIAN: Final = ("Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura")
"""WIB, WITA, WIT."""

MAX_OFFERED: Final = 6
MAX_QUERY_CHARACTERS: Final = 60

Names = Mapping[str, Iterable[str]]
"""Zone -> names of its places, in any language."""

_WEST, _EAST = timedelta(hours=-12), timedelta(hours=14)
_MIN_LETTERS: Final = 3
_MIN_SIMILARITY: Final = 78.0
"""The similarity, in percent, from which a misspelt name is offered."""

_OFFSET: Final = re.compile(r"(?:utc|gmt)? ?([+-]) ?(\d{1,2})(?:[:.]?([0-5]\d))?", re.IGNORECASE | re.ASCII)
_HOUR, _HALF_YEAR = timedelta(hours=1), timedelta(days=182)


def zone_of(key: str) -> ZoneInfo:
    """Return the zone with this name. Return the presumed one for an empty or unknown name."""
    if not key:
        return PRESUMED
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return PRESUMED


def find_zones(query: str, names: Names, now: datetime) -> tuple[str, ...]:
    """Return up to six zones that `query` can mean, the best match first.

    Whole names come before prefixes, those before a name at the end of a sentence, and misspellings come last. An
    offset from UTC in whole hours is a zone of its own. Other offsets match zones that have them at `now` (aware).
    """
    typed = plain(query)
    if not typed or len(typed) > MAX_QUERY_CHARACTERS:
        return ()
    if typed.casefold() in {"utc", "gmt"}:
        return ("Etc/UTC",)
    if match := _OFFSET.fullmatch(typed):
        return _at_offset(_offset(*match.groups()), names, now)
    return _named(typed, names, now)[:MAX_OFFERED]


def offered_zone(key: str, names: Names) -> ZoneInfo | None:
    """Return the zone of a button. Return None for a key that no button of the bot has."""
    offset = re.fullmatch(r"Etc/GMT[+-]\d{1,2}", key, re.ASCII)
    if key not in names and key != "Etc/UTC" and not offset:
        return None
    zone = zone_of(key)
    return None if zone is PRESUMED else zone


def _offset(sign: str, hours: str, minutes: str | None) -> timedelta:
    size = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return -size if sign == "-" else size


def _at_offset(offset: timedelta, names: Names, now: datetime) -> tuple[str, ...]:
    if not _WEST <= offset <= _EAST:
        return ()
    if offset % _HOUR:
        return tuple(key for key in names if now.astimezone(zone_of(key)).utcoffset() == offset)[:MAX_OFFERED]
    hours = offset // _HOUR
    # POSIX has the sign reversed: UTC+2 is Etc/GMT-2.
    return (f"Etc/GMT{-hours:+d}" if hours else "Etc/UTC",)


def _named(typed: str, names: Names, now: datetime) -> tuple[str, ...]:
    wanted = _without_signs(typed)
    if not wanted:
        return ()
    named = _names_by_zone(names)
    if exact := [key for key, forms in named.items() if wanted in forms]:
        return _one_per_offset(exact, now)
    if len(wanted) < _MIN_LETTERS:
        return ()
    begun = {key: [len(form) for form in forms if form.startswith(wanted)] for key, forms in named.items()}
    if any(begun.values()):
        return tuple(sorted((key for key, lengths in begun.items() if lengths), key=lambda key: min(begun[key])))
    if ended := _named_at_the_end(typed, named, now):
        return ended
    similarity = {key: max(fuzz.ratio(wanted, form) for form in forms) for key, forms in named.items()}
    likely = [key for key, score in similarity.items() if score >= _MIN_SIMILARITY]
    return tuple(sorted(likely, key=lambda key: -similarity[key]))


def _named_at_the_end(typed: str, named: Mapping[str, Iterable[str]], now: datetime) -> tuple[str, ...]:
    """Return the zones whose whole name ends a sentence: "saya di Jerman", "I live in Hong Kong"."""
    words = typed.rstrip(".!").split()
    for start in range(1, len(words)):
        wanted = _without_signs(" ".join(words[start:]))
        if len(wanted) >= _MIN_LETTERS and (exact := [key for key, forms in named.items() if wanted in forms]):
            return _one_per_offset(exact, now)
    return ()


def _names_by_zone(names: Names) -> dict[str, set[str]]:
    """Return zone -> names without spaces and signs.

    Zones with users come first, each country's main zone before others.
    """
    extra = _extra_names()
    keys = (*(key for key in extra if key in names), *(key for key in names if key not in extra))
    return {key: {_without_signs(name) for name in (key, *extra.get(key, ()), *names[key])} for key in keys}


def _one_per_offset(keys: Iterable[str], now: datetime) -> tuple[str, ...]:
    """Return one zone for each offset. Zones of a country that agree in summer and winter are the same choice."""
    apart: dict[tuple[timedelta | None, ...], str] = {}
    for key in keys:
        zone = zone_of(key)
        apart.setdefault(tuple(at.astimezone(zone).utcoffset() for at in (now, now + _HALF_YEAR)), key)
    return tuple(apart.values())


@lru_cache(maxsize=8192)
def _without_signs(name: str) -> str:
    letters = unicodedata.normalize("NFD", plain(name).casefold())
    return re.sub(r"[\W_]+", "", "".join(each for each in letters if unicodedata.category(each) != "Mn"))


@cache
def _extra_names() -> Mapping[str, tuple[str, ...]]:
    """Return cities and regions that have users but no zone named after them."""
    known = json.loads((files("bot.core") / "places.json").read_text(encoding="utf-8"))
    return {key: tuple(names) for key, names in known.items()}
