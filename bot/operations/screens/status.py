"""`/status` for operators: everything that is watched over, at a glance."""

from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.operations.monitor import HealthSummary
from bot.staff.alarm_model import OF_ORDERS, Alarm, AlarmKind
from bot.staff.alarm_subjects import Subjects
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.screens import alarms as told
from bot.users.screens.buttons import send_row

FINE, WRONG, UNKNOWN = "✅", "🚨", "❔"


def screen(t: Translator, glance: HealthSummary, subjects: Subjects, now: datetime, zone: tzinfo) -> Screen:
    """One line for each thing, then what is wrong in full, with a button for each alarm that can be settled."""
    parts = [
        t("alarm.glance", time=format_clock(t, now, zone)),
        _table(t, glance),
        t("alarm.lately", count=glance.raised_lately),
    ]
    if glance.alarms:
        parts.append(told.lines(t, glance.alarms, subjects, now, zone))
    rows = (
        *told.settling_rows(t, glance.alarms, AlarmAction.TICK),
        (Button(t.plain("button.refresh"), data=AlarmButton(AlarmAction.STATUS).pack()),),
        (Button(t.plain("alarm.own_orders"), data=AlarmButton(AlarmAction.MINE).pack()),),
        send_row(t),
    )
    return Screen("\n\n".join(parts), rows)


def _table(t: Translator, glance: HealthSummary) -> Html:
    return Html("\n".join(_row(t, kind, glance) for kind in AlarmKind))


def _row(t: Translator, kind: AlarmKind, glance: HealthSummary) -> str:
    raised = [alarm for alarm in glance.alarms if alarm.kind is kind]
    return f"{_mark(kind, raised, glance)} {t(f'alarm.{kind}_name')}: {_state(t, kind, raised, glance)}"


def _mark(kind: AlarmKind, raised: list[Alarm], glance: HealthSummary) -> str:
    if raised:
        return WRONG
    return UNKNOWN if _is_unknown(kind, glance) else FINE


def _state(t: Translator, kind: AlarmKind, raised: list[Alarm], glance: HealthSummary) -> Html | str:
    if kind is AlarmKind.OUTBOX_BACKLOG:
        return t.number(glance.backlog.count)
    if kind is AlarmKind.METHODS_SHRUNK and glance.methods is not None:
        return t.number(glance.methods)
    if _is_unknown(kind, glance) and not raised:
        return t("alarm.unknown")
    if kind in OF_ORDERS:
        return t.number(len(raised))
    return t(f"alarm.{told.name(raised[0])}_wrong") if raised else t(f"alarm.{kind}_fine")


def _is_unknown(kind: AlarmKind, glance: HealthSummary) -> bool:
    known = {
        AlarmKind.KEY_REFUSED: glance.key_is_taken,
        AlarmKind.SERVICE_DOWN: glance.service_answers,
        AlarmKind.METHODS_SHRUNK: glance.methods,
    }
    return kind in known and known[kind] is None
