"""The audit trail, for operators: who did what, when and why. People and staff appear as their Telegram ids."""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Final

from bot.core.date_ranges import NAMED_SPANS, Span
from bot.core.text import plain
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_day, format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.staff.alarm_model import AlarmKind
from bot.staff.audit import MOST_ENTRIES, AuditFile, AuditPage
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.model import AuditAction, AuditEntry
from bot.support.reveal.rules import Reason
from bot.support.ticket import CloseReason

DETAIL_SHOWN: Final = 200
NAME_SHOWN: Final = 60
ACTORS_OFFERED: Final = 3
KINDS: Final = ("order", "ticket", "person", "broadcast", "answer", "alarm", "orders", "trail")
"""What stands before the colon of a subject."""

WORDS: Final = frozenset(
    {
        *Reason,
        *CloseReason,
        *("confirmed", "called_off", "running", "paused", "stopped", "again"),
        *("settled", "added", "deleted"),
    }
)
"""Details that are words of ours; any other was typed, or is a number or a time."""


def screen(t: Translator, page: AuditPage, now: datetime, zone: tzinfo) -> Screen:
    """One page, newest first."""
    title = t("audit.title_of", actor=str(page.actor_id)) if page.actor_id else t("audit.title")
    entries = [_entry(t, entry, now, zone) for entry in page.entries] or [t("audit.none")]
    return Screen("\n\n".join((title, *entries)), (*_turns(t, page), *_actors(t, page), _export_row(t)))


def asking(t: Translator) -> Screen:
    """Of which time the file is to be."""
    day, week, month, this, before = (
        Button(t.plain(f"export.{name}"), data=AuditFileButton(name).pack()) for name in NAMED_SPANS
    )
    return Screen(t("audit.ask"), ((day, week, month), (this, before), _back_row(t)))


def caption(t: Translator, made: AuditFile, span: Span, zone: tzinfo) -> Html:
    """How many entries the file holds, and of which time."""
    return t("audit.caption", entries=t.n("audit.entries", made.entries), time=format_span(t, span, zone))


def nothing(t: Translator, made: AuditFile, span: Span, zone: tzinfo) -> Screen:
    """That there is no file: no entries, or too many for one."""
    key = "audit.too_many" if made.entries else "audit.none_then"
    return Screen(t(key, time=format_span(t, span, zone), most=MOST_ENTRIES), (_export_row(t), _back_row(t)))


def not_sent(t: Translator) -> Screen:
    """Telegram took no file."""
    return Screen(t("export.not_sent"), (_export_row(t),))


def _entry(t: Translator, entry: AuditEntry, now: datetime, zone: tzinfo) -> Html:
    day = format_day(t, entry.at, now, zone)
    said = t(f"audit.{entry.action}", subject=_subject(t, entry))
    if entry.person_id and not entry.subject.startswith("person:"):
        said = t("audit.about", said=said, person=str(entry.person_id))
    if entry.detail:
        said = t("audit.why", said=said, detail=_detail(t, entry))
    return t("audit.entry", day=day, time=t.seconds(entry.at, zone), actor=str(entry.actor_id), said=said)


def _subject(t: Translator, entry: AuditEntry) -> Html | str:
    kind, _, name = entry.subject.partition(":")
    if kind not in KINDS:
        return clip(plain(entry.subject), NAME_SHOWN)
    return t(f"audit.of_{kind}", name=NAMES.get(kind, _as_it_is)(t, entry, name))


def _as_it_is(_: Translator, __: AuditEntry, name: str) -> str:
    return clip(plain(name), NAME_SHOWN)


def _person(_: Translator, entry: AuditEntry, __: str) -> str:
    return str(entry.person_id or "…")


def _alarm(t: Translator, _: AuditEntry, name: str) -> str:
    kind, _separator, subject = name.partition(":")
    called = t.plain(f"alarm.{kind}_name") if kind in set(AlarmKind) else clip(plain(kind), NAME_SHOWN)
    return f"{called} {clip(plain(subject), NAME_SHOWN)}".strip()


NAMES: Final[Mapping[str, Callable[[Translator, AuditEntry, str], str]]] = {"person": _person, "alarm": _alarm}
"""What a subject is called, where that isn't what stands behind its colon."""


def _detail(t: Translator, entry: AuditEntry) -> str:
    if entry.detail in WORDS and entry.action is not AuditAction.NOTED:
        return t.plain(f"audit.word_{entry.detail}")
    return clip(plain(entry.detail), DETAIL_SHOWN)


def _turns(t: Translator, page: AuditPage) -> Keyboard:
    newest = () if page.is_newest else (_turn(t.plain("audit.newest"), "", page.actor_id),)
    older = (_turn(t.plain("audit.older"), page.older, page.actor_id),) if page.older else ()
    return (row,) if (row := (*newest, *older)) else ()


def _actors(t: Translator, page: AuditPage) -> Keyboard:
    """The trail of one of those on the page; or of everybody again."""
    if page.actor_id:
        return ((_turn(t.plain("audit.everybody"), "", 0),),)
    actors = list(dict.fromkeys(entry.actor_id for entry in page.entries))[:ACTORS_OFFERED]
    return (tuple(_turn(t.plain("audit.only", actor=str(actor)), "", actor) for actor in actors),) if actors else ()


def _turn(label: str, before: str, actor_id: int) -> Button:
    return Button(label, data=AuditPageButton(before, str(actor_id or "")).pack())


def _export_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("audit.export"), data=AuditExportButton().pack()),)


def _back_row(t: Translator) -> tuple[Button, ...]:
    return (_turn(t.plain("audit.back"), "", 0),)
