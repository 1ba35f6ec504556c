"""Read and write drafts. A chat has one open draft, and each draft is saved only over the revision that was read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Update, bindparam, select, update

from bot.checkout.draft import HANDLED_BY_DRAFT, DraftOfChat, DraftStatus, OrderDraft, Refusal, RequestTerms, Step
from bot.checkout.tables import IS_ONLY_OPEN_DRAFT, IS_OPEN_DRAFT, drafts
from bot.infra.db.repository import Repository, once
from bot.infra.telegram.inbound.repository import mark_handled
from bot.settlement import json_values as nested

UNFINISHED = frozenset({DraftStatus.OPEN, DraftStatus.EXPIRED})
NAMES = tuple(field.name for field in fields(OrderDraft))


class DraftRepository(Repository[OrderDraft]):
    """Read and write drafts. The database itself ensures that a chat has up to one open draft."""

    table = drafts

    async def get(self, draft_id: str) -> OrderDraft | None:
        """Return the draft with this id in any status, or None."""
        return await self._get(select(drafts).where(drafts.c.id == draft_id))

    async def open_of(self, chat_id: int) -> OrderDraft | None:
        """Return the open draft of a chat, or None."""
        open_draft = once(lambda: select(drafts).where(IS_OPEN_DRAFT, drafts.c.chat_id == bindparam("chat")))
        return await self._get(open_draft, {"chat": chat_id})

    async def has_open(self, chat_id: int) -> bool:
        """Return whether the chat has an open draft, even if it can't be read."""
        return await self._count(IS_OPEN_DRAFT, drafts.c.chat_id == chat_id) > 0

    async def add(self, draft: OrderDraft) -> bool:
        """Save a new draft. Return False if the chat already has an open one."""
        await mark_handled(self._tx, draft.last_update_id, HANDLED_BY_DRAFT)
        return await self._insert(draft)

    async def save(self, draft: OrderDraft) -> OrderDraft | None:
        """Save over the same revision. Return the draft with the next one, or None if another update has saved it."""
        after = replace(draft, revision=draft.revision + 1)
        one = once(
            lambda: update(drafts).where(drafts.c.id == bindparam("key"), drafts.c.revision == bindparam("seen"))
        )
        if draft.status is DraftStatus.OPEN:
            one = once(
                lambda: update(drafts).where(
                    drafts.c.id == bindparam("key"), drafts.c.revision == bindparam("seen"), IS_ONLY_OPEN_DRAFT
                )
            )
        seen = {"key": draft.id, "seen": draft.revision}
        if await self._change(one, {**self._seal(after), **seen}) != 1:
            return None
        await mark_handled(self._tx, after.last_update_id, HANDLED_BY_DRAFT)
        return after

    async def record_refusal(self, draft: OrderDraft, refusal: Refusal) -> None:
        """Save why an answer was refused, unless the draft has changed since.

        It isn't an answer: the revision stays, so the buttons under the question still work, and an update that is
        handled again is refused again.
        """
        seen = _one_open(draft.id).where(drafts.c.revision == draft.revision)
        await self._change(seen.values(refusal=_from_refusal(refusal)))

    async def set_message(self, draft_id: str, message_id: int | None) -> None:
        """Save in which message an open draft waits for the service, or None. Its buttons stay valid."""
        await self._change(_one_open(draft_id).values(message_id=message_id))

    async def waiting(self, now: datetime, limit: int = 500) -> tuple[DraftOfChat, ...]:
        """Return the open drafts that wait for the service, also unreadable ones."""
        return await self._find_chats(drafts.c.message_id.is_not(None) & (drafts.c.expires_at > now), limit)

    async def expired(self, now: datetime, limit: int = 100) -> tuple[DraftOfChat, ...]:
        """Return the open drafts past their `expires_at`, also unreadable ones."""
        return await self._find_chats(drafts.c.expires_at <= now, limit)

    async def _find_chats(self, condition: ColumnElement[bool], limit: int) -> tuple[DraftOfChat, ...]:
        found = select(drafts.c.id, drafts.c.chat_id).where(IS_OPEN_DRAFT, condition)
        first = found.order_by(drafts.c.expires_at).limit(limit)
        return tuple(DraftOfChat(**row) for row in (await self._connection.execute(first)).mappings())

    async def set_aside(self, draft_id: str) -> None:
        """Close a draft that can't be read (`RowUnreadable`), if it is open."""
        await self._change(_one_open(draft_id).values(status=DraftStatus.CANCELLED.value))

    async def set_open_aside(self, chat_id: int) -> None:
        """Close the open draft of a chat, which can't be read."""
        open_draft = update(drafts).where(IS_OPEN_DRAFT, drafts.c.chat_id == chat_id)
        await self._change(open_draft.values(status=DraftStatus.CANCELLED.value))

    async def unfinished_of(self, user_id: int) -> OrderDraft | None:
        """Return what a user is filling in, or could continue. None if the last draft was placed or cancelled.

        None, too, if it can't be read.
        """
        of_user = select(drafts).where(drafts.c.user_id == user_id)
        # The draft that the user has touched last. It comes first if it is open.
        last_first = of_user.order_by(IS_OPEN_DRAFT.desc(), drafts.c.expires_at.desc())
        newest = await self._find_first(last_first.limit(1))
        return newest if newest is not None and newest.status in UNFINISHED else None

    def _to_row(self, value: OrderDraft) -> dict[str, Any]:
        row: dict[str, Any] = {name: getattr(value, name) for name in NAMES}
        row["step"], row["status"] = value.step.value, value.status.value
        if value.terms is not None:
            row["terms"] = json.dumps(_from_terms(value.terms))
        row["method"] = value.method and nested.from_method(value.method)
        row["amount"] = value.amount and nested.from_amount(value.amount)
        row["quote"] = value.quote and nested.from_quote(value.quote)
        row["refusal"] = value.refusal and _from_refusal(value.refusal)
        return row

    def _to_value(self, known: dict[str, Any]) -> OrderDraft:
        known["terms"] = known["terms"] and _to_terms(json.loads(known["terms"]))
        known["step"], known["status"] = Step(known["step"]), DraftStatus(known["status"])
        known["method"] = known["method"] and nested.to_method(known["method"])
        known["amount"] = known["amount"] and nested.to_amount(known["amount"])
        known["quote"] = known["quote"] and nested.to_quote(known["quote"])
        known["refusal"] = known["refusal"] and _to_refusal(known["refusal"])
        return OrderDraft(**known)


