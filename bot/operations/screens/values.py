"""A value of whatever kind, as the service gave it under a name of its own, in its reader's way of writing."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Context, Decimal
from typing import Final

from bot.core.text import plain
from bot.infra.i18n import Translator

NOTHING: Final = "–"  # noqa: RUF001  meant as a dash
LOOKED_AT: Final = 400
"""Characters of a text that are looked at at all, so that none takes time without end."""

LONGEST: Final = 80
"""Units of a value, as Telegram counts."""

LISTED: Final = 5
DIGITS: Final = 24
"""Of a number; one with more is told by its size."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z\W_]+|\d+")
_NUMBER: Final = re.compile(r"-?\d{1,24}(\.\d{1,24})?", re.ASCII)
_RUPIAH, _SATS, _PERCENT = {"idr", "rupiah"}, {"sat", "sats", "satoshi", "satoshis"}, {"percent", "pct"}
_EXACT: Final = Context(prec=12)


def short(text: str, units: int = LONGEST) -> str:
    """A text from outside on one line, nothing hidden in it, cut to so many units."""
    shown = cut(plain(text[:LOOKED_AT]), units)
    return shown if len(text) <= LOOKED_AT or shown.endswith("…") else f"{shown[: units - 1]}…"


def cut(text: str, units: int) -> str:
    """The beginning of a text that is plain already, of at most so many units."""
    if _units(text) <= units:
        return text
    shown = text[:units]
    while _units(shown) > units - 1:
        shown = shown[:-1]
    return f"{shown.rstrip()}…"


def named(key: str) -> str:
    """A key as words: "totalVolumeIdr" is "Total volume IDR"; one without letters stays as it is."""
    words = _WORDS.findall(plain(key[:LOOKED_AT]))
    if not words:
        return short(key) or NOTHING
    lowered = [word.upper() if word.lower() in {"idr", "btc", "usd", "id"} else word.lower() for word in words]
    sentence = " ".join(lowered)
    return sentence[0].upper() + sentence[1:]


def told(t: Translator, key: str, value: object, zone: tzinfo) -> str:
    """`value` as its kind and the last word of its key say that it is meant."""
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
            return _several(t, key, value, zone)
        case _:
            return NOTHING


def _unit(key: str) -> str:
    words = _WORDS.findall(key[:LOOKED_AT])
    last = words[-1].lower() if words else ""
    return last if last in _RUPIAH | _SATS | _PERCENT else ""


def _number(t: Translator, unit: str, value: Decimal) -> str:
    if abs(value.adjusted()) > DIGITS:
        return _by_size(value)
    if len(value.as_tuple().digits) > DIGITS:
        value = _EXACT.plus(value)
    if unit in _RUPIAH:
        return t.rate(value) if value >= 0 else t.number(value)
    if unit in _PERCENT:
        return t.percent(value)
    is_whole = value == value.to_integral_value()
    if unit in _SATS and is_whole:
        return t.sats(int(value))
    return t.number(int(value) if is_whole else value)


def _by_size(value: Decimal) -> str:
    """Zero, or the first digits and the power of ten."""
    if not value:
        return "0"
    sign, digits, _ = value.as_tuple()
    first = "".join(map(str, digits[:4])).ljust(4, "0")
    return f"{'-' if sign else ''}{first[0]}.{first[1:]}e{value.adjusted()}"


def _text(t: Translator, value: str, zone: tzinfo) -> str:
    """A text, or the moment that it spells."""
    if "T" in value[:LOOKED_AT] and len(value) <= 40:  # noqa: PLR2004  the longest spelling of a moment is 32
        try:
            moment = datetime.fromisoformat(value.strip())
            return t.date_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC), zone)
        except (ValueError, OverflowError):
            pass
    return short(value) or NOTHING


def _several(t: Translator, key: str, values: Mapping[str, object] | Sequence[object], zone: tzinfo) -> str:
    """A short list of plain values, or how many there are."""
    few = isinstance(values, Sequence) and len(values) <= LISTED
    if not values or not few or any(isinstance(value, Mapping | list) for value in values):
        return t.n("platform.items", len(values))
    return short(", ".join(told(t, key, value, zone) for value in values))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
