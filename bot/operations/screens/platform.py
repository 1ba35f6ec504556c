"""The service's own statistics and its deposit rails.

The service chooses names, types and sizes. All values are read as data, escaped, and shortened to fit in a message.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Context, Decimal
from itertools import islice
from typing import Final

from bot.core.text import plain
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Screen
from bot.operations.statistics import OwnTotals
from bot.operations.statistics_service import ServiceStatistics
from bot.payments.tokens import CHAIN_NAMES, LIGHTNING, TOKENS, name_key
from bot.settlement.model import DepositRails, PlatformStats, Rail

NO_VALUE: Final = "–"  # noqa: RUF001  meant as a dash
MAX_READ: Final = 400
"""Characters of a text that are read. This limits the time for long texts."""

MAX_UNITS: Final = 80
"""Maximum length of a value, in UTF-16 units."""

MAX_ITEMS: Final = 5
MAX_DIGITS: Final = 24
"""A number with more digits is shown in scientific notation."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z\W_]+|\d+")
_NUMBER: Final = re.compile(r"-?\d{1,24}(\.\d{1,24})?", re.ASCII)
_RUPIAH, _SATS, _PERCENT = {"idr", "rupiah"}, {"sat", "sats", "satoshi", "satoshis"}, {"percent", "pct"}
_EXACT: Final = Context(prec=12)

MAX_LINES: Final = 16
"""Values in one message."""

MAX_DEPTH: Final = 2
NAMES: Final = {
    "totalOrders": "operations.platform.total_orders",
    "completedOrders": "operations.platform.completed_orders",
    "totalVolumeIdr": "operations.platform.total_volume_idr",
    "totalVolumeSats": "operations.platform.total_volume_sats",
    "tagline": "operations.platform.tagline",
    "updatedAt": "operations.platform.updated_at",
    "fetchedAt": "operations.platform.fetched_at",
    "bitcoinOnchain": "operations.platform.bitcoin_onchain",
    LIGHTNING: name_key(LIGHTNING),
    "arbitrumUsdt": "operations.platform.arbitrum_usdt",
    **{token.rail: name_key(token.code) for token in TOKENS.values()},
}
"""Names with a text in the catalogue. Any other name is shown as words."""


def show_service_statistics(t: Translator, service: ServiceStatistics, zone: tzinfo) -> Screen:
    """Show the statistics and the rails, or say that the service didn't answer."""
    if service.stats is None:
        statistics = t("operations.platform.no_stats")
    else:
        statistics = _statistics(t, service.stats, zone, service.own)
    rails = t("operations.platform.no_rails") if service.rails is None else _rails(t, service.rails)
    return Screen(f"{t('operations.platform.head')}\n{statistics}\n\n{t('operations.platform.rails')}\n{rails}")


def _statistics(t: Translator, stats: PlatformStats, zone: tzinfo, own: OwnTotals | None) -> Html:
    values, ours = _flatten(stats.values), _own_values(t, own)
    lines, has_own = list[Html](), False
    for path, value in islice(values, MAX_LINES):
        name, shown = _name(t, path), format_value(t, path[-1], value, zone)
        beside = ours.get(path[0]) if len(path) == 1 else None
        has_own = has_own or beside is not None
        lines.append(
            t("operations.platform.figure", name=name, value=shown)
            if beside is None
            else t("operations.platform.figure_and_ours", name=name, value=shown, ours=beside)
        )
    left = sum(1 for _ in values)
    if left:
        lines.append(t.plural("operations.platform.more", left))
    if has_own:
        lines.append(t("operations.platform.about_ours"))
    return Html("\n".join(lines)) if lines else t("operations.platform.empty")


def _own_values(t: Translator, own: OwnTotals | None) -> Mapping[str, str]:
    """Return what we count of the service's figures, by its names for them."""
    if own is None:
        return {}
    return {
        "totalOrders": t.number(own.created),
        "completedOrders": t.number(own.sent.orders),
        "totalVolumeIdr": t.rupiah(own.sent.idr),
        "totalVolumeSats": t.sats(own.sent.sats),
    }


