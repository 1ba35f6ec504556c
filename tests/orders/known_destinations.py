"""Destinations of which all, little or nothing is known, and what is said of them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from bot.infra.i18n import Translator
from bot.orders.destinations.model import (
    DestinationHealth,
    DestinationsHealth,
    Estimate,
    Times,
    TimesOfWeek,
    Trouble,
    Usual,
    WeekPart,
)
from bot.orders.destinations.screens import format_destination_health
from bot.settlement.model import PayoutMethod
from tests.screens import NOW

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
SLOW = Trouble(since=NOW - 40 * MINUTE, hits=8, count=10, length=40 * MINUTE)
FAILING = Trouble(since=NOW - 2 * DAY, hits=8, count=10)


def some_times(minutes: int = 4, ninety: int | None = 9) -> Times:
    return Times(
        count=60,
        median=Estimate(minutes * MINUTE, (minutes - 1) * MINUTE, (minutes + 1) * MINUTE),
        ninety=None if ninety is None else Estimate(ninety * MINUTE, (ninety - 1) * MINUTE, (ninety + 3) * MINUTE),
    )


def a_destination(method: PayoutMethod, *, times: TimesOfWeek | None = None, sent: int = 59) -> DestinationHealth:
    """Return a destination whose transfers usually take four minutes."""
    known = times or TimesOfWeek(some_times())
    usual = Usual(method=method, sent=sent, failed=1, last_sent_at=NOW - 5 * MINUTE, times=known, limits=known)
    return DestinationHealth(usual=usual)


def every_destination(method: PayoutMethod) -> list[DestinationHealth]:
    """Return destinations of which all, little or nothing is known, well and in trouble."""
    plain = a_destination(method)
    long = TimesOfWeek(
        some_times(14_400, 28_800), {WeekPart.NIGHT: some_times(9, None), WeekPart.WEEKEND: some_times(1_441)}
    )
    worst = replace(a_destination(method, times=long, sent=1_234_567), slow=SLOW, failing=FAILING)
    common = replace(SLOW, is_alone=False, is_longer=True), replace(FAILING, is_alone=False)
    unknown = replace(plain.usual, times=None, last_sent_at=None)
    return [
        plain,
        replace(plain, slow=SLOW),
        replace(plain, slow=common[0]),
        replace(plain, failing=FAILING),
        worst,
        replace(worst, slow=common[0], failing=common[1]),
        DestinationHealth(usual=unknown),
    ]


def listed(*some: DestinationHealth) -> DestinationsHealth:
    """Return all of these, although they can have the same method."""
    return DestinationsHealth(NOW, {str(place): each for place, each in enumerate(some)})


def what_senders_are_told(t: Translator, method: PayoutMethod) -> Iterator[str]:
    """Yield each sentence that a review can have."""
    for each in every_destination(method):
        for moment in (NOW, NOW + timedelta(hours=13), NOW + 5 * DAY):
            said = format_destination_health(t, each, moment, t)
            if said is not None:
                yield said
