"""Screens of the export of orders: ask for the period, and describe the file."""

from datetime import tzinfo

from bot.core.date_ranges import NAMED_SPANS, Span
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.statistics_service import MAX_ORDERS, OrderFile


def ask_period(t: Translator) -> Screen:
    """Ask for the period. The usual ones are buttons, and any other can be typed."""
    day, week, month, this, before = (
        Button(t.plain(f"staff.export.{name}"), data=StatisticsButton(StatisticsAction.CSV, name).pack())
        for name in NAMED_SPANS
    )
    return Screen(t("staff.export.ask"), ((day, week, month), (this, before)))


def format_caption(t: Translator, file: OrderFile, span: Span, zone: tzinfo) -> Html:
    """Return how many orders the file contains, of which period, and what it doesn't contain."""
    return t(
        "staff.export.caption", orders=t.plural("staff.export.orders", file.orders), time=format_span(t, span, zone)
    )


def explain_no_file(t: Translator, file: OrderFile, span: Span, zone: tzinfo) -> Screen:
    """Say why there is no file: there are no orders, or too many for one file."""
    if file.orders:
        text = t("staff.export.too_many", count=file.orders, most=MAX_ORDERS, time=format_span(t, span, zone))
    else:
        text = t("staff.export.none", time=format_span(t, span, zone))
    return Screen(text, other_period_row(t))


def other_period_row(t: Translator) -> Keyboard:
    """Return the row with the button to another period."""
    return ((Button(t.plain("staff.export.other"), data=StatisticsButton(StatisticsAction.EXPORT).pack()),),)
