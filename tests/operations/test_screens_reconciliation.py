"""The screens of `/reconcile` say what a list proves."""

import pytest

from bot.infra.i18n import Translator
from bot.operations.reconciliation import screens
from bot.operations.reconciliation.model import (
    DifferenceKind,
    ListedSpan,
    Report,
    UnseenSpan,
)
from tests.operations.samples import HOUR, a_difference, a_run
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, like, says


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
