"""Read and write the audit log, and the new ids of groups."""

import itertools
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select

from bot.infra.db import upsert
from bot.infra.db.repository import Repository
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.tables import audit, moved_chats

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
        await upsert.insert_or_replace(self._connection, moved_chats, {"old_id": old, "new_id": new})


def _audit_id(at: datetime) -> str:
    """Return a unique id that sorts by time. Ids of the same microsecond sort in the order in which they were made."""
    return f"{_moment(at)}-{next(_COUNTER) % 0x1000000:06x}{secrets.token_hex(1)}"


def _moment(at: datetime) -> str:
    """Return a text that sorts before the ids of this time, and after the ids of earlier times."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}"