def _flatten(values: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield every value with its path of names. Values below `MAX_DEPTH` stay together."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping) and value and len(path) < MAX_DEPTH:
            yield from _flatten(value, path)
        else:
            yield path, value


def _name(t: Translator, path: tuple[str, ...]) -> str:
    if len(path) == 1 and path[0] in NAMES:
        return t.plain(NAMES[path[0]])
    return truncate(" · ".join(map(format_key, path)), 48)


def _rails(t: Translator, rails: DepositRails) -> Html:
    lines = [] if rails.is_configured else [t("operations.platform.unconfigured")]
    lines += [_rail(t, rail) for rail in rails.rails]
    if rails.error:
        lines.append(t("operations.platform.error", error=shorten(rails.error, 120)))
    return Html("\n".join(lines)) if lines else t("operations.platform.empty")


def _rail(t: Translator, rail: Rail) -> Html:
    """Return a rail by its names. Addresses are for machines, so they aren't shown."""
    name = t.plain(NAMES[rail.name]) if rail.name in NAMES else truncate(format_key(rail.name), 48)
    facts = [fact for fact in (shorten(rail.token, 16), _chain(rail), shorten(rail.summary, 80)) if fact not in name]
    if not facts:
        return t("operations.platform.rail", name=name)
    return t("operations.platform.rail_facts", name=name, facts=" · ".join(facts))


def _chain(rail: Rail) -> str:
    if rail.chain_id is None:
        return ""
    return CHAIN_NAMES.get(rail.chain_id, shorten(str(rail.chain_id), 20))


def shorten(text: str, units: int = MAX_UNITS) -> str:
    """Return an external text on one line, without hidden characters, shortened to so many units."""
    shown = truncate(plain(text[:MAX_READ]), units)
    return shown if len(text) <= MAX_READ or shown.endswith("…") else f"{shown[: units - 1]}…"


def truncate(text: str, units: int) -> str:
    """Return the beginning of a plain text, up to so many units."""
    if _count_units(text) <= units:
        return text
    shown = text[:units]
    while _count_units(shown) > units - 1:
        shown = shown[:-1]
    return f"{shown.rstrip()}…"


def format_key(key: str) -> str:
    """Return a key as words: "totalVolumeIdr" is "Total volume IDR". A key without letters stays as it is."""
    words = _WORDS.findall(plain(key[:MAX_READ]))
    if not words:
        return shorten(key) or NO_VALUE
    lowered = [word.upper() if word.lower() in {"idr", "btc", "usd", "id"} else word.lower() for word in words]
    sentence = " ".join(lowered)
    return sentence[0].upper() + sentence[1:]


def format_value(t: Translator, key: str, value: object, zone: tzinfo) -> str:
    """Return `value` in the format of its type, and of the unit at the end of its key."""
    if isinstance(value, bool):
        return t.plain("operations.platform.yes" if value else "operations.platform.no")
    unit = _get_unit(key)
    if isinstance(value, str) and unit and _NUMBER.fullmatch(value.strip()):
        value = Decimal(value.strip())
    match value:
        case int() | Decimal():
            return _format_number(t, unit, Decimal(value))
        case str():
            return _format_text(t, value, zone)
        case Mapping() | Sequence():
            return _format_items(t, key, value, zone)
        case _:
            return NO_VALUE


def _get_unit(key: str) -> str:
    words = _WORDS.findall(key[:MAX_READ])
    last = words[-1].lower() if words else ""
    return last if last in _RUPIAH | _SATS | _PERCENT else ""


def _format_number(t: Translator, unit: str, value: Decimal) -> str:
    if abs(value.adjusted()) > MAX_DIGITS:
        return _format_scientific(value)
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


def _format_scientific(value: Decimal) -> str:
    """Return the number in scientific notation with four digits; zero is "0"."""
    if not value:
        return "0"
    sign, digits, _ = value.as_tuple()
    first = "".join(map(str, digits[:4])).ljust(4, "0")
    return f"{'-' if sign else ''}{first[0]}.{first[1:]}e{value.adjusted()}"


def _format_text(t: Translator, value: str, zone: tzinfo) -> str:
    """Return a text. A time in ISO 8601 is formatted for the reader."""
    if "T" in value[:MAX_READ] and len(value) <= 40:  # noqa: PLR2004  the longest spelling of a moment is 32
        try:
            moment = datetime.fromisoformat(value.strip())
            return t.date_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC), zone)
        except (ValueError, OverflowError):
            pass
    return shorten(value) or NO_VALUE


def _format_items(t: Translator, key: str, values: Mapping[str, object] | Sequence[object], zone: tzinfo) -> str:
    """Return a short list of plain values, or how many there are."""
    few = isinstance(values, Sequence) and len(values) <= MAX_ITEMS
    if not values or not few or any(isinstance(value, Mapping | list) for value in values):
        return t.plural("operations.platform.items", len(values))
    return shorten(", ".join(format_value(t, key, value, zone) for value in values))


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
