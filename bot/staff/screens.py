"""Messages about alarms and the screens of the audit log, for operators. They show Telegram ids of users and staff."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Span
from bot.core.text import plain
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip, format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.staff.audit import MAX_ENTRIES, MAX_NAME_LENGTH, AuditPage, AuditTerms
from bot.staff.buttons import (
    AlarmAction,
    AlarmButton,
    AuditExportButton,
    AuditFileButton,
    AuditPageButton,
    LookupButton,
    LookupPage,
)
from bot.staff.model import (
    MAX_ALARMS_SHOWN,
    ORDER_ALARMS,
    RESOLVABLE_ALARMS,
    SERVICE_ALARMS,
    Alarm,
    AlarmKind,
    AuditAction,
    AuditEntry,
    Subjects,
)
from bot.staff.outcomes import Outcome
from bot.staff.repository import OUTCOME

MAX_FACT_LENGTH = 150
MAX_ID_LENGTH = 40


def show_raised(reader: Reader, alarm: Alarm, subjects: Subjects, *, service_contact: str = "") -> Screen:
    """Say what to do, where the settlement service is reached if it has to help, and what is wrong."""
    t = reader.t
    advice = f"{format_advice(t, [alarm], subjects)}{format_service_contact(t, [alarm.kind], service_contact)}"
    return Screen(f"🚨 {advice}\n\n{format_alarm(reader, alarm, subjects)}", build_keyboard(t, alarm))


def show_cleared(reader: Reader, alarm: Alarm, subjects: Subjects, *, by: int) -> Screen:
    """Say that an alarm is over, or which other operator has resolved it."""
    t = reader.t
    if by:
        who, outcome = reader.format_staff(by), alarm.facts.get(OUTCOME)
        settled = t("staff.alarm.settled_by", who=who, line=_describe_ended(t, alarm, subjects))
        return Screen(Html(f"{settled}\n{t(f'staff.audit.word_{outcome}')}") if outcome else settled)
    lasted = t.duration((alarm.cleared_at or alarm.raised_at) - alarm.raised_at)
    return Screen(t("staff.alarm.over", line=_describe_ended(t, alarm, subjects), duration=lasted))


def show_reminder(reader: Reader, alarms: Sequence[Alarm], subjects: Subjects, *, service_contact: str = "") -> Screen:
    """List the open alarms, with buttons to take and to resolve them."""
    t = reader.t
    rows = (
        *take_rows(t, alarms, AlarmAction.TAKE_IN_REMINDER),
        *resolve_rows(t, alarms, AlarmAction.RESOLVE_IN_REMINDER),
    )
    status = (Button(t.plain("staff.alarm.status"), data=AlarmButton(AlarmAction.STATUS).pack()),)
    listed = format_alarms(reader, alarms, subjects, service_contact=service_contact)
    return Screen(f"{t('staff.alarm.still')}\n\n{listed}", (*rows, status))


def show_taken(reader: Reader, alarms: Sequence[Alarm], subjects: Subjects) -> Screen:
    """Say who is on these alarms, and since when."""
    known = [replace(alarm, taken_by=None) for alarm in alarms]
    return Screen(f"{_format_taken(reader, alarms[0])}\n\n{format_alarms(reader, known, subjects)}")


def ask_outcome(reader: Reader, alarm: Alarm, subjects: Subjects) -> Screen:
    """Ask how an alarm about an order ended."""
    t = reader.t
    buttons = ((each, AlarmButton(AlarmAction(each), alarm.kind, alarm.subject)) for each in Outcome)
    rows = tuple((Button(t.plain(f"staff.alarm.outcome_{each}"), data=button.pack()),) for each, button in buttons)
    return Screen(f"{t('staff.alarm.ask_outcome')}\n\n{format_alarm(reader, alarm, subjects)}", rows)


def show_handled(t: Translator, kind: AlarmKind, subject: str, outcome: Outcome) -> Screen:
    """Say how an alarm ended, with the button that undoes it."""
    undo = Button(t.plain("staff.alarm.undo"), data=AlarmButton(AlarmAction.UNDO, kind, subject).pack())
    ended = t.plain(f"staff.alarm.outcome_{outcome}")
    return Screen(t("staff.alarm.handled", reference=subject, outcome=ended), ((undo,),))


def show_none_left(t: Translator) -> Screen:
    """Say that no alarm is open. This replaces a reminder when all its alarms are resolved."""
    return Screen(t("staff.alarm.none_left"))


def format_alarms(reader: Reader, alarms: Sequence[Alarm], subjects: Subjects, *, service_contact: str = "") -> Html:
    """Return the first few alarms with advice, where the service is reached, and how many more alarms there are.

    Alarms that are alike stand together under one piece of advice, to keep the message short.
    """
    t, shown, parts = reader.t, alarms[:MAX_ALARMS_SHOWN], list[str]()
    for name in dict.fromkeys(map(_get_start_text_name, shown)):
        alike = [alarm for alarm in shown if _get_start_text_name(alarm) == name]
        described = [format_alarm(reader, alarm, subjects) for alarm in alike]
        parts.append("\n".join((f"🚨 {format_advice(t, alike, subjects)}", *described)))
    parts[-1] += format_service_contact(t, [alarm.kind for alarm in shown], service_contact)
    if len(alarms) > MAX_ALARMS_SHOWN:
        parts.append(t("staff.alarm.more", count=len(alarms) - MAX_ALARMS_SHOWN))
    return Html("\n\n".join(parts))


def format_alarm(reader: Reader, alarm: Alarm, subjects: Subjects) -> Html:
    """Return what is wrong and since when, with the order that the alarm is about, and who is on it."""
    t = reader.t
    facts = {fact: _format_fact(value) for fact, value in alarm.facts.items() if fact != "since"}
    since = reader.format_time(_get_start(alarm), round_up=False)
    named = ("before", "now", "count", "complaint", "message", "why", "rows", "destination", "usual", "hits")
    known = {**dict.fromkeys(named, ""), **facts}
    described = t(
        f"staff.alarm.{_get_start_text_name(alarm)}",
        **known,
        since=since,
        length=_format_length(t, alarm),
        line=_describe_subject(t, alarm, subjects, reader.now),
    )
    return Html(f"{described}\n{_format_taken(reader, alarm)}") if alarm.taken_by else described


def format_toast(reader: Reader, alarm: Alarm) -> str:
    """Return who is on an alarm since when, as plain text."""
    who = reader.name_of(alarm.taken_by or 0)
    return reader.t.plain("staff.alarm.taken_toast", who=who, since=_since(reader, alarm))


def _format_taken(reader: Reader, alarm: Alarm) -> Html:
    return reader.t("staff.alarm.taken", who=reader.format_staff(alarm.taken_by or 0), since=_since(reader, alarm))


def _since(reader: Reader, alarm: Alarm) -> str:
    return reader.format_time(alarm.taken_at or reader.now, round_up=False)


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
    """Return the buttons to take the alarm if nobody is on it, to its order, and to resolve it if operators can."""
    take = AlarmButton(AlarmAction.TAKE_IN_ALARM, alarm.kind, alarm.subject)
    free = ((Button(t.plain("staff.alarm.take"), data=take.pack(), style="primary"),),) if not alarm.taken_by else ()
    rows = (*free, (_order_button(t.plain("staff.alarm.order"), alarm),)) if alarm.kind in ORDER_ALARMS else free
    if not can_be_resolved(alarm):
        return rows
    label = "staff.alarm.accept" if alarm.kind is AlarmKind.METHODS_SHRUNK else "staff.alarm.seen_to"
    done = AlarmButton(AlarmAction.RESOLVE_IN_ALARM, alarm.kind, alarm.subject)
    return (*rows, (Button(t.plain(label), data=done.pack()),))


def take_rows(t: Translator, alarms: Iterable[Alarm], action: AlarmAction) -> Keyboard:
    """Return the button to take all alarms that nobody is on, if there are any."""
    free = sum(alarm.taken_by is None for alarm in alarms)
    label = t.plain("staff.alarm.take_all", count=free)
    return ((Button(label, data=AlarmButton(action).pack(), style="primary"),),) if free else ()


def resolve_rows(t: Translator, alarms: Iterable[Alarm], action: AlarmAction) -> Keyboard:
    """Return a button for each of the first few alarms that operators can resolve, and one to its order before it.

    `action` depends on the message that contains the buttons.
    """
    resolvable = [alarm for alarm in alarms if can_be_resolved(alarm)][:MAX_ALARMS_SHOWN]
    resolve = ((alarm, _resolve_button(t, alarm, action)) for alarm in resolvable)
    return tuple(
        (_order_button(alarm.subject, alarm), button) if alarm.kind in ORDER_ALARMS else (button,)
        for alarm, button in resolve
    )


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


def _order_button(label: str, alarm: Alarm) -> Button:
    """Return the button to the page of the alarm's order, in a new message."""
    return Button(label, data=LookupButton(LookupPage.ORDER_OF_ALARM, alarm.subject).pack())


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


