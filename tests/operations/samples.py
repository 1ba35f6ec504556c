"""Values of the operators' screens, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from bot.core.date_ranges import NAMED_SPANS, Span
from bot.infra.outbox.model import Backlog
from bot.operations import screens
from bot.operations.gauges import LiveFigures
from bot.operations.model import (
    BotStatistics,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    RequestFigures,
    RequestStatistics,
    SubscriberStatistics,
    Tally,
    UserStatistics,
)
from bot.operations.monitor import HealthSummary
from bot.operations.reconciliation.model import (
    Difference,
    DifferenceKind,
    Facts,
    ListedSpan,
    Pending,
    Report,
    Run,
    UnseenSpan,
)
from bot.operations.service import ServiceStatistics
from bot.settlement.model import DepositRails, PlatformStats, Rail
from bot.staff.model import Alarm
from tests.screens import JAKARTA, NOW, Outside
from tests.staff.samples import some_lists

HOUR: Final = timedelta(hours=1)
FIGURES: Final = LiveFigures(
    last_payment_noticed=3.14,
    answer_median=0.234,
    answer_p99=1.5,
    slow_downs=1_234,
    bulk_limit=12.4,
    requests=RequestFigures(open=1_234, in_telegram=56, in_browsers=7),
    has_shared_requests=True,
    service_budget=9.75,
)
NO_FIGURES: Final = LiveFigures(
    last_payment_noticed=None,
    answer_median=None,
    answer_p99=None,
    slow_downs=0,
    bulk_limit=29.7,
    requests=RequestFigures(),
    has_shared_requests=False,
    service_budget=10,
)
SIZES: Final = (0, 1, 999, 10**9)


def a_summary(*raised: Alarm, known: bool = True) -> HealthSummary:
    """Return the summary with these alarms. If not `known`, nothing was checked yet."""
    return HealthSummary(
        alarms=raised,
        is_key_accepted=True if known else None,
        is_service_up=True if known else None,
        methods=1_234 if known else None,
        backlog=Backlog(3, NOW - timedelta(seconds=75.4)),
        raised_recently=len(raised),
    )


def some_summaries(outside: Outside) -> Iterator[HealthSummary]:
    """Yield summaries without alarms, and with one, all and very many."""
    yield a_summary()
    yield a_summary(known=False)
    for some in some_lists(outside):
        yield a_summary(*some)


def a_difference(kind: DifferenceKind, outside: str = "cm1", **changes: Any) -> Difference:
    """Return a difference between our rows and the service's list."""
    values: dict[str, Any] = {
        "kind": kind,
        "reference": "R2345AB",
        "service_id": outside,
        "ours": Facts(outside, 10**15, None),
        "theirs": None if kind is DifferenceKind.MISSING else Facts(outside, None, 10**15),
        "is_about_money": kind is not DifferenceKind.MISSING,
        "other": outside,
        "found_at": NOW,
        "checked_at": NOW,
    }
    return Difference(**{**values, **changes})


def a_run(**changes: Any) -> Run:
    """Return a comparison of two minutes ago."""
    values: dict[str, Any] = {
        "asked_at": NOW - timedelta(minutes=2),
        "listed": 100,
        "ours": 80,
        "others": 20,
        "shown": ListedSpan(NOW - HOUR, NOW),
        "next_at": NOW + timedelta(minutes=8),
    }
    return Run(**{**values, **changes})


def some_reports(outside: Outside) -> Iterator[Report]:
    """Yield reports with and without differences, also with very many."""
    yield Report(run=None)
    pending = (Pending("R2345AB", outside.typed, NOW),) * 100
    full = a_run(uncertain=10**6, unlisted=10**6, unchecked=10**6, pending=pending)
    differences = tuple(a_difference(kind, outside.typed) for kind in DifferenceKind) * 30
    unseen = (UnseenSpan(ListedSpan(NOW - 9 * HOUR, NOW - HOUR), 10**6),) * 99
    for run in (full, a_run(), a_run(shown=None), a_run(listed=7, shown=None), a_run(listed=0, shown=None)):
        yield Report(run=run)
        yield Report(run=run, known_since=NOW - 10 * HOUR)
        yield Report(run=replace(run, differences=differences), unseen=unseen, known_since=NOW, not_alarmed=10**6)


def statistics_of(size: int, parts: int) -> BotStatistics:
    """Return statistics in which every count is `size`, and the sums of money are much larger."""
    part = (
        {outcome: Tally(orders=size, idr=size * 10**9, sats=size * 10**9) for outcome in OrderOutcome} if size else {}
    )
    orders = OrderStatistics(parts=(part,) * parts, median=timedelta(seconds=size) if size else None, timed=size)
    return BotStatistics(
        users=UserStatistics(known=size, away=size, active=size, new=size, ordered=size, paid=size),
        subscribers=SubscriberStatistics(total=size, new=size, daily=size, alerts=size),
        orders=orders,
        requests=RequestStatistics(new=size, paid=size),
    )


def some_statistics(_: Outside) -> Iterator[BotStatistics]:
    """Yield statistics of each size."""
    for size in SIZES:
        yield statistics_of(size, parts=7)


def some_of_the_service(outside: Outside) -> Iterator[ServiceStatistics]:
    """Yield what the service answers: nothing, usual numbers, and what it could send."""
    typed = outside.typed
    yield ServiceStatistics(None, None)
    own = OwnTotals(created=7, sent=Tally(orders=5, idr=10**18, sats=10**12))
    usual = {"totalOrders": 1234, "totalVolumeIdr": "1500000", "updatedAt": "2026-11-21T09:30:00.000Z"}
    yield ServiceStatistics(PlatformStats(usual), DepositRails(is_configured=False, rails=()), own)
    rail = Rail(name=typed, summary=typed, token=typed, chain_id=10**18, contract=typed, address=typed)
    rails = DepositRails(is_configured=False, rails=(rail,) * 5, error=typed)
    yield ServiceStatistics(PlatformStats({f"{typed} {number}": [typed] * 5 for number in range(40)}), rails)
    yield ServiceStatistics(PlatformStats({f"{number} {typed}": {typed: typed} for number in range(40)}), rails)


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    HealthSummary: some_summaries,
    LiveFigures: lambda _: (FIGURES, NO_FIGURES),
    Report: some_reports,
    Span: lambda _: (find(NOW, JAKARTA) for find in NAMED_SPANS.values()),
    BotStatistics: some_statistics,
    ServiceStatistics: some_of_the_service,
    (screens.show_statistics, "since"): lambda outside: (outside.t.date_time(NOW, JAKARTA),),
}
