"""Screens of the audit log, for operators. Users and staff appear with their Telegram ids."""

from typing import Final

from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Span
from bot.core.text import plain
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, format_span
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.staff.audit import MAX_ENTRIES, AuditPage
from bot.staff.audit_terms import MAX_NAME_LENGTH, AuditTerms
from bot.staff.buttons import AuditExportButton, AuditFileButton, AuditPageButton
from bot.staff.model import AuditAction, AuditEntry

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