def _one_open(draft_id: str) -> Update:
    return update(drafts).where(drafts.c.id == draft_id, IS_OPEN_DRAFT)


def _from_refusal(refusal: Refusal) -> Mapping[str, object]:
    arguments = {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in refusal.arguments.items()
    }
    known = {"step": refusal.step.value, "key": refusal.key, "at": refusal.at.isoformat(), "arguments": arguments}
    return {**known, "is_doubt": refusal.is_doubt}


def _to_refusal(value: Mapping[str, Any]) -> Refusal:
    arguments = {
        name: datetime.fromisoformat(each) if isinstance(each, str) else None if each is None else int(each)
        for name, each in value["arguments"].items()
    }
    at, is_doubt = datetime.fromisoformat(value["at"]), bool(value["is_doubt"])
    return Refusal(step=Step(value["step"]), key=str(value["key"]), at=at, arguments=arguments, is_doubt=is_doubt)


def _from_terms(terms: RequestTerms) -> Mapping[str, object]:
    return {**asdict(terms), "ends_at": terms.ends_at and terms.ends_at.isoformat()}


def _to_terms(value: dict[str, Any]) -> RequestTerms:
    ends_at = value["ends_at"]
    return RequestTerms(**{**value, "ends_at": ends_at and datetime.fromisoformat(ends_at)})
