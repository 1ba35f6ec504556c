"""The screens of `/reconcile` fit into a message whatever the service sends, and say what a list proves."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.csv import CsvFile
from bot.core.date_ranges import get_month_span
from bot.infra.i18n import LOCALES, Translator
from bot.operations.reconciliation import screens
from bot.operations.reconciliation.books import ZONE
from bot.operations.reconciliation.model import (
    Difference,
    DifferenceKind,
    Facts,
    ListedSpan,
    Pending,
    Report,
    Run,
    UnseenSpan,
    find_unseen,
    merge_spans,
)
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, like, says

HOUR = timedelta(hours=1)


def a_difference(kind: DifferenceKind, outside: str = "cm1", **changes: Any) -> Difference:
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
    values: dict[str, Any] = {
        "asked_at": NOW - timedelta(minutes=2),
        "listed": 100,
        "ours": 80,
        "others": 20,
        "shown": ListedSpan(NOW - HOUR, NOW),
        "next_at": NOW + timedelta(minutes=8),
    }
    return Run(**{**values, **changes})


def some_reports(outside: str) -> Iterator[Report]:
    yield Report(run=None)
    full = a_run(uncertain=10**6, unlisted=10**6, unchecked=10**6, pending=(Pending("R2345AB", outside, NOW),) * 100)
    differences = tuple(a_difference(kind, outside) for kind in DifferenceKind) * 30
    unseen = (UnseenSpan(ListedSpan(NOW - 9 * HOUR, NOW - HOUR), 10**6),) * 99
    for run in (full, a_run(), a_run(shown=None), a_run(listed=7, shown=None), a_run(listed=0, shown=None)):
        yield Report(run=run)
        yield Report(run=run, known_since=NOW - 10 * HOUR)
        yield Report(run=replace(run, differences=differences), unseen=unseen, known_since=NOW, not_alarmed=10**6)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("outside", [*HOSTILE_NAMES, ""])
def test_every_screen_fits(locale: str, outside: str) -> None:
    t = TRANSLATIONS.get(locale)
    period = get_month_span(NOW, ZONE)
    for report in some_reports(outside):
        for has_failed in (True, False):
            check_screen(ScreenCase("report", screens.show_report(t, report, NOW, JAKARTA, has_failed=has_failed)))
    check_screen(ScreenCase("period", screens.ask_period(t)))
    for count in (0, 10**9):
        check_screen(ScreenCase("no file", screens.explain_no_file(t, CsvFile(count, None), period)))
    check_screen(ScreenCase("not sent", screens.explain_not_sent(t)))


def shown(report: Report, t: Translator | None = None) -> str:
    return ScreenCase("", screens.show_report(t or TRANSLATIONS.get("en"), report, NOW, JAKARTA)).text


def test_a_list_says_what_it_proves() -> None:
    assert says(shown(Report(run=a_run())), "operations.reconciliation.agrees")
    assert says(shown(Report(run=a_run(listed=99, shown=None))), "operations.reconciliation.short")
    empty = shown(Report(run=a_run(listed=0, shown=None)))
    assert says(empty, "operations.reconciliation.empty")
    assert not says(empty, "operations.reconciliation.agrees")
    assert says(shown(Report(run=None)), "operations.reconciliation.none")


@pytest.mark.parametrize("kind", DifferenceKind)
def test_each_difference_is_named_with_its_order(kind: DifferenceKind) -> None:
    text = shown(Report(run=a_run(differences=(a_difference(kind),))))
    assert says(text, f"operations.reconciliation.kind_{kind}", reference="R2345AB")
    assert not says(text, "operations.reconciliation.agrees")


def test_times_that_no_list_has_shown_are_listed_with_our_orders() -> None:
    unseen = (UnseenSpan(ListedSpan(NOW - 2 * HOUR, NOW - HOUR), 3),)
    text = shown(Report(run=a_run(), unseen=unseen, known_since=NOW - 5 * HOUR))
    assert like("operations.reconciliation.unseen_span")
    assert "17 Aug 2026" in text
    assert ": 3 " in text


def test_spans_that_touch_are_one() -> None:
    first, second, third = [ListedSpan(NOW + number * HOUR, NOW + (number + 1) * HOUR) for number in (0, 1, 3)]
    merged = merge_spans((first, third), second)
    assert merged == (ListedSpan(first.since, second.until), third)
    assert find_unseen(merged) == (ListedSpan(second.until, third.since),)
    assert merge_spans(merged, ListedSpan(NOW, NOW + 9 * HOUR)) == (ListedSpan(NOW, NOW + 9 * HOUR),)
    assert find_unseen(()) == ()
