"""Names of the cities of time zones in all languages of the bot, from Babel's data."""

from collections.abc import Mapping
from functools import cache

from babel.core import Locale, get_global
from babel.dates import get_timezone_location

from bot.core.locales import LOCALES
from bot.infra.i18n.formats import INDONESIAN_ZONES

NO_CITY_PREFIX = "Etc/"


def find_city(zone: str, locale: str) -> str:
    """Return the city that `zone` is named after, in the reader's language: "Tokyo", "Kairo".

    It is empty for WIB, WITA and WIT, whose names are shown with the time, and for zones without a city.
    """
    if zone in INDONESIAN_ZONES or zone.startswith(NO_CITY_PREFIX):
        return ""
    return _get_city_part(str(get_timezone_location(zone, locale=locale, return_city=True)))


@cache
def list_zone_names() -> Mapping[str, tuple[str, ...]]:
    """Return for each zone its city, former names and country, in all languages. It is computed once, in 0.2 s."""
    aliases: dict[str, list[str]] = {}
    for alias, zone in get_global("zone_aliases").items():
        aliases.setdefault(str(zone), []).append(_get_city_part(str(alias)))
    return {
        zone: tuple(dict.fromkeys((_get_city_part(zone), *aliases.get(zone, ()), *_translate(zone, str(territory)))))
        for zone, territory in get_global("zone_territories").items()
        if not zone.startswith(NO_CITY_PREFIX)
    }


def _translate(zone: str, territory: str) -> list[str]:
    names = []
    for locale in LOCALES:
        names.append(str(get_timezone_location(zone, locale=locale, return_city=True)))
        names.append(str(Locale(locale).territories.get(territory, "")))
    return [name for name in names if name]


def _get_city_part(zone: str) -> str:
    return zone.rsplit("/", 1)[-1].replace("_", " ")
