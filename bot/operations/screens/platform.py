"""The service's own statistics, whatever they are, and its deposit rails.

Names, types and sizes are the service's own: all is read as data, escaped, and shortened to fit in a message.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from itertools import islice
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Screen
from bot.operations.screens.formatting import cut, format_key, format_value, short
from bot.operations.statistics_service import ServiceStatistics
from bot.payments.tokens import CHAIN_NAMES, LIGHTNING, TOKENS, name_key
from bot.settlement.model import DepositRails, PlatformStats, Rail

MAX_LINES: Final = 16
"""Values in one message."""

MAX_DEPTH: Final = 2
NAMES: Final = {
    "totalOrders": "platform.total_orders",
    "completedOrders": "platform.completed_orders",
    "totalVolumeIdr": "platform.total_volume_idr",
    "totalVolumeSats": "platform.total_volume_sats",
    "tagline": "platform.tagline",
    "updatedAt": "platform.updated_at",
    "fetchedAt": "platform.fetched_at",
    "bitcoinOnchain": "platform.bitcoin_onchain",
    LIGHTNING: name_key(LIGHTNING),
    "arbitrumUsdt": "platform.arbitrum_usdt",
    **{token.rail: name_key(token.code) for token in TOKENS.values()},
}
"""The names that have a text. Any other name is shown as its words."""


def screen(t: Translator, service: ServiceStatistics, zone: tzinfo) -> Screen:
    """Return both, or that the service didn't answer."""
    statistics = t("platform.no_stats") if service.stats is None else _statistics(t, service.stats, zone)
    rails = t("platform.no_rails") if service.rails is None else _rails(t, service.rails)
    return Screen(f"{t('platform.head')}\n{statistics}\n\n{t('platform.rails')}\n{rails}")


def _statistics(t: Translator, stats: PlatformStats, zone: tzinfo) -> Html:
    every = _flat(stats.values)
    lines = [
        t("platform.figure", name=_name(t, path), value=format_value(t, path[-1], value, zone))
        for path, value in islice(every, MAX_LINES)
    ]
    left = sum(1 for _ in every)
    if left:
        lines.append(t.plural("platform.more", left))
    return Html("\n".join(lines)) if lines else t("platform.empty")


def _flat(given: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield every value with the names that lead to it. Values below `MAX_DEPTH` stay together."""
    for key, value in given.items():
        path = (*above, key)
        if isinstance(value, Mapping) and value and len(path) < MAX_DEPTH:
            yield from _flat(value, path)
        else:
            yield path, value


def _name(t: Translator, path: tuple[str, ...]) -> str:
    if len(path) == 1 and path[0] in NAMES:
        return t.plain(NAMES[path[0]])
    return cut(" · ".join(map(format_key, path)), 48)


def _rails(t: Translator, rails: DepositRails) -> Html:
    lines = [] if rails.is_configured else [t("platform.unconfigured")]
    lines += [_rail(t, rail) for rail in rails.rails]
    if rails.error:
        lines.append(t("platform.error", error=short(rails.error, 120)))
    return Html("\n".join(lines)) if lines else t("platform.empty")


def _rail(t: Translator, rail: Rail) -> Html:
    name = t.plain(NAMES[rail.name]) if rail.name in NAMES else cut(format_key(rail.name), 48)
    facts = [fact for fact in (short(rail.token, 16), _chain(rail), short(rail.summary, 80)) if fact not in name]
    line = t("platform.rail_facts", name=name, facts=" · ".join(facts)) if facts else t("platform.rail", name=name)
    addresses = [
        t(key, address=short(address, 64))
        for key, address in (("platform.contract", rail.contract), ("platform.address", rail.address))
        if address
    ]
    return Html("\n".join((line, *addresses)))


def _chain(rail: Rail) -> str:
    if rail.chain_id is None:
        return ""
    return CHAIN_NAMES.get(rail.chain_id, short(str(rail.chain_id), 20))
