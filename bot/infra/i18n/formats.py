"""Formats of numbers, money and times in each language, and the names of time zones and their cities.

Numbers of any size stay exact.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Final

from babel.core import Locale, get_global
from babel.dates import format_datetime, get_timezone_location
from babel.numbers import format_compact_decimal, get_decimal_symbol, get_group_symbol
from babel.units import format_unit

from bot.core.locales import LOCALES

WESTERN, CENTRAL, EASTERN = "WIB", "WITA", "WIT"
INDONESIAN_ZONES: Final = {
    "Asia/Jakarta": WESTERN,
    "Asia/Pontianak": WESTERN,
    "Asia/Makassar": CENTRAL,
    "Asia/Ujung_Pandang": CENTRAL,
    "Asia/Jayapura": EASTERN,
}
"""Zones with these names in every language. Babel has the names only in Indonesian."""

_DAY: Final = "d MMM"
_DATE: Final = "d MMM y"

_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))
_MIN_OF_UNIT: Final = 2
"""A larger unit is used from two of it on: "90 minutes", not "an hour"."""


class Formats:
    """Formats values for one locale. Rupiah are written `Rp` in every language, with the reader's separators."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._locale = Locale(locale)  # Babel would look up its name at each call
        self._conventions = LOCALES[locale]
        self._separators = str.maketrans({",": get_group_symbol(locale), ".": get_decimal_symbol(locale)})

    def number(self, value: int | Decimal) -> str:
        """Return `value` with grouped thousands and all its digits, not rounded."""
        return f"{value:,f}".translate(self._separators) if isinstance(value, Decimal) else self._format_whole(value)

    def rupiah(self, value: int) -> str:
        """Return whole rupiah: `Rp1.500.000` in Indonesian, `Rp1,500,000` in English."""
        return f"{'-' if value < 0 else ''}Rp{self._format_whole(abs(value))}"

    def sats(self, value: int) -> str:
        """Return whole sats: `29.412 sats`, `29,412 sats`. Only English has a singular: `1 sat`."""
        unit = self._conventions.one_sat if abs(value) == 1 else "sats"
        return f"{self._format_whole(value)} {unit}"

    def rate(self, idr: Decimal) -> str:
        """Return rupiah for one bitcoin or one dollar, rounded to whole rupiah: `Rp1.600.481.234`, `Rp16.251`."""
        return self.rupiah(int(idr.to_integral_value(ROUND_HALF_UP)))

    def compact(self, value: int) -> str:
        """Return `value` in short form for a chart, with one decimal: `1.2M`, `1,2 jt`."""
        return format_compact_decimal(value, locale=self._locale, fraction_digits=1)

    def percent(self, value: Decimal | int) -> str:
        """Return `value` in percent, rounded to two decimals: 1.5 is `1.5%`."""
        exact = Decimal(value)
        if not exact.is_finite():
            return "∞%"
        return _format_trimmed(round(exact, 2) or Decimal(0)).translate(self._separators) + "%"

    def language(self, locale: str) -> str:
        """Return the name of the language `locale` in the reader's language: `Indonesian`, `Indonesia`."""
        return str(self._locale.languages[locale])

    def clock(self, moment: datetime, zone: tzinfo) -> str:
        """Return the time of day in the user's `zone`, with its name: `10.05 WIB`. `moment` is aware."""
        return self._format_with_zone(moment, zone, self._conventions.clock)

    def hour(self, moment: datetime, zone: tzinfo) -> str:
        """Return the time of day in the user's `zone`, without its name: `10.05`. `moment` is aware."""
        return format_datetime(_convert(moment, zone), self._conventions.clock, locale=self._locale)

    def seconds(self, moment: datetime, zone: tzinfo) -> str:
        """Return the time of day to the second in `zone`, without its name: `10.05.12`. `moment` is aware."""
        return format_datetime(_convert(moment, zone), self._conventions.seconds, locale=self._locale)

    def time_of_day(self, minute: int) -> str:
        """Return a minute of the day (0 to 1,439) as a time without a zone: `07.30`."""
        hour, minute = divmod(minute, 60)
        return self._conventions.clock.replace("HH", f"{hour:02}").replace("mm", f"{minute:02}")

    def date(self, moment: datetime, zone: tzinfo, *, with_year: bool = True) -> str:
        """Return the day in the user's `zone`: `17 Agu 2026`, or `17 Agu` without its year. `moment` is aware."""
        return format_datetime(_convert(moment, zone), _DATE if with_year else _DAY, locale=self._locale)

    def date_time(self, moment: datetime, zone: tzinfo) -> str:
        """Return date and time in the user's `zone`, with its name: `17 Agu 2026 10.05 WIB`. `moment` is aware."""
        return self._format_with_zone(moment, zone, self._conventions.date_time)

    def duration(self, length: timedelta) -> str:
        """Return a length of time in one unit, rounded down, but at least a minute: `5 menit`."""
        length = max(abs(length), timedelta(minutes=1))
        for name, unit in _UNITS[:-1]:
            if length >= _MIN_OF_UNIT * unit:
                return format_unit(length // unit, f"duration-{name}", locale=self._locale)
        return format_unit(length // _UNITS[-1][1], "duration-minute", locale=self._locale)

    def within(self, length: timedelta) -> str:
        """Return a length of time as `duration` does, but rounded up, as an upper limit."""
        for name, unit in _UNITS:
            count = -(-length // unit)
            if count > _MIN_OF_UNIT or unit == _UNITS[-1][1]:
                return format_unit(max(count, 1), f"duration-{name}", locale=self._locale)
        raise ValueError(length)

    def measured(self, seconds: float) -> str:
        """Return a measured time: `0.25 seconds`, `12 detik`. From two minutes on, return it as `duration` does."""
        if seconds >= _MIN_OF_UNIT * 60:
            return self.duration(timedelta(seconds=seconds))
        rounded = round(seconds, 2 if seconds < 1 else 1 if seconds < 10 else None)  # noqa: PLR2004  three digits at most
        return format_unit(rounded, "duration-second", locale=self._locale)

    def _format_whole(self, value: int) -> str:
        return f"{value:,}".translate(self._separators)

    def _format_with_zone(self, moment: datetime, zone: tzinfo, pattern: str) -> str:
        local = _convert(moment, zone)
        return f"{format_datetime(local, pattern, locale=self._locale)} {get_zone_name(local, zone)}"


def _convert(moment: datetime, zone: tzinfo) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment needs its zone")
    return moment.astimezone(zone)


def _format_trimmed(value: Decimal) -> str:
    """Return all digits of `value` with grouped thousands, without trailing zeros after the point."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def get_zone_name(local: datetime, zone: tzinfo) -> str:
    """Return the name of `zone` at that time: WIB, WITA or WIT, elsewhere the difference from UTC."""
    known = INDONESIAN_ZONES.get(getattr(zone, "key", ""))
    offset = local.utcoffset() or timedelta()
    if known or not offset:
        return known or "UTC"
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    return f"UTC{'-' if offset < timedelta() else '+'}{hours}" + (f":{minutes:02}" if minutes else "")


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
