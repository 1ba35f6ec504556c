"""Read and write drafts. A chat has one open draft, and each draft is saved only over the revision that was read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, exists, select, update

from bot.checkout.draft import HANDLED_BY_DRAFT, DraftOfChat, DraftStatus, OrderDraft, Refusal, RequestTerms, Step
from bot.checkout.tables import IS_OPEN_DRAFT, drafts, is_open
from bot.infra.db import encryption, upsert
from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault
from bot.infra.telegram.inbound.repository import MARK_HANDLED
from bot.settlement import json_values as nested

UNFINISHED = frozenset({DraftStatus.OPEN, DraftStatus.EXPIRED})
NAMES = tuple(field.name for field in fields(OrderDraft))

ONE = select(drafts).where(drafts.c.id == bindparam("id"))
OPEN = select(drafts).where(IS_OPEN_DRAFT, drafts.c.chat_id == bindparam("chat"))
IS_OPEN_IN = select(exists().where(IS_OPEN_DRAFT, drafts.c.chat_id == bindparam("chat")))
EXPIRED = (
    select(drafts.c.id, drafts.c.chat_id)
    .where(IS_OPEN_DRAFT, drafts.c.expires_at <= bindparam("now"))
    .order_by(drafts.c.expires_at)
    .limit(bindparam("limit"))
)
WAITING = (
    select(drafts.c.id, drafts.c.chat_id)
    .where(IS_OPEN_DRAFT, drafts.c.message_id.is_not(None), drafts.c.expires_at > bindparam("now"))
    .order_by(drafts.c.expires_at)
    .limit(bindparam("limit"))
)
SET_MESSAGE = update(drafts).where(drafts.c.id == bindparam("key"), IS_OPEN_DRAFT)
SET_MESSAGE = SET_MESSAGE.values(message_id=bindparam("message"))
OF_USER = (
    select(drafts)
    .where(drafts.c.user_id == bindparam("user"))
    .order_by(drafts.c.expires_at, drafts.c.id)
    .limit(bindparam("limit", type_=Integer()))
    .offset(bindparam("offset", type_=Integer()))
)
# The draft that the user has touched last. It comes first if it is open.
NEWEST_OF_USER = (
    select(drafts)
    .where(drafts.c.user_id == bindparam("user"))
    .order_by((drafts.c.status == constant(DraftStatus.OPEN)).desc(), drafts.c.expires_at.desc())
    .limit(1)
)
RECORD_REFUSAL = (
    update(drafts)
    .where(IS_OPEN_DRAFT, drafts.c.id == bindparam("key"), drafts.c.revision == bindparam("seen"))
    .values(refusal=bindparam("reason", type_=drafts.c.refusal.type))
)
SAVE = update(drafts).where(drafts.c.id == bindparam("key"), drafts.c.revision == bindparam("seen"))
SET_ASIDE = update(drafts).where(drafts.c.id == bindparam("key"), IS_OPEN_DRAFT)
SET_ASIDE = SET_ASIDE.values(status=constant(DraftStatus.CANCELLED))
SET_OPEN_ASIDE = update(drafts).where(IS_OPEN_DRAFT, drafts.c.chat_id == bindparam("chat"))
SET_OPEN_ASIDE = SET_OPEN_ASIDE.values(status=constant(DraftStatus.CANCELLED))
_other = drafts.alias("other")
# A resumed draft must not become the second open draft of its chat.
SAVE_OPEN = SAVE.where(
    ~exists().where(is_open(_other), _other.c.chat_id == bindparam("chat"), _other.c.id != bindparam("key"))
)


class DraftRepository:
    """Read and write drafts. The database itself ensures that a chat has up to one open draft."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, draft_id: str) -> OrderDraft | None:
        """Return the draft with this id in any status, or None."""
        row = (await self._connection.execute(ONE, {"id": draft_id})).mappings().first()
        return self._draft(row) if row else None

    async def open_of(self, chat_id: int) -> OrderDraft | None:
        """Return the open draft of a chat, or None."""
        row = (await self._connection.execute(OPEN, {"chat": chat_id})).mappings().first()
        return self._draft(row) if row else None

    async def has_open(self, chat_id: int) -> bool:
        """Return whether the chat has an open draft, even if it can't be read."""
        return bool((await self._connection.execute(IS_OPEN_IN, {"chat": chat_id})).scalar_one())

    async def add(self, draft: OrderDraft) -> bool:
        """Save a new draft. Return False if the chat already has an open one."""
        await self._connection.execute(MARK_HANDLED, {"taken": draft.last_update_id, "by": HANDLED_BY_DRAFT})
        return await upsert.insert_new(self._connection, drafts, _row(draft, self._vault))

    async def save(self, draft: OrderDraft) -> OrderDraft | None:
        """Save over the same revision. Return the draft with the next one, or None if another update has saved it."""
        after = replace(draft, revision=draft.revision + 1)
        seen: dict[str, object] = {"key": draft.id, "seen": draft.revision}
        statement = SAVE
        if draft.status is DraftStatus.OPEN:
            statement, seen["chat"] = SAVE_OPEN, draft.chat_id
        result = await self._connection.execute(statement, {**_row(after, self._vault), **seen})
        if result.rowcount != 1:
            return None
        await self._connection.execute(MARK_HANDLED, {"taken": after.last_update_id, "by": HANDLED_BY_DRAFT})
        return after

    async def record_refusal(self, draft: OrderDraft, refusal: Refusal) -> None:
        """Save why an answer was refused, unless the draft has changed since.

        It isn't an answer: the revision stays, so the buttons under the question still work, and an update that is
        handled again is refused again.
        """
        known = {"key": draft.id, "seen": draft.revision, "reason": _from_refusal(refusal)}
        await self._connection.execute(RECORD_REFUSAL, known)

    async def set_message(self, draft_id: str, message_id: int | None) -> None:
        """Save in which message an open draft waits for the service, or None. Its buttons stay valid."""
        await self._connection.execute(SET_MESSAGE, {"key": draft_id, "message": message_id})

    async def waiting(self, now: datetime, limit: int = 500) -> tuple[DraftOfChat, ...]:
        """Return the open drafts that wait for the service, also unreadable ones."""
        found = await self._connection.execute(WAITING, {"now": now, "limit": limit})
        return tuple(DraftOfChat(**row) for row in found.mappings())

    async def expired(self, now: datetime, limit: int = 100) -> tuple[DraftOfChat, ...]:
        """Return the open drafts past their `expires_at`, also unreadable ones."""
        found = await self._connection.execute(EXPIRED, {"now": now, "limit": limit})
        return tuple(DraftOfChat(**row) for row in found.mappings())

    async def set_aside(self, draft_id: str) -> None:
        """Close a draft that can't be read (`RowUnreadable`), if it is open."""
        await self._connection.execute(SET_ASIDE, {"key": draft_id})

    async def set_open_aside(self, chat_id: int) -> None:
        """Close the open draft of a chat, which can't be read."""
        await self._connection.execute(SET_OPEN_ASIDE, {"chat": chat_id})

    async def of_user(self, user_id: int, *, limit: int = 100, offset: int = 0) -> tuple[OrderDraft, ...]:
        """Return the user's readable drafts in any status."""
        values = {"user": user_id, "limit": limit, "offset": offset}
        found = (await self._connection.execute(OF_USER, values)).mappings()
        return encryption.read_rows(self._vault, drafts, found, _draft)

    async def unfinished_of(self, user_id: int) -> OrderDraft | None:
        """Return what a user is filling in, or could continue. None if the last draft was placed or cancelled.

        None, too, if it can't be read.
        """
        found = (await self._connection.execute(NEWEST_OF_USER, {"user": user_id})).mappings()
        read = encryption.read_rows(self._vault, drafts, found, _draft)
        return next((each for each in read if each.status in UNFINISHED), None)

    def _draft(self, row: Mapping[Any, Any]) -> OrderDraft:
        return encryption.read_row(self._vault, drafts, dict(row), _draft)


