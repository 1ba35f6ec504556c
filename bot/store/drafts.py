"""Drafts: one open draft a chat, and each saved only over the revision that was read."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.actions.ports import TAKEN_BY_DRAFT
from bot.domain.draft import Ask, DraftStatus, OrderDraft
from bot.store import nested, sealing, writing
from bot.store.inbox import TAKE
from bot.store.tables import IS_OPEN_DRAFT, drafts, is_open
from bot.store.vault import Vault

NAMES = tuple(field.name for field in fields(OrderDraft))

ONE = select(drafts).where(drafts.c.id == bindparam("id"))
OPEN = select(drafts).where(IS_OPEN_DRAFT, drafts.c.chat_id == bindparam("chat"))
LAPSED = (
    select(drafts)
    .where(IS_OPEN_DRAFT, drafts.c.expires_at <= bindparam("now"))
    .order_by(drafts.c.expires_at)
    .limit(bindparam("limit"))
)
OF_PERSON = select(drafts).where(drafts.c.person_id == bindparam("person")).order_by(drafts.c.expires_at)
SAVE = update(drafts).where(drafts.c.id == bindparam("key"), drafts.c.revision == bindparam("seen"))
_other = drafts.alias("other")
# A draft that is taken up again must not become the second open one of its chat.
SAVE_OPEN = SAVE.where(
    ~exists().where(is_open(_other), _other.c.chat_id == bindparam("chat"), _other.c.id != bindparam("key"))
)


class SqlDrafts:
    """`Drafts`, in the table of that name."""

    def __init__(self, connection: AsyncConnection, vault: Vault) -> None:
        self._connection = connection
        self._vault = vault

    async def get(self, draft_id: str) -> OrderDraft | None:
        """The draft with this id, whatever its status."""
        row = (await self._connection.execute(ONE, {"id": draft_id})).mappings().first()
        return _draft(row, self._vault) if row else None

    async def open_of(self, chat_id: int) -> OrderDraft | None:
        """The open draft of a chat."""
        row = (await self._connection.execute(OPEN, {"chat": chat_id})).mappings().first()
        return _draft(row, self._vault) if row else None

    async def add(self, draft: OrderDraft) -> bool:
        """Keep a new draft; False where the chat has an open one already."""
        await self._connection.execute(TAKE, {"taken": draft.last_update_id, "by": TAKEN_BY_DRAFT})
        return await writing.add(self._connection, drafts, _row(draft, self._vault))

    async def save(self, draft: OrderDraft) -> OrderDraft | None:
        """Save over the same revision and return it with the next one; None where somebody else has saved.

        None as well where the draft would become the chat's second open one.
        """
        after = replace(draft, revision=draft.revision + 1)
        seen: dict[str, object] = {"key": draft.id, "seen": draft.revision}
        statement = SAVE
        if draft.status is DraftStatus.OPEN:
            statement, seen["chat"] = SAVE_OPEN, draft.chat_id
        result = await self._connection.execute(statement, {**_row(after, self._vault), **seen})
        if result.rowcount != 1:
            return None
        await self._connection.execute(TAKE, {"taken": after.last_update_id, "by": TAKEN_BY_DRAFT})
        return after

    async def lapsed(self, now: datetime, limit: int = 100) -> tuple[OrderDraft, ...]:
        """Open drafts past their `expires_at`, the longest past first."""
        found = await self._connection.execute(LAPSED, {"now": now, "limit": limit})
        return tuple(_draft(row, self._vault) for row in found.mappings())

    async def of_person(self, person_id: int) -> tuple[OrderDraft, ...]:
        """All that are kept, whatever their status."""
        found = await self._connection.execute(OF_PERSON, {"person": person_id})
        return tuple(_draft(row, self._vault) for row in found.mappings())


def _row(draft: OrderDraft, vault: Vault) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(draft, name) for name in NAMES}
    row["ask"], row["status"] = draft.ask.value, draft.status.value
    row["method"] = draft.method and nested.from_method(draft.method)
    row["amount"] = draft.amount and nested.from_amount(draft.amount)
    row["quote"] = draft.quote and nested.from_quote(draft.quote)
    return sealing.seal_row(vault, drafts.name, row)


def _draft(row: Mapping[Any, Any], vault: Vault) -> OrderDraft:
    known: dict[str, Any] = sealing.open_row(vault, drafts.name, dict(row))
    known["ask"], known["status"] = Ask(known["ask"]), DraftStatus(known["status"])
    known["method"] = known["method"] and nested.to_method(known["method"])
    known["amount"] = known["amount"] and nested.to_amount(known["amount"])
    known["quote"] = known["quote"] and nested.to_quote(known["quote"])
    return OrderDraft(**known)
