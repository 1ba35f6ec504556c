"""Screens of `/reconcile`: what the newest run compared and found, and the books."""

from datetime import datetime, tzinfo
from typing import Final

from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Span
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip, format_span, format_time
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import ReconciliationAction, ReconciliationButton
from bot.operations.reconciliation.model import Difference, DifferenceKind, ListedSpan, Report, Run
from bot.operations.reconciliation.service import MAX_ORDERS

MAX_DIFFERENCES: Final = 12
MAX_SPANS: Final = 3
MAX_STATE_LENGTH: Final = 40
MAX_ID_LENGTH: Final = 40
NO_VALUE: Final = "–"  # noqa: RUF001  meant as a dash

BOOK_SPANS: Final = {name: span for name, span in NAMED_SPANS.items() if name != "day"}
"""The periods of the books that have a button. The last 24 hours aren't a whole day."""


def show_report(t: Translator, report: Report, now: datetime, zone: tzinfo, *, has_failed: bool = False) -> Screen:
    """Show the newest run. `has_failed` says that the service hasn't answered the request for a newer one."""
    parts = [t("operations.reconciliation.no_answer")] if has_failed else []
    run = report.run
    if run is None:
        parts.append(t("operations.reconciliation.none"))
    else:
        parts.append(t("operations.reconciliation.head", time=_time(t, run.asked_at, now, zone)))
        parts += [_list(t, run, zone), _differences(t, report, run), *_unseen(t, report, zone)]
        parts.append(t("operations.reconciliation.next", time=_time(t, max(run.next_at, now), now, zone)))
    return Screen("\n\n".join(parts), _keyboard(t))


def ask_period(t: Translator) -> Screen:
    """Ask for the period of the books."""
    week, month, this, before = (
        Button(t.plain(f"staff.export.{name}"), data=_pack(ReconciliationAction.CSV, name)) for name in BOOK_SPANS
    )
    back = Button(t.plain("operations.books.back"), data=_pack(ReconciliationAction.BACK))
    return Screen(t("operations.books.ask"), ((week, month), (this, before), (back,)))


def format_caption(reader: Reader, file: CsvFile, period: Span) -> Html:
    """Return how many paid orders the file sums up, and of which period."""
    t, orders = reader.t, reader.t.plural("staff.export.orders", file.count)
    return t("operations.books.caption", orders=orders, time=format_span(t, period, reader.zone))


def explain_no_file(reader: Reader, file: CsvFile, period: Span) -> Screen:
    """Say why there is no file: nothing was paid, or there are too many orders for one file."""
    t, key = reader.t, "operations.books.too_many" if file.count else "operations.books.no_orders"
    return Screen(t(key, time=format_span(t, period, reader.zone), most=MAX_ORDERS), (_books_row(t),))


def explain_not_sent(t: Translator) -> Screen:
    """Say that the file couldn't be sent."""
    return Screen(t("staff.export.not_sent"), (_books_row(t),))


def _list(t: Translator, run: Run, zone: tzinfo) -> Html:
    """Return what the list had, and whether it proves anything."""
    if not run.listed:
        return t("operations.reconciliation.empty")
    lines = [t.plural("operations.reconciliation.listed", run.listed)]
    if run.shown is not None:
        lines.append(t("operations.reconciliation.shown", time=_span(t, run.shown, zone)))
    elif run.is_conclusive:
        lines.append(t("operations.reconciliation.no_times"))
    else:
        lines.append(t("operations.reconciliation.short"))
    lines.append(t("operations.reconciliation.counts", ours=run.ours, others=run.others))
    rest = {
        "uncertain": run.uncertain,
        "unlisted": run.unlisted,
        "unchecked": run.unchecked,
        "pending": len(run.pending),
    }
    lines += [t.plural(f"operations.reconciliation.{name}", count) for name, count in rest.items() if count]
    return Html("\n".join(lines))


def _differences(t: Translator, report: Report, run: Run) -> Html:
    if not run.differences:
        return t("operations.reconciliation.agrees" if run.listed else "operations.reconciliation.proves_nothing")
    ordered = sorted(run.differences, key=lambda each: (not each.is_about_money, each.found_at, each.reference))
    lines = [t.plural("operations.reconciliation.differences", len(ordered))]
    lines += [_difference(t, each) for each in ordered[:MAX_DIFFERENCES]]
    if len(ordered) > MAX_DIFFERENCES:
        lines.append(t("staff.alarm.more", count=len(ordered) - MAX_DIFFERENCES))
    if report.not_alarmed:
        lines.append(t.plural("operations.reconciliation.not_alarmed", report.not_alarmed))
    return Html("\n".join(lines))


def _difference(t: Translator, each: Difference) -> Html:
    ours, theirs = each.ours, each.theirs
    said = t(
        f"operations.reconciliation.kind_{each.kind}",
        reference=each.reference,
        id=clip(each.service_id, MAX_ID_LENGTH),
        other=clip(each.other, MAX_ID_LENGTH),
        ours=_amounts(t, ours.idr, ours.sats) if each.kind is DifferenceKind.AMOUNT else _state(ours.state),
        theirs=NO_VALUE
        if theirs is None
        else _amounts(t, theirs.idr, theirs.sats)
        if each.kind is DifferenceKind.AMOUNT
        else _state(theirs.state),
    )
    return Html(f"{'🚨' if each.is_about_money else '▫️'} {said}")


def _state(state: str) -> str:
    return clip(state, MAX_STATE_LENGTH) or NO_VALUE


def _amounts(t: Translator, idr: int | None, sats: int | None) -> str:
    return " / ".join((NO_VALUE if idr is None else t.rupiah(idr), NO_VALUE if sats is None else t.sats(sats)))


def _unseen(t: Translator, report: Report, zone: tzinfo) -> list[Html]:
    """Return the times that no list has shown, the newest first."""
    if report.known_since is None:
        return [t("operations.reconciliation.nothing_seen")]
    if not report.unseen:
        return [t("operations.reconciliation.all_seen", time=t.date_time(report.known_since, zone))]
    lines = [t.plural("operations.reconciliation.unseen", len(report.unseen))]
    lines += [
        t.plural("operations.reconciliation.unseen_span", each.ours, time=_span(t, each.span, zone))
        for each in report.unseen[:MAX_SPANS]
    ]
    if len(report.unseen) > MAX_SPANS:
        lines.append(t("staff.alarm.more", count=len(report.unseen) - MAX_SPANS))
    return [Html("\n".join(lines))]


def _span(t: Translator, span: ListedSpan, zone: tzinfo) -> str:
    return f"{t.date_time(span.since, zone)} – {t.date_time(span.until, zone)}"  # noqa: RUF001  a dash between two times


def _time(t: Translator, moment: datetime, now: datetime, zone: tzinfo) -> str:
    return format_time(t, moment, now, zone, round_up=False)


def _keyboard(t: Translator) -> Keyboard:
    refresh = Button(t.plain("operations.reconciliation.again"), data=_pack(ReconciliationAction.REFRESH))
    return ((refresh,), _books_row(t))


def _books_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("operations.books.button"), data=_pack(ReconciliationAction.BOOKS)),)


def _pack(action: ReconciliationAction, period: str = "") -> str:
    return ReconciliationButton(action, period).pack()
