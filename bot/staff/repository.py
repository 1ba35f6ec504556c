"""Read and write the audit log, and the new ids of groups."""

import itertools
import secrets
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, BindParameter, Integer, Select, bindparam, insert, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.tables import audit, moved_chats

LIMIT = bindparam("limit", type_=Integer())

_COUNTER = itertools.count()
BEFORE: BindParameter[str] = bindparam("before")
NEWEST = select(audit).order_by(audit.c.id.desc()).limit(LIMIT)
BETWEEN = (
    select(audit)
    .where(audit.c.id > bindparam("beyond"), audit.c.id < bindparam("until"))
    .order_by(audit.c.id)
    .limit(LIMIT)
)

NEW_ID = select(moved_chats.c.new_id).where(moved_chats.c.old_id == bindparam("chat", type_=BigInteger()))


class AuditRepository:
    """The audit log. Entries are added and read, and never changed."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, entry: AuditEntry) -> None:
        """Add an entry with a new id. Ids sort by time."""
        named = replace(entry, id=_audit_id(entry.at))
        row = encryption.seal_row(self._vault, audit, asdict(named))
        await self._connection.execute(insert(audit).inline(), row)

    async def page(self, *, before: str = "", actor_id: int = 0, limit: int = 10) -> tuple[AuditEntry, ...]:
        """Return entries, newest first: those before the id `before`, of one member of staff or of all (0)."""
        wanted = NEWEST
        known: dict[str, object] = {"limit": limit}
        if before:
            wanted, known = wanted.where(audit.c.id < BEFORE), {**known, "before": before}
        if actor_id:
            wanted, known = wanted.where(audit.c.actor_id == bindparam("actor")), {**known, "actor": actor_id}
        return await self._all(wanted, known)

    async def between(self, since: datetime, until: datetime, after: str, limit: int) -> tuple[AuditEntry, ...]:
        """Return entries of a period, oldest first: those after the id `after`, or all ("")."""
        known = {"beyond": max(after, _moment(since)), "until": _moment(until), "limit": limit}
        return await self._all(BETWEEN, known)

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[AuditEntry, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return encryption.read_rows(self._vault, audit, found, _entry)


class MovedChatRepository:
    """Groups that got another id from Telegram, for example when they became a supergroup."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def current(self, chat_id: int) -> int:
        """Return the current id of a group."""
        moved = (await self._connection.execute(NEW_ID, {"chat": chat_id})).scalar_one_or_none()
        return chat_id if moved is None else int(moved)

    async def save(self, old: int, new: int) -> None:
        """Save the new id of a group."""
        await upsert.insert_or_replace(self._connection, moved_chats, {"old_id": old, "new_id": new})


def _entry(known: dict[str, Any]) -> AuditEntry:
    return AuditEntry(**{**known, "action": AuditAction(known["action"])})


def _audit_id(at: datetime) -> str:
    """Return a unique id that sorts by time. Ids of the same microsecond sort in the order in which they were made."""
    return f"{_moment(at)}-{next(_COUNTER) % 0x1000000:06x}{secrets.token_hex(1)}"


def _moment(at: datetime) -> str:
    """Return a text that sorts before the ids of this time, and after the ids of earlier times."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}"
