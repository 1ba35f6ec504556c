"""The screen of `/status` for operators: everything that is monitored."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.operations.monitor import HealthSummary
from bot.staff.alarm_model import ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_subjects import Subjects
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.screens import alarms as alarm_screens
from bot.users.screens.buttons import send_row

OK, WRONG, UNKNOWN = "✅", "🚨", "❔"


def show_status(t: Translator, summary: HealthSummary, subjects: Subjects, now: datetime, zone: tzinfo) -> Screen:
    """Show one line for each kind of alarm, then the open alarms, with buttons to resolve them."""
    parts = [
        t("staff.alarm.glance", time=format_clock(t, now, zone)),
        _table(t, summary),
        t("staff.alarm.lately", count=summary.raised_recently),
    ]
    if summary.alarms:
        parts.append(alarm_screens.format_alarms(t, summary.alarms, subjects, now, zone))
    rows = (
        *alarm_screens.resolve_rows(t, summary.alarms, AlarmAction.RESOLVE_IN_STATUS),
        (Button(t.plain("orders.button.refresh"), data=AlarmButton(AlarmAction.STATUS).pack()),),
        (Button(t.plain("staff.alarm.own_orders"), data=AlarmButton(AlarmAction.OWN_ORDERS).pack()),),
        send_row(t),
    )
    return Screen("\n\n".join(parts), rows)


def _table(t: Translator, summary: HealthSummary) -> Html:
    return Html("\n".join(_row(t, kind, summary) for kind in AlarmKind))


def _row(t: Translator, kind: AlarmKind, summary: HealthSummary) -> str:
    raised = [alarm for alarm in summary.alarms if alarm.kind is kind]
    return f"{_mark(kind, raised, summary)} {t(f'staff.alarm.{kind}_name')}: {_state(t, kind, raised, summary)}"


def _mark(kind: AlarmKind, raised: list[Alarm], summary: HealthSummary) -> str:
    if raised:
        return WRONG
    return UNKNOWN if _is_unknown(kind, summary) else OK


def _state(t: Translator, kind: AlarmKind, raised: list[Alarm], summary: HealthSummary) -> Html | str:
    if kind is AlarmKind.OUTBOX_BACKLOG:
        return t.number(summary.backlog.count)
    if kind is AlarmKind.METHODS_SHRUNK and summary.methods is not None:
        return t.number(summary.methods)
    if _is_unknown(kind, summary) and not raised:
        return t("staff.alarm.unknown")
    if kind in ORDER_ALARMS:
        return t.number(len(raised))
    return t(f"staff.alarm.{alarm_screens.get_text_name(raised[0])}_wrong") if raised else t(f"staff.alarm.{kind}_fine")


def _is_unknown(kind: AlarmKind, summary: HealthSummary) -> bool:
    known = {
        AlarmKind.KEY_REFUSED: summary.is_key_accepted,
        AlarmKind.SERVICE_DOWN: summary.is_service_up,
        AlarmKind.METHODS_SHRUNK: summary.methods,
    }
    return kind in known and known[kind] is None