MAX_DETAIL_LENGTH: Final = 120
MAX_ACTORS_OFFERED: Final = 3


def show_page(reader: Reader, page: AuditPage, terms: AuditTerms) -> Screen:
    """Show one page of entries, newest first."""
    t = reader.t
    title = (
        t("staff.audit.title_of", actor=reader.format_user(page.actor_id)) if page.actor_id else t("staff.audit.title")
    )
    entries = [_entry(reader, entry, terms) for entry in page.entries] or [t("staff.audit.none")]
    return Screen("\n\n".join((title, *entries)), (*_page_rows(t, page), *_actor_rows(reader, page), _export_row(t)))


def ask_period(t: Translator) -> Screen:
    """Ask for the period of the file."""
    day, week, month, this, before = (
        Button(t.plain(f"staff.export.{name}"), data=AuditFileButton(name).pack()) for name in NAMED_SPANS
    )
    return Screen(t("staff.audit.ask"), ((day, week, month), (this, before), _back_row(t)))


def format_caption(reader: Reader, file: CsvFile, span: Span) -> Html:
    """Return how many entries the file contains, and of which period."""
    t = reader.t
    return t(
        "staff.audit.caption",
        entries=t.plural("staff.audit.entries", file.count),
        time=format_span(t, span, reader.zone),
    )


