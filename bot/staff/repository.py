"""Read and write alarms, the audit log, and the new ids of groups."""

import itertools
import secrets
from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update

from bot.infra.db.repository import Repository, insert_new, insert_or_replace
from bot.infra.db.transaction import Transaction
from bot.staff.model import Alarm, AlarmKind, AuditAction, AuditEntry
from bot.staff.tables import IS_RAISED, alarms, audit, moved_chats

_COUNTER = itertools.count()


class AuditRepository(Repository[AuditEntry]):
    """The audit log. Entries are added and read, and never changed."""

    table = audit

    async def add(self, entry: AuditEntry) -> None:
        """Add an entry with a new id. Ids sort by time."""
        await self._connection.execute(insert(audit).inline(), self._seal(replace(entry, id=_audit_id(entry.at))))

    async def page(self, *, before: str = "", actor_id: int = 0, limit: int = 10) -> tuple[AuditEntry, ...]:
        """Return entries, newest first: those before the id `before`, of one member of staff or of all (0)."""
        newest = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if before:
            newest = newest.where(audit.c.id < before)
        if actor_id:
            newest = newest.where(audit.c.actor_id == actor_id)
        return await self._find(newest)

    async def between(self, since: datetime, until: datetime, after: str, limit: int) -> tuple[AuditEntry, ...]:
        """Return entries of a period, oldest first: those after the id `after`, or all ("")."""
        within = select(audit).where(audit.c.id > max(after, _moment(since)), audit.c.id < _moment(until))
        return await self._find(within.order_by(audit.c.id).limit(limit))

    def _to_value(self, known: dict[str, Any]) -> AuditEntry:
        return AuditEntry(**{**known, "action": AuditAction(known["action"])})


class MovedChatRepository:
    """Groups that got another id from Telegram, for example when they became a supergroup."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def current(self, chat_id: int) -> int:
        """Return the current id of a group."""
        moved = await self._connection.scalar(select(moved_chats.c.new_id).where(moved_chats.c.old_id == chat_id))
        return chat_id if moved is None else int(moved)

    async def save(self, old: int, new: int) -> None:
        """Save the new id of a group."""
        await insert_or_replace(self._connection, moved_chats, {"old_id": old, "new_id": new})


def _audit_id(at: datetime) -> str:
    """Return a unique id that sorts by time. Ids of the same microsecond sort in the order in which they were made."""
    return f"{_moment(at)}-{next(_COUNTER) % 0x1000000:06x}{secrets.token_hex(1)}"


def _moment(at: datetime) -> str:
    """Return a text that sorts before the ids of this time, and after the ids of earlier times."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}"


BY_HAND = "by_hand"
"""The fact that an operator resolved the alarm."""


OUTCOME = "outcome"
"""The fact how it ended, as an operator said."""


class AlarmRepository(Repository[Alarm]):
    """Alarms, with at most one open alarm for each kind and subject."""

    table = alarms

    async def find_open(self) -> tuple[Alarm, ...]:
        """Return the open alarms: first those that are urgent and that nobody is on, and of these the oldest."""
        found = await self._find(select(alarms).where(IS_RAISED))
        # Sorted here, because to sort by time SQLite would read all alarms that ever existed.
        return tuple(sorted(found, key=lambda alarm: (not alarm.repeats, alarm.raised_at, alarm.id)))

    async def add(self, alarm: Alarm) -> bool:
        """Add an alarm. Return False if one of its kind and subject is already open."""
        row = {name: value for name, value in self._seal(alarm).items() if name != "id"}
        return await insert_new(self._connection, alarms, row)

    async def save(self, alarm: Alarm) -> bool:
        """Save the alarm's reminder, end and facts. Return False if it has already ended; then nothing is saved."""
        row = self._seal(alarm)
        changed = {name: row[name] for name in ("facts", "reminded_at", "cleared_at")}
        # An alarm that has ended stays ended. A reminder that was read earlier must not open it again.
        return await self._change(update(alarms).where(IS_RAISED, alarms.c.id == alarm.id), changed) == 1

    async def take(self, kind: AlarmKind, subject: str, by: int, now: datetime) -> bool:
        """Save who is on an open alarm, and since when. Return False if somebody is, or it has ended."""
        one = (IS_RAISED, alarms.c.taken_by.is_(None), alarms.c.kind == kind.value, alarms.c.subject == subject)
        return await self._change(update(alarms).where(*one).values(taken_by=by, taken_at=now)) == 1

    async def release(self, operator_ids: Collection[int]) -> None:
        """Save that nobody is on the alarms of those who are no operators any longer."""
        former = update(alarms).where(alarms.c.taken_by.not_in(operator_ids))
        await self._change(former.values(taken_by=None, taken_at=None))

    async def find_last(self, kind: AlarmKind, subject: str) -> Alarm | None:
        """Return the last alarm of a kind and subject."""
        same = (alarms.c.kind == kind.value, alarms.c.subject == subject)
        return await self._find_first(select(alarms).where(*same).order_by(alarms.c.id.desc()).limit(1))

    async def reopen(self, kind: AlarmKind, subject: str, now: datetime) -> Alarm | None:
        """Open again the last alarm of a kind and subject, if an operator has resolved it and none is open."""
        last = await self.find_last(kind, subject)
        if last is None or last.cleared_at is None or not last.facts.get(BY_HAND):
            return None
        facts = {name: value for name, value in last.facts.items() if name not in {BY_HAND, OUTCOME}}
        again = replace(last, facts=facts, cleared_at=None, reminded_at=now)
        row = self._seal(again)
        changed = {name: row[name] for name in ("facts", "reminded_at", "cleared_at")}
        ended = update(alarms).where(alarms.c.id == again.id, ~IS_RAISED)
        return again if await self._change(ended, changed) == 1 else None

    async def resolved_by_hand(self, kind: AlarmKind, since: datetime) -> tuple[Alarm, ...]:
        """Return alarms of a kind that an operator has resolved since that time."""
        ended = await self._find(select(alarms).where(alarms.c.kind == kind.value, alarms.c.cleared_at >= since))
        return tuple(alarm for alarm in ended if alarm.facts.get(BY_HAND))

    async def find_since(self, moment: datetime) -> tuple[Alarm, ...]:
        """Return alarms that were raised at this time or later, newest first."""
        raised = select(alarms).where(alarms.c.raised_at >= moment)
        return await self._find(raised.order_by(alarms.c.raised_at.desc(), alarms.c.id.desc()))

    def _to_row(self, value: Alarm) -> dict[str, Any]:
        return {**asdict(value), "facts": dict(value.facts)}

    def _to_value(self, known: dict[str, Any]) -> Alarm:
        return Alarm(**{**known, "kind": AlarmKind(known["kind"])})
