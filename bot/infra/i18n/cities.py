"""What the places of the world's time zones are called, in all our languages, from Babel's data."""

from collections.abc import Mapping
from functools import cache

from babel.core import Locale, get_global
from babel.dates import get_timezone_location

from bot.core.locales import LOCALES
from bot.infra.i18n.formats import INDONESIAN_ZONES

NOWHERE = "Etc/"


def find_city(zone: str, locale: str) -> str:
    """Return the place that `zone` is named after, in the reader's language: "Tokyo", "Kairo".

    Empty for zones that the clock names by itself: WIB, WITA and WIT, and those that are only a difference from UTC.
    """
    if zone in INDONESIAN_ZONES or zone.startswith(NOWHERE):
        return ""
    return _last(str(get_timezone_location(zone, locale=locale, return_city=True)))


@cache
def list_zone_names() -> Mapping[str, tuple[str, ...]]:
    """Zone -> its city, its former names and its country, in all our languages. Computed once, in 0.2 s."""
    aliases: dict[str, list[str]] = {}
    for alias, zone in get_global("zone_aliases").items():
        aliases.setdefault(str(zone), []).append(_last(str(alias)))
    return {
        zone: tuple(dict.fromkeys((_last(zone), *aliases.get(zone, ()), *_in_all_languages(zone, str(territory)))))
        for zone, territory in get_global("zone_territories").items()
        if not zone.startswith(NOWHERE)
    }


def _in_all_languages(zone: str, territory: str) -> list[str]:
    names = []
    for locale in LOCALES:
        names.append(str(get_timezone_location(zone, locale=locale, return_city=True)))
        names.append(str(Locale(locale).territories.get(territory, "")))
    return [name for name in names if name]


def _last(zone: str) -> str:
    return zone.rsplit("/", 1)[-1].replace("_", " ")
