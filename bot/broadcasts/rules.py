"""What follows from how a broadcast is made: who reads which text, whether it tells the rate, what it waits for."""

from collections.abc import Mapping
from typing import Final

from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.schedule import has_variables
from bot.infra.i18n import LOCALES

CHART: Final = "chart:"
PERIODS: Final = ("day", "week", "month")


def languages_of(broadcast: Broadcast) -> tuple[str, ...]:
    """The languages its audience reads."""
    return tuple(LOCALES) if broadcast.audience.locale is None else (broadcast.audience.locale,)


def tells_rate(broadcast: Broadcast) -> bool:
    """Whether it needs a quote: for the default text, for a variable, or under the rate's chart."""
    texts = [broadcast.texts.get(locale) for locale in languages_of(broadcast)]
    return chart_of(broadcast) is not None or any(not text or has_variables(text) for text in texts)


def chart_of(broadcast: Broadcast) -> str | None:
    """The period of the rate's chart (one of `PERIODS`), where that is its picture."""
    picture = broadcast.picture or ""
    return picture.removeprefix(CHART) if picture.startswith(CHART) else None


def with_text(texts: Mapping[str, str], locale: str, text: str | None) -> dict[str, str]:
    """The texts with that of one language changed; None is the default text again."""
    others = {name: kept for name, kept in texts.items() if name != locale}
    return others if text is None else {**others, locale: text}


def is_for_later(broadcast: Broadcast) -> bool:
    """Whether it is drafted for a time to come: then its quote is taken when it begins."""
    is_timed = broadcast.starts_at is not None or broadcast.daily_minute is not None
    return broadcast.status is BroadcastStatus.DRAFT and is_timed


def waits_for_word(broadcast: Broadcast) -> bool:
    """Whether its time had come and it waits for an operator's word; one paused in its middle has been started."""
    return broadcast.status is BroadcastStatus.PAUSED and broadcast.started_at is None


def may_be_confirmed(broadcast: Broadcast) -> bool:
    """Whether it waits for a confirmation, the first one or one more."""
    return broadcast.status is BroadcastStatus.DRAFT or waits_for_word(broadcast)


def may_be_called_off(broadcast: Broadcast) -> bool:
    """Whether it is confirmed and nobody has been sent it yet."""
    return broadcast.started_at is None and broadcast.status in {BroadcastStatus.SCHEDULED, BroadcastStatus.PAUSED}
