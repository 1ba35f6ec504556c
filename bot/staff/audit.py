"""The audit log: what staff did, and how features' entries are shown.

Entries are added in the transaction of the action, and never changed. `subject` names what was viewed or changed, after
its kind: `order:R2345AB`, `ticket:T-4F7K2`, `broadcast:…`. The detail is a fixed term or a reason that staff typed,
never a user's text.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from bot.core import csv
from bot.core.clock import Clock
from bot.core.csv import CsvFile
from bot.core.date_ranges import Span
from bot.core.text import plain
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.ui.reader import Reader, clip
from bot.staff.model import UNDONE, AlarmKind, AuditAction, AuditEntry
from bot.staff.outcomes import Outcome
from bot.staff.repository import AuditRepository

MAX_NAME_LENGTH: Final = 60
"""Characters of a subject's name."""

SubjectName = Callable[[Reader, AuditEntry, str], str]
"""Returns the name of an entry's subject. The last argument is the part after the subject's colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """What one feature writes to the audit log."""

    subjects: Mapping[str, SubjectName] = field(default_factory=dict)
    """Kind of subject (before the colon) -> function that returns the subject's name. The text is `audit.of_<kind>`."""

    details: frozenset[str] = frozenset()
    """Details that are fixed terms. All other details were typed, or are numbers or times. Their texts are
    `audit.word_<detail>`."""

    def __or__(self, other: "AuditTerms") -> "AuditTerms":
        """Return the terms of both.

        Raises:
            ValueError: both have subjects of the same kind.
        """
        if twice := self.subjects.keys() & other.subjects.keys():
            raise ValueError(f"two features have audit subjects of the kind {', '.join(sorted(twice))}")
        return AuditTerms(subjects={**self.subjects, **other.subjects}, details=self.details | other.details)


def name_as_written(_: Reader, __: AuditEntry, name: str) -> str:
    """Return the part after the subject's colon."""
    return clip(plain(name), MAX_NAME_LENGTH)


def _name_alarm(reader: Reader, _: AuditEntry, name: str) -> str:
    kind, _separator, subject = name.partition(":")
    is_known = kind in set(AlarmKind)
    kind_name = reader.t.plain(f"staff.alarm.{kind}_name") if is_known else clip(plain(kind), MAX_NAME_LENGTH)
    return f"{kind_name} {clip(plain(subject), MAX_NAME_LENGTH)}".strip()


STAFF_TERMS: Final = AuditTerms(
    subjects={"alarm": _name_alarm, "trail": name_as_written},
    details=frozenset({"settled", UNDONE, *Outcome}),
)


PAGE_SIZE: Final = 8
BATCH_SIZE: Final = 500
MAX_ENTRIES: Final = 100_000
"""Entries in one file, about 10 MB."""

LOG_SUBJECT: Final = "trail:"
"""The subject of an export of the audit log."""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some entries, newest first: of one member of staff, or of all (0).

    The next page has the entries before the id `older`.
    """

    entries: tuple[AuditEntry, ...]
    actor_id: int = 0
    older: str = ""
    is_newest: bool = True

    @property
    def people(self) -> frozenset[int]:
        """The members of staff and the users of the entries. Their names are shown."""
        return frozenset(user_id for entry in self.entries for user_id in (entry.actor_id, entry.user_id) if user_id)


class AuditLog:
    """Read and export the audit log."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get_page(self, before: str = "", actor_id: int = 0) -> AuditPage:
        """Return the entries before the entry with the id `before`, or the newest entries."""
        async with self._database.reading() as tx:
            found = await AuditRepository(tx).page(before=before, actor_id=actor_id, limit=PAGE_SIZE + 1)
        older = found[PAGE_SIZE - 1].id if len(found) > PAGE_SIZE else ""
        return AuditPage(found[:PAGE_SIZE], actor_id, older, is_newest=not before)

    async def export(self, span: Span, by: int) -> CsvFile:
        """Return the log of a period, oldest first. The export is recorded before it is returned."""
        content, count = bytearray(csv.write_rows([list(COLUMNS)])), 0
        async with self._database.reading() as tx:
            found = await AuditRepository(tx).between(span.since, span.until, "", BATCH_SIZE)
            while found and count <= MAX_ENTRIES:
                count += len(found)
                content += await asyncio.to_thread(_format_rows, found)
                found = await AuditRepository(tx).between(span.since, span.until, found[-1].id, BATCH_SIZE)
        if not 0 < count <= MAX_ENTRIES:
            return CsvFile(count, None)
        async with self._database.transaction() as tx:
            await record_audit(tx, by, AuditAction.EXPORTED, LOG_SUBJECT, self._clock.now(), detail=describe_span(span))
        return CsvFile(count, bytes(content))


async def record_audit(
    tx: Transaction,
    by: int,
    action: AuditAction,
    subject: str,
    now: datetime,
    *,
    user_id: int = 0,
    detail: str = "",
) -> None:
    """Record in this transaction what `by` does. `user_id` is the user concerned, 0 for none."""
    entry = AuditEntry(at=now, actor_id=by, action=action, subject=subject, user_id=user_id, detail=detail)
    await AuditRepository(tx).add(entry)


def describe_span(span: Span) -> str:
    """Return a period as the detail of an entry."""
    return f"{csv.format_time(span.since)}/{csv.format_time(span.until)}"


COLUMNS: Final[dict[str, Callable[[AuditEntry], object]]] = {
    "at": lambda entry: csv.format_time(entry.at),
    "actor_id": lambda entry: entry.actor_id,
    "action": lambda entry: entry.action,
    "subject": lambda entry: csv.format_text(entry.subject),
    "person_id": lambda entry: entry.user_id or "",
    "detail": lambda entry: csv.format_text(entry.detail),
}
"""The columns from left to right. docs/operators.md describes them."""


def _format_rows(entries: Iterable[AuditEntry]) -> bytes:
    return csv.write_rows([column(entry) for column in COLUMNS.values()] for entry in entries)
