"""Values of any type that the service sends under names of its own, formatted for the reader."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Context, Decimal
from typing import Final

from bot.core.text import plain
from bot.infra.i18n import Translator

NOTHING: Final = "–"  # noqa: RUF001  meant as a dash
MAX_READ: Final = 400
"""Characters of a text that are read at all, so that none takes too long."""

MAX_UNITS: Final = 80
"""UTF-16 units of a value."""

MAX_ITEMS: Final = 5
MAX_DIGITS: Final = 24
"""A number with more is shown in scientific notation."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z\W_]+|\d+")
_NUMBER: Final = re.compile(r"-?\d{1,24}(\.\d{1,24})?", re.ASCII)
_RUPIAH, _SATS, _PERCENT = {"idr", "rupiah"}, {"sat", "sats", "satoshi", "satoshis"}, {"percent", "pct"}
_EXACT: Final = Context(prec=12)


def short(text: str, units: int = MAX_UNITS) -> str:
    """Return a text from outside on one line, without hidden characters, shortened to so many units."""
    shown = cut(plain(text[:MAX_READ]), units)
    return shown if len(text) <= MAX_READ or shown.endswith("…") else f"{shown[: units - 1]}…"


def cut(text: str, units: int) -> str:
    """Return the beginning of a plain text, up to so many units."""
    if _units(text) <= units:
        return text
    shown = text[:units]
    while _units(shown) > units - 1:
        shown = shown[:-1]
    return f"{shown.rstrip()}…"


def format_key(key: str) -> str:
    """Return a key as words: "totalVolumeIdr" is "Total volume IDR". One without letters stays as it is."""
    words = _WORDS.findall(plain(key[:MAX_READ]))
    if not words:
        return short(key) or NOTHING
    lowered = [word.upper() if word.lower() in {"idr", "btc", "usd", "id"} else word.lower() for word in words]
    sentence = " ".join(lowered)
    return sentence[0].upper() + sentence[1:]


def format_value(t: Translator, key: str, value: object, zone: tzinfo) -> str:
    """Return `value` in the format of its type and of the unit at the end of its key."""
    if isinstance(value, bool):
        return t.plain("platform.yes" if value else "platform.no")
    unit = _unit(key)
    if isinstance(value, str) and unit and _NUMBER.fullmatch(value.strip()):
        value = Decimal(value.strip())
    match value:
        case int() | Decimal():
            return _number(t, unit, Decimal(value))
        case str():
            return _text(t, value, zone)
        case Mapping() | Sequence():
            return _items(t, key, value, zone)
        case _:
            return NOTHING


def _unit(key: str) -> str:
    words = _WORDS.findall(key[:MAX_READ])
    last = words[-1].lower() if words else ""
    return last if last in _RUPIAH | _SATS | _PERCENT else ""


def _number(t: Translator, unit: str, value: Decimal) -> str:
    if abs(value.adjusted()) > MAX_DIGITS:
        return _scientific(value)
    if len(value.as_tuple().digits) > MAX_DIGITS:
        value = _EXACT.plus(value)
    if unit in _RUPIAH:
        return t.rate(value) if value >= 0 else t.number(value)
    if unit in _PERCENT:
        return t.percent(value)
    is_whole = value == value.to_integral_value()
    if unit in _SATS and is_whole:
        return t.sats(int(value))
    return t.number(int(value) if is_whole else value)


def _scientific(value: Decimal) -> str:
    """Return zero, or the first digits and the power of ten."""
    if not value:
        return "0"
    sign, digits, _ = value.as_tuple()
    first = "".join(map(str, digits[:4])).ljust(4, "0")
    return f"{'-' if sign else ''}{first[0]}.{first[1:]}e{value.adjusted()}"


def _text(t: Translator, value: str, zone: tzinfo) -> str:
    """Return a text, or the time that it contains."""
    if "T" in value[:MAX_READ] and len(value) <= 40:  # noqa: PLR2004  the longest spelling of a moment is 32
        try:
            moment = datetime.fromisoformat(value.strip())
            return t.date_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC), zone)
        except (ValueError, OverflowError):
            pass
    return short(value) or NOTHING


def _items(t: Translator, key: str, values: Mapping[str, object] | Sequence[object], zone: tzinfo) -> str:
    """Return a short list of plain values, or how many there are."""
    few = isinstance(values, Sequence) and len(values) <= MAX_ITEMS
    if not values or not few or any(isinstance(value, Mapping | list) for value in values):
        return t.plural("platform.items", len(values))
    return short(", ".join(format_value(t, key, value, zone) for value in values))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
