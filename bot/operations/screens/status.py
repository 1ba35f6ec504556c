"""The screen of `/status` for operators: what is wrong and what to do, and below it everything that is monitored."""

from datetime import datetime, tzinfo
from decimal import Decimal

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.operations.gauges import LiveFigures
from bot.operations.monitor import HealthSummary
from bot.staff.alarm_model import DESTINATION_ALARMS, ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_subjects import Subjects
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.screens import alarms as alarm_screens
from bot.users.buttons import send_row

OK, WRONG, UNKNOWN, NOTHING_TO_DO = "✅", "🚨", "❔", "▫️"


def show_status(  # noqa: PLR0917  what is monitored, then who reads it
    t: Translator,
    summary: HealthSummary,
    figures: LiveFigures,
    subjects: Subjects,
    now: datetime,
    zone: tzinfo,
    *,
    service_contact: str = "",
) -> Screen:
    """Say what is wrong and what to do, with buttons to resolve alarms. The checks and the figures follow.

    While alarms are open, the kinds without trouble share one line, so that the message stays short enough.
    """
    parts: list[str] = [_headline(t, summary, format_clock(t, now, zone))]
    if summary.alarms:
        parts.append(
            alarm_screens.format_alarms(t, summary.alarms, subjects, now, zone, service_contact=service_contact)
        )
    parts += [
        f"{t('operations.status.checks')}\n{_table(t, summary)}",
        _format_figures(t, summary, figures, now),
    ]
    rows = (
        *alarm_screens.resolve_rows(t, summary.alarms, AlarmAction.RESOLVE_IN_STATUS),
        (Button(t.plain("orders.button.refresh"), data=AlarmButton(AlarmAction.STATUS).pack()),),
        (Button(t.plain("staff.alarm.own_orders"), data=AlarmButton(AlarmAction.OWN_ORDERS).pack()),),
        send_row(t, style=None),
    )
    return Screen("\n\n".join(parts), rows)


def show_start(t: Translator, raised: int) -> Screen:
    """Return an operator's start: how many alarms are open, with a button to the status."""
    found = t.plural("operations.start.wrong", raised) if raised else t("operations.start.fine")
    status = Button(t.plain("staff.alarm.status"), data=AlarmButton(AlarmAction.STATUS).pack())
    return Screen(t("operations.start.text", found=found), ((status,),))


def show_help(t: Translator) -> Screen:
    """Return what an operator can do, with the commands."""
    return Screen(t("operations.help.text"))


def _headline(t: Translator, summary: HealthSummary, time: Html) -> Html:
    """Return in words whether there is something to do."""
    if summary.alarms:
        return t.plural("operations.status.wrong", len(summary.alarms), time=time)
    is_checked = all(_find_mark(kind, summary) != UNKNOWN for kind in AlarmKind)
    return t("operations.status.fine" if is_checked else "operations.status.unchecked", time=time)


def _table(t: Translator, summary: HealthSummary) -> Html:
    """Return a line for each check that isn't fine, and the others folded, or in one line while alarms are open."""
    shown = [_row(t, kind, summary) for kind in AlarmKind if _find_mark(kind, summary) != OK]
    fine = [_row(t, kind, summary) for kind in AlarmKind if _find_mark(kind, summary) == OK]
    if fine and not summary.alarms:
        shown.append(Html("<blockquote expandable>" + "\n".join(fine) + "</blockquote>"))
    elif fine:
        shown.append(f"{OK} {t('operations.status.others_fine', count=len(fine))}")
    return Html("\n".join(shown))


def _format_figures(t: Translator, summary: HealthSummary, figures: LiveFigures, now: datetime) -> Html:
    """Return the figures, one on each line, below their heading."""
    oldest, payment = summary.backlog.since, figures.last_payment_noticed
    median, p99 = figures.answer_median, figures.answer_p99
    lines = [
        t("operations.status.figures"),
        t("operations.status.none_waiting")
        if oldest is None
        else t("operations.status.oldest_waiting", length=t.measured(max((now - oldest).total_seconds(), 0.0))),
        t("operations.status.no_payment_noticed")
        if payment is None
        else t("operations.status.payment_noticed", length=t.measured(payment)),
        t("operations.status.no_answers")
        if median is None or p99 is None
        else t("operations.status.answers", median=t.measured(median), limit=t.measured(p99)),
        t("operations.status.slow_downs", count=figures.slow_downs, limit=round(figures.send_limit)),
        t("operations.status.service_budget", count=t.number(round(Decimal(figures.service_budget), 1).normalize())),
        t("staff.alarm.lately", count=summary.raised_recently),
    ]
    return Html("\n".join(lines))


def _row(t: Translator, kind: AlarmKind, summary: HealthSummary) -> str:
    raised = [alarm for alarm in summary.alarms if alarm.kind is kind]
    return f"{_find_mark(kind, summary)} {t(f'staff.alarm.{kind}_name')}: {_state(t, kind, raised, summary)}"


def _find_mark(kind: AlarmKind, summary: HealthSummary) -> str:
    if any(alarm.kind is kind for alarm in summary.alarms):
        return WRONG
    if kind is AlarmKind.INVOICE_NOT_REMOVED and summary.not_removed:
        return NOTHING_TO_DO
    return UNKNOWN if _is_unknown(kind, summary) else OK


def _state(t: Translator, kind: AlarmKind, raised: list[Alarm], summary: HealthSummary) -> Html | str:
    if kind is AlarmKind.OUTBOX_BACKLOG:
        return t.number(summary.backlog.count)
    if kind is AlarmKind.METHODS_SHRUNK and summary.methods is not None:
        return t.number(summary.methods)
    if _is_unknown(kind, summary) and not raised:
        return t("staff.alarm.unknown")
    if kind is AlarmKind.INVOICE_NOT_REMOVED and summary.not_removed:
        return t("operations.status.not_removed", count=len(raised), blocked=summary.not_removed)
    if kind in ORDER_ALARMS | DESTINATION_ALARMS:
        return t.number(len(raised))
    return t(f"staff.alarm.{alarm_screens.get_text_name(raised[0])}_wrong") if raised else t(f"staff.alarm.{kind}_fine")


def _is_unknown(kind: AlarmKind, summary: HealthSummary) -> bool:
    known = {
        AlarmKind.KEY_REFUSED: summary.is_key_accepted,
        AlarmKind.SERVICE_DOWN: summary.is_service_up,
        AlarmKind.METHODS_SHRUNK: summary.methods,
    }
    return kind in known and known[kind] is None