def explain_no_file(reader: Reader, file: CsvFile, span: Span) -> Screen:
    """Say why there is no file: there are no entries, or too many for one file."""
    t = reader.t
    key = "staff.audit.too_many" if file.count else "staff.audit.none_then"
    return Screen(t(key, time=format_span(t, span, reader.zone), most=MAX_ENTRIES), (_export_row(t), _back_row(t)))


def explain_not_sent(t: Translator) -> Screen:
    """Say that the file couldn't be sent."""
    return Screen(t("staff.export.not_sent"), (_export_row(t),))


def _entry(reader: Reader, entry: AuditEntry, terms: AuditTerms) -> Html:
    t = reader.t
    day = reader.format_day(entry.at)
    sentence = t(f"staff.audit.{entry.action}", subject=_format_subject(reader, entry, terms))
    if entry.user_id and not entry.subject.startswith("person:"):
        sentence = t("staff.audit.about", said=sentence, user=reader.format_user(entry.user_id))
    if entry.detail:
        sentence = t("staff.audit.why", said=sentence, detail=_format_detail(t, entry, terms))
    return t(
        "staff.audit.entry",
        day=day,
        time=t.seconds(entry.at, reader.zone),
        actor=reader.format_user(entry.actor_id),
        said=sentence,
    )


def _format_subject(reader: Reader, entry: AuditEntry, terms: AuditTerms) -> Html | str:
    kind, _, name = entry.subject.partition(":")
    subject_name = terms.subjects.get(kind)
    if subject_name is None:
        return clip(plain(entry.subject), MAX_NAME_LENGTH)
    return reader.t(f"staff.audit.of_{kind}", name=subject_name(reader, entry, name))


def _format_detail(t: Translator, entry: AuditEntry, terms: AuditTerms) -> str:
    if entry.detail in terms.details and entry.action is not AuditAction.NOTED:
        return t.plain(f"staff.audit.word_{entry.detail}")
    return clip(plain(entry.detail), MAX_DETAIL_LENGTH)


def _page_rows(t: Translator, page: AuditPage) -> Keyboard:
    newest = () if page.is_newest else (_page_button(t.plain("staff.audit.newest"), "", page.actor_id),)
    older = (_page_button(t.plain("staff.audit.older"), page.older, page.actor_id),) if page.older else ()
    return (row,) if (row := (*newest, *older)) else ()


def _actor_rows(reader: Reader, page: AuditPage) -> Keyboard:
    """Return buttons for the entries of each actor on the page, or a button back to all entries."""
    t = reader.t
    if page.actor_id:
        return ((_page_button(t.plain("staff.audit.everybody"), "", 0),),)
    actors = list(dict.fromkeys(entry.actor_id for entry in page.entries))[:MAX_ACTORS_OFFERED]
    return (
        (tuple(_page_button(t.plain("staff.audit.only", actor=reader.name_of(actor)), "", actor) for actor in actors),)
        if actors
        else ()
    )


def _page_button(label: str, before: str, actor_id: int) -> Button:
    return Button(label, data=AuditPageButton(before, str(actor_id or "")).pack())


def _export_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("staff.audit.export"), data=AuditExportButton().pack()),)


def _back_row(t: Translator) -> tuple[Button, ...]:
    return (_page_button(t.plain("staff.audit.back"), "", 0),)