def _row(draft: OrderDraft, vault: Vault) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(draft, name) for name in NAMES}
    row["step"], row["status"] = draft.step.value, draft.status.value
    if draft.terms is not None:
        row["terms"] = json.dumps(_from_terms(draft.terms))
    row["method"] = draft.method and nested.from_method(draft.method)
    row["amount"] = draft.amount and nested.from_amount(draft.amount)
    row["quote"] = draft.quote and nested.from_quote(draft.quote)
    row["refusal"] = draft.refusal and _from_refusal(draft.refusal)
    return encryption.seal_row(vault, drafts, row)


def _draft(known: dict[str, Any]) -> OrderDraft:
    known["terms"] = known["terms"] and _to_terms(json.loads(known["terms"]))
    known["step"], known["status"] = Step(known["step"]), DraftStatus(known["status"])
    known["method"] = known["method"] and nested.to_method(known["method"])
    known["amount"] = known["amount"] and nested.to_amount(known["amount"])
    known["quote"] = known["quote"] and nested.to_quote(known["quote"])
    known["refusal"] = known["refusal"] and _to_refusal(known["refusal"])
    return OrderDraft(**known)


def _from_refusal(refusal: Refusal) -> Mapping[str, object]:
    arguments = {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in refusal.arguments.items()
    }
    return {"step": refusal.step.value, "key": refusal.key, "at": refusal.at.isoformat(), "arguments": arguments}


def _to_refusal(value: Mapping[str, Any]) -> Refusal:
    arguments = {
        name: datetime.fromisoformat(each) if isinstance(each, str) else None if each is None else int(each)
        for name, each in value["arguments"].items()
    }
    at = datetime.fromisoformat(value["at"])
    return Refusal(step=Step(value["step"]), key=str(value["key"]), at=at, arguments=arguments)


def _from_terms(terms: RequestTerms) -> Mapping[str, object]:
    return {**asdict(terms), "ends_at": terms.ends_at and terms.ends_at.isoformat()}


def _to_terms(value: dict[str, Any]) -> RequestTerms:
    ends_at = value["ends_at"]
    return RequestTerms(**{**value, "ends_at": ends_at and datetime.fromisoformat(ends_at)})
