"""Reads and writes of the inbox: updates that were received and not finished yet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, select, update

from bot.core.clock import Clock
from bot.infra.db import encryption, upsert
from bot.infra.db.columns import MALFORMED, POSTGRESQL
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import DB_NOW, held_by_others
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.tables import IS_UNFINISHED, inbox

EARLIEST = datetime.min.replace(tzinfo=UTC)
ITEM_COLUMNS = (
    inbox.c.update_id,
    inbox.c.chat_id,
    inbox.c.body,
    inbox.c.received_at,
    inbox.c.attempts,
    inbox.c.handled_by,
    inbox.c.source,
)

LATE_WITHIN: Final = timedelta(minutes=10)
"""How long ids tell which of two updates is the later one. Telegram can begin with new ids after a pause."""

# Updates that are being handled are excluded by their ids. A later update can have a lower id than all of them.
UNFINISHED = (
    select(*ITEM_COLUMNS)
    .where(
        IS_UNFINISHED,
        inbox.c.chat_id == bindparam("chat"),
        inbox.c.update_id.not_in(bindparam("known", expanding=True)),
    )
    .order_by(inbox.c.received_at, inbox.c.update_id)
    .limit(bindparam("limit"))
)
WAITING = (
    select(inbox.c.chat_id, func.count().label("work"))
    .where(IS_UNFINISHED, ~held_by_others(inbox.c.chat_id))
    .group_by(inbox.c.chat_id)
    .order_by(func.min(inbox.c.received_at), func.min(inbox.c.update_id))
    .limit(bindparam("limit"))
)
LATER_IDS = select(inbox.c.update_id).where(
    inbox.c.update_id > bindparam("update"),
    inbox.c.chat_id == bindparam("chat"),
    inbox.c.received_at > bindparam("since", type_=inbox.c.received_at.type),
    inbox.c.source == bindparam("source"),
)
OVERTAKING = LATER_IDS.where(inbox.c.received_at < bindparam("received", type_=inbox.c.received_at.type)).limit(1)
IS_LATER_ID = LATER_IDS.where(inbox.c.update_id == bindparam("other"))
COUNT_UNFINISHED = select(func.count()).select_from(inbox).where(IS_UNFINISHED)
HAS_ID = inbox.c.update_id.in_(bindparam("ids", expanding=True))
COUNT_ATTEMPT = update(inbox).where(HAS_ID).values(attempts=inbox.c.attempts + 1)
# The text is deleted at once. The id stays, because Telegram can send the update again.
FINISH = update(inbox).where(HAS_ID, IS_UNFINISHED).values(finished_at=bindparam("at"), body="")
DELETE_FINISHED = delete(inbox).where(inbox.c.finished_at < bindparam("before"))


class InboxRepository:
    """Reads and writes updates in one transaction. Their commit comes before the acknowledgement to Telegram."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault
        self.left = set[int]()
        """The updates that `find_unfinished` has left out, because only others can read them."""

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Save new updates. Return the ids of those that are new."""
        rows = [encryption.seal_row(self._vault, inbox, {**asdict(item), "finished_at": None}) for item in items]
        return await upsert.insert_all_new(self._connection, inbox, rows, inbox.c.update_id)

    async def find_unfinished(
        self, chat_id: int, *, known: Collection[int] = (), limit: int = 50
    ) -> tuple[InboxItem, ...]:
        """Return the unfinished updates of a chat without those in `known`, in the order they were received.

        Those that only others can read are left out.
        """
        found = await self._connection.execute(UNFINISHED, {"chat": chat_id, "known": tuple(known), "limit": limit})
        items = (self._read_item(row) for row in found.mappings())
        return tuple(item for item in items if item is not None)

    def _read_item(self, row: Mapping[Any, Any]) -> InboxItem | None:
        """Return an item of the inbox. A damaged one gets an empty body and is dropped after its attempts."""
        try:
            return encryption.read_row(self._vault, inbox, dict(row), _to_item)
        except RowUnreadable as error:
            if error.is_for_others:
                self.left.add(row["update_id"])
                return None
        return InboxItem(
            update_id=row["update_id"],
            chat_id=row["chat_id"],
            body="",
            received_at=EARLIEST if row["received_at"] is MALFORMED else row["received_at"],
            attempts=row["attempts"],
            handled_by=row["handled_by"],
            source=row["source"],
        )

    async def find_waiting(self, owner: str, limit: int) -> Mapping[int, int]:
        """Return the chats with unfinished updates that no other process than `owner` holds, each with their number.

        The chat that has waited longest comes first.
        """
        rows = await self._connection.execute(WAITING, {"me": owner, "limit": limit})
        return {row.chat_id: row.work for row in rows}

    async def is_overtaken(self, item: InboxItem) -> bool:
        """Return whether a later update of the chat was received before this one, within the last minutes.

        Webhooks don't keep the order between messages and presses. Each server counts ids up as the users of a bot
        act, so ids of another bot or server mean nothing here.
        """
        known = {**_describe(item), "received": item.received_at}
        return (await self._connection.execute(OVERTAKING, known)).first() is not None

    async def is_earlier_than(self, item: InboxItem, update_id: int) -> bool:
        """Return whether the update `update_id`, which was received in the last minutes, is later than `item`."""
        known = {**_describe(item), "other": update_id}
        return (await self._connection.execute(IS_LATER_ID, known)).first() is not None

    async def read_time(self, clock: Clock) -> datetime:
        """Return the time at which updates are received: PostgreSQL's, because the clocks of its processes differ.

        On SQLite there is one process, and it is the time of `clock`.
        """
        if self._connection.dialect.name != POSTGRESQL:
            return clock.now()
        found: datetime = (await self._connection.execute(DB_NOW)).scalar_one()
        return found

    async def count_unfinished(self) -> int:
        """Return how many updates are unfinished."""
        return int((await self._connection.execute(COUNT_UNFINISHED)).scalar_one())

    async def count_attempt(self, update_ids: Collection[int]) -> None:
        """Count one more attempt for each of these updates."""
        for ids in upsert.split_into_batches(update_ids):
            await self._connection.execute(COUNT_ATTEMPT, {"ids": ids})

    async def finish(self, update_ids: Collection[int], at: datetime) -> None:
        """Mark updates as finished. Their text is deleted at once, their ids by `delete_finished`."""
        for ids in upsert.split_into_batches(update_ids):
            await self._connection.execute(FINISH, {"ids": ids, "at": at})

    async def delete_finished(self, before: datetime) -> int:
        """Delete updates that were finished before then. Return how many."""
        return (await self._connection.execute(DELETE_FINISHED, {"before": before})).rowcount


async def mark_handled(tx: Transaction, update_id: int, by: str) -> None:
    """Save what has handled an update, in the transaction that does. It isn't handled again."""
    await tx.connection.execute(update(inbox).where(inbox.c.update_id == update_id).values(handled_by=by))


def _describe(item: InboxItem) -> dict[str, Any]:
    return {
        "update": item.update_id,
        "chat": item.chat_id,
        "source": item.source,
        "since": max(item.received_at, EARLIEST + LATE_WITHIN) - LATE_WITHIN,
    }


def _to_item(row: dict[str, Any]) -> InboxItem:
    return InboxItem(**row)
