"""Messages to operators about alarms: raised, still open, and over."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_time
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.staff.alarm_model import ORDER_ALARMS, RESOLVABLE_ALARMS, SERVICE_ALARMS, Alarm, AlarmKind
from bot.staff.alarm_subjects import MAX_ALARMS_SHOWN, Subjects
from bot.staff.buttons import AlarmAction, AlarmButton

MAX_FACT_LENGTH = 100
MAX_ID_LENGTH = 40


def show_raised(
    t: Translator, alarm: Alarm, subjects: Subjects, now: datetime, zone: tzinfo, *, service_contact: str = ""
) -> Screen:
    """Say what to do, where the settlement service is reached if it has to help, and what is wrong."""
    return Screen(
        f"🚨 {format_advice(t, [alarm], subjects)}{format_service_contact(t, [alarm.kind], service_contact)}\n\n"
        f"{format_alarm(t, alarm, subjects, now, zone)}",
        build_keyboard(t, alarm),
    )


def show_over(reader: Reader, alarm: Alarm, subjects: Subjects, *, by: int) -> Screen:
    """Say that an alarm is over, or which other operator has resolved it."""
    t = reader.t
    if by:
        who = reader.format_staff(by)
        return Screen(t("staff.alarm.settled_by", who=who, line=_describe_ended(t, alarm, subjects)))
    lasted = t.duration((alarm.cleared_at or alarm.raised_at) - alarm.raised_at)
    return Screen(t("staff.alarm.over", line=_describe_ended(t, alarm, subjects), duration=lasted))


def show_reminder(
    t: Translator,
    alarms: Sequence[Alarm],
    subjects: Subjects,
    now: datetime,
    zone: tzinfo,
    *,
    service_contact: str = "",
) -> Screen:
    """List the open alarms, with buttons to resolve them."""
    rows = resolve_rows(t, alarms, AlarmAction.RESOLVE_IN_REMINDER)
    status = (Button(t.plain("staff.alarm.status"), data=AlarmButton(AlarmAction.STATUS).pack()),)
    listed = format_alarms(t, alarms, subjects, now, zone, service_contact=service_contact)
    return Screen(f"{t('staff.alarm.still')}\n\n{listed}", (*rows, status))


def show_key_refused(t: Translator, service_contact: str = "") -> Screen:
    """Say what to do about an API key that the service rejects, and where the service is reached."""
    contact = format_service_contact(t, [AlarmKind.KEY_REFUSED], service_contact)
    what = t("staff.notification.staff_key_refused")
    return Screen(Html(f"🔑 {t('staff.alarm.todo.key_refused')}{contact}\n\n{what}"))


def show_key_works(t: Translator) -> Screen:
    """Say that the service accepts the API key again."""
    return Screen(t("staff.notification.staff_key_works"))


def show_none_left(t: Translator) -> Screen:
    """Say that no alarm is open. This replaces a reminder when all its alarms are resolved."""
    return Screen(t("staff.alarm.none_left"))


def format_alarms(
    t: Translator,
    alarms: Sequence[Alarm],
    subjects: Subjects,
    now: datetime,
    zone: tzinfo,
    *,
    service_contact: str = "",
) -> Html:
    """Return the first few alarms with advice, where the service is reached, and how many more alarms there are.

    Alarms that are alike stand together under one piece of advice, to keep the message short.
    """
    shown, parts = alarms[:MAX_ALARMS_SHOWN], list[str]()
    for name in dict.fromkeys(map(_get_start_text_name, shown)):
        alike = [alarm for alarm in shown if _get_start_text_name(alarm) == name]
        described = [format_alarm(t, alarm, subjects, now, zone) for alarm in alike]
        parts.append("\n".join((f"🚨 {format_advice(t, alike, subjects)}", *described)))
    parts[-1] += format_service_contact(t, [alarm.kind for alarm in shown], service_contact)
    if len(alarms) > MAX_ALARMS_SHOWN:
        parts.append(t("staff.alarm.more", count=len(alarms) - MAX_ALARMS_SHOWN))
    return Html("\n\n".join(parts))


def format_alarm(t: Translator, alarm: Alarm, subjects: Subjects, now: datetime, zone: tzinfo) -> Html:
    """Return what is wrong and since when, with the order that the alarm is about."""
    facts = {fact: _format_fact(value) for fact, value in alarm.facts.items() if fact != "since"}
    since = format_time(t, _get_start(alarm), now, zone, round_up=False)
    named = ("before", "now", "count", "complaint", "message", "why", "rows", "destination", "usual", "hits")
    known = {**dict.fromkeys(named, ""), **facts}
    return t(
        f"staff.alarm.{_get_start_text_name(alarm)}",
        **known,
        since=since,
        length=_format_length(t, alarm),
        line=_describe_subject(t, alarm, subjects, now),
    )


def format_advice(t: Translator, alarms: Sequence[Alarm], subjects: Subjects) -> Html:
    """Return what an operator has to do about alarms that are alike."""
    return t(
        f"staff.alarm.todo.{_get_start_text_name(alarms[0])}",
        id=", ".join(_service_id(alarm, subjects) for alarm in alarms),
    )


def format_service_contact(t: Translator, kinds: Collection[AlarmKind], contact: str) -> str:
    """Return a line that says where the settlement service is reached; "" if no alarm needs it or nobody set it."""
    is_needed = not SERVICE_ALARMS.isdisjoint(kinds)
    return f"\n{t('staff.alarm.service_contact', contact=contact)}" if contact and is_needed else ""


def _service_id(alarm: Alarm, subjects: Subjects) -> str:
    """Return the id of an order at the settlement service, or our reference if it has none."""
    known = subjects.get(alarm.subject)
    return clip(known.service_id or alarm.subject if known else alarm.subject, MAX_ID_LENGTH)


def get_text_name(alarm: Alarm) -> str:
    """Return the name of an alarm's texts.

    It is the alarm's kind, except for a service that answers but creates no orders.
    """
    return "orders_refused" if alarm.facts.get("orders") else str(alarm.kind)


def build_keyboard(t: Translator, alarm: Alarm) -> Keyboard:
    """Return the button that resolves the alarm, if operators can resolve it."""
    if not can_be_resolved(alarm):
        return ()
    label = "staff.alarm.accept" if alarm.kind is AlarmKind.METHODS_SHRUNK else "staff.alarm.seen_to"
    done = AlarmButton(AlarmAction.RESOLVE_IN_ALARM, alarm.kind, alarm.subject)
    return ((Button(t.plain(label), data=done.pack()),),)


def resolve_rows(t: Translator, alarms: Iterable[Alarm], action: AlarmAction) -> Keyboard:
    """Return a button for each of the first few alarms that operators can resolve.

    `action` depends on the message that contains the buttons.
    """
    resolvable = [alarm for alarm in alarms if can_be_resolved(alarm)][:MAX_ALARMS_SHOWN]
    return tuple((_resolve_button(t, alarm, action),) for alarm in resolvable)


def can_be_resolved(alarm: Alarm) -> bool:
    """Return whether an operator can end this alarm.

    This is so for alarms about orders and about support's group, and for a list of payout methods that has shrunk but
    isn't empty.
    """
    return alarm.kind in RESOLVABLE_ALARMS or (alarm.kind is AlarmKind.METHODS_SHRUNK and not _is_empty(alarm))


def _resolve_button(t: Translator, alarm: Alarm, action: AlarmAction) -> Button:
    if alarm.kind in ORDER_ALARMS:
        label = t.plain("staff.alarm.seen_to_order", reference=alarm.subject)
    else:
        label = t.plain("staff.alarm.accept" if alarm.kind is AlarmKind.METHODS_SHRUNK else "staff.alarm.seen_to")
    return Button(label, data=AlarmButton(action, alarm.kind, alarm.subject).pack())


def _describe_ended(t: Translator, alarm: Alarm, subjects: Subjects) -> Html:
    name = _format_fact(alarm.facts.get("destination", ""))
    return t(f"staff.alarm.{get_text_name(alarm)}_over", line=_subject_line(t, alarm, subjects), destination=name)


def _describe_subject(t: Translator, alarm: Alarm, subjects: Subjects, now: datetime) -> Html | str:
    known, about = subjects.get(alarm.subject), _subject_line(t, alarm, subjects)
    return Html(f"{about}\n{known.format_status(t, now)}") if known else about


def _subject_line(t: Translator, alarm: Alarm, subjects: Subjects) -> Html | str:
    known = subjects.get(alarm.subject)
    return known.format_line(t) if known else alarm.subject


def _get_start(alarm: Alarm) -> datetime:
    """Return when the problem began. The alarm may have been raised later."""
    began = alarm.facts.get("since")
    return datetime.fromisoformat(str(began)) if began else alarm.raised_at


def _format_length(t: Translator, alarm: Alarm) -> str:
    """Return how long transfers to a slow destination take, as their senders read it."""
    key = "staff.alarm.length_longer" if alarm.facts.get("longer") else "staff.alarm.length"
    return t.plain(key, minutes=_format_fact(alarm.facts.get("minutes", "")))


def _format_fact(fact: object) -> int | str:
    return fact if isinstance(fact, int) else clip(str(fact), MAX_FACT_LENGTH)


def _get_start_text_name(alarm: Alarm) -> str:
    """Return the name of the texts about an open alarm."""
    return "methods_empty" if _is_empty(alarm) else get_text_name(alarm)


def _is_empty(alarm: Alarm) -> bool:
    return alarm.kind is AlarmKind.METHODS_SHRUNK and alarm.facts.get("now") == 0
