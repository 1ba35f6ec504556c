"""The orders of a time as a file: which time, and what the file holds."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import Final

from bot.core.date_ranges import Period, Span, last, this_month
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.statistics_service import MOST_ORDERS, Export

TIMES: Final[Mapping[str, Callable[[datetime, tzinfo], Span]]] = {
    "day": partial(last, Period.DAY),
    "week": partial(last, Period.WEEK),
    "month": partial(last, Period.MONTH),
    "this_month": this_month,
    "last_month": partial(this_month, back=1),
}
"""The times that are one tap, by the button's argument."""

_A_MOMENT: Final = timedelta(microseconds=1)


def asking(t: Translator) -> Screen:
    """Which time: the usual ones as buttons, and any other typed."""
    day, week, month, this, before = (
        Button(t.plain(f"export.{name}"), data=StatisticsButton(StatisticsAction.CSV, name).pack()) for name in TIMES
    )
    return Screen(t("export.ask"), ((day, week, month), (this, before)))


def caption(t: Translator, made: Export, span: Span, zone: tzinfo) -> Html:
    """How many orders the file holds, of which time, and what it doesn't hold."""
    return t("export.caption", orders=t.n("export.orders", made.orders), time=time_of(t, span, zone))


def nothing(t: Translator, made: Export, span: Span, zone: tzinfo) -> Screen:
    """That there is no file: no orders, or too many for one."""
    if made.orders:
        text = t("export.too_many", count=made.orders, most=MOST_ORDERS, time=time_of(t, span, zone))
    else:
        text = t("export.none", time=time_of(t, span, zone))
    return Screen(text, again_row(t))


def again_row(t: Translator) -> Keyboard:
    """The way to another time."""
    return ((Button(t.plain("export.other"), data=StatisticsButton(StatisticsAction.EXPORT).pack()),),)


def file_name(span: Span, zone: tzinfo, *, of: str = "orders") -> str:
    """The first and the last day, so that files stand in order."""
    first, end = _days(span, zone)
    return f"kirim-{of}-{first}-to-{end}.csv"


def time_of(t: Translator, span: Span, zone: tzinfo) -> str:
    """A time as it is read: from when to when."""
    first, end = t.date_time(span.since, zone), t.date_time(span.until, zone)
    return f"{first} – {end}"  # noqa: RUF001  a dash between two times


def _days(span: Span, zone: tzinfo) -> tuple[str, str]:
    first, end = (moment.astimezone(zone).date() for moment in (span.since, span.until - _A_MOMENT))
    return first.isoformat(), end.isoformat()
