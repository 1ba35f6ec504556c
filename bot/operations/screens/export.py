"""The orders of a time as a file: which time, and what the file holds."""

from datetime import tzinfo

from bot.core.date_ranges import NAMED_SPANS, Span
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.statistics_service import MOST_ORDERS, Export


def asking(t: Translator) -> Screen:
    """Which time: the usual ones as buttons, and any other typed."""
    day, week, month, this, before = (
        Button(t.plain(f"export.{name}"), data=StatisticsButton(StatisticsAction.CSV, name).pack())
        for name in NAMED_SPANS
    )
    return Screen(t("export.ask"), ((day, week, month), (this, before)))


def caption(t: Translator, made: Export, span: Span, zone: tzinfo) -> Html:
    """How many orders the file holds, of which time, and what it doesn't hold."""
    return t("export.caption", orders=t.n("export.orders", made.orders), time=format_span(t, span, zone))


def nothing(t: Translator, made: Export, span: Span, zone: tzinfo) -> Screen:
    """That there is no file: no orders, or too many for one."""
    if made.orders:
        text = t("export.too_many", count=made.orders, most=MOST_ORDERS, time=format_span(t, span, zone))
    else:
        text = t("export.none", time=format_span(t, span, zone))
    return Screen(text, again_row(t))


def again_row(t: Translator) -> Keyboard:
    """The way to another time."""
    return ((Button(t.plain("export.other"), data=StatisticsButton(StatisticsAction.EXPORT).pack()),),)
