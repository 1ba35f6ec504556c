"""Updates on their way from Telegram to the conversation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.columns import MALFORMED
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.tables import IS_UNFINISHED, inbox

LONG_AGO = datetime.min.replace(tzinfo=UTC)
ITEM = (inbox.c.update_id, inbox.c.chat_id, inbox.c.body, inbox.c.received_at, inbox.c.attempts, inbox.c.handled_by)

# Those in hand are left out by their ids, not by their order: a late update may have a lower id than all of them.
WAITING = (
    select(*ITEM)
    .where(
        IS_UNFINISHED,
        inbox.c.chat_id == bindparam("chat"),
        inbox.c.update_id.not_in(bindparam("known", expanding=True)),
    )
    .order_by(inbox.c.received_at, inbox.c.update_id)
    .limit(bindparam("limit"))
)
CHATS = (
    select(inbox.c.chat_id)
    .where(IS_UNFINISHED)
    .group_by(inbox.c.chat_id)
    .order_by(func.min(inbox.c.received_at), func.min(inbox.c.update_id))
)
THESE = inbox.c.update_id.in_(bindparam("ids", expanding=True))
COUNT = update(inbox).where(THESE).values(attempts=inbox.c.attempts + 1)
# What somebody wrote is needed no longer; that the update was dealt with still is.
TAKE = update(inbox).where(inbox.c.update_id == bindparam("taken")).values(handled_by=bindparam("by"))
FINISH = update(inbox).where(THESE, IS_UNFINISHED).values(finished_at=bindparam("at"), body="")
FORGET = delete(inbox).where(inbox.c.finished_at < bindparam("before"))


class InboxRepository:
    """Read and write updates, which are committed before Telegram hears that they arrived."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Keep those not seen before; their update ids."""
        rows = [encryption.seal_row(self._vault, inbox, {**asdict(item), "finished_at": None}) for item in items]
        return await upsert.insert_all_new(self._connection, inbox, rows, inbox.c.update_id)

    async def waiting(self, chat_id: int, *, known: Collection[int] = (), limit: int = 50) -> tuple[InboxItem, ...]:
        """Return the unfinished updates of a chat but for those that are `known`, in the order in which they came."""
        found = await self._connection.execute(WAITING, {"chat": chat_id, "known": tuple(known), "limit": limit})
        return tuple(self._item(row) for row in found.mappings())

    def _item(self, row: Mapping[Any, Any]) -> InboxItem:
        """Return the item. An unreadable one has no body, and is set aside like an update that isn't understood."""
        item = encryption.read_row_or_none(self._vault, inbox, dict(row), _item)
        if item is not None:
            return item
        return InboxItem(
            update_id=row["update_id"],
            chat_id=row["chat_id"],
            body="",
            received_at=LONG_AGO if row["received_at"] is MALFORMED else row["received_at"],
            attempts=row["attempts"],
            handled_by=row["handled_by"],
        )

    async def chats_waiting(self) -> tuple[int, ...]:
        """Return the chats that have unfinished updates, the longest waiting first."""
        return tuple((await self._connection.execute(CHATS)).scalars())

    async def count_attempt(self, update_ids: Collection[int]) -> None:
        """One more attempt at each of these."""
        for ids in upsert.split_into_batches(update_ids):
            await self._connection.execute(COUNT, {"ids": ids})

    async def finish(self, update_ids: Collection[int], at: datetime) -> None:
        """Mark updates as handled. Their text is deleted at once, their ids only by `forget_finished`."""
        for ids in upsert.split_into_batches(update_ids):
            await self._connection.execute(FINISH, {"ids": ids, "at": at})

    async def forget_finished(self, before: datetime) -> int:
        """Delete those finished before; how many they were."""
        return (await self._connection.execute(FORGET, {"before": before})).rowcount


def _item(known: dict[str, Any]) -> InboxItem:
    return InboxItem(**known)
