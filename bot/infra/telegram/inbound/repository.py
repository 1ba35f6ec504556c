"""Reads and writes of the inbox: updates that were received and not finished yet."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, func, select, update

from bot.core.clock import Clock
from bot.infra.db import encryption, upsert
from bot.infra.db.columns import MALFORMED, POSTGRESQL
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.repository import Repository
from bot.infra.db.statements import once
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


class InboxRepository(Repository[InboxItem]):
    """Reads and writes updates in one transaction. Their commit comes before the acknowledgement to Telegram."""

    table, kind = inbox, InboxItem

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self.left = set[int]()
        """The updates that `find_unfinished` has left out, because only others can read them."""

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Save new updates. Return the ids of those that are new."""
        rows = [{**self._seal(item), "finished_at": None} for item in items]
        return await upsert.insert_all_new(self._connection, inbox, rows, inbox.c.update_id)

    async def find_unfinished(
        self, chat_id: int, *, known: Collection[int] = (), limit: int = 50
    ) -> tuple[InboxItem, ...]:
        """Return the unfinished updates of a chat without those in `known`, in the order they were received.

        Those that only others can read are left out.
        """
        # Updates that are being handled are excluded by their ids. A later update can have a lower id than all of them.
        unfinished = once(
            lambda: (
                select(*ITEM_COLUMNS)
                .where(IS_UNFINISHED, inbox.c.chat_id == bindparam("chat"))
                .where(inbox.c.update_id.not_in(bindparam("known", expanding=True)))
                .order_by(inbox.c.received_at, inbox.c.update_id)
                .limit(bindparam("limit"))
            )
        )
        values = {"chat": chat_id, "known": tuple(known), "limit": limit}
        found = await self._connection.execute(unfinished, values)
        items = (self._read_item(row) for row in found.mappings())
        return tuple(item for item in items if item is not None)

    def _read_item(self, row: Mapping[Any, Any]) -> InboxItem | None:
        """Return an item of the inbox. A damaged one gets an empty body and is dropped after its attempts."""
        try:
            return encryption.read_row(self._vault, inbox, dict(row), self._to_value)
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
        waiting = (
            select(inbox.c.chat_id, func.count().label("work"))
            .where(IS_UNFINISHED, ~held_by_others(inbox.c.chat_id))
            .group_by(inbox.c.chat_id)
            .order_by(func.min(inbox.c.received_at), func.min(inbox.c.update_id))
            .limit(limit)
        )
        rows = await self._connection.execute(waiting, {"me": owner})
        return {row.chat_id: row.work for row in rows}

    async def is_overtaken(self, item: InboxItem) -> bool:
        """Return whether a later update of the chat was received before this one, within the last minutes.

        Webhooks don't keep the order between messages and presses. Each server counts ids up as the users of a bot
        act, so ids of another bot or server mean nothing here.
        """
        overtaking = _find_later_ids(item).where(inbox.c.received_at < item.received_at)
        return await self._connection.scalar(overtaking.limit(1)) is not None

    async def is_earlier_than(self, item: InboxItem, update_id: int) -> bool:
        """Return whether the update `update_id`, which was received in the last minutes, is later than `item`."""
        return await self._connection.scalar(_find_later_ids(item).where(inbox.c.update_id == update_id)) is not None

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
        return await self._count(IS_UNFINISHED)

    async def count_attempt(self, update_ids: Collection[int]) -> None:
        """Count one more attempt for each of these updates."""
        for ids in upsert.split_into_batches(update_ids):
            await self._change(update(inbox).where(inbox.c.update_id.in_(ids)).values(attempts=inbox.c.attempts + 1))

    async def finish(self, update_ids: Collection[int], at: datetime) -> None:
        """Mark updates as finished. Their text is deleted at once, their ids by `delete_finished`."""
        unfinished = once(
            lambda: update(inbox).where(inbox.c.update_id.in_(bindparam("ids", expanding=True)), IS_UNFINISHED)
        )
        # The text is deleted at once. The id stays, because Telegram can send the update again.
        finished = {"finished_at": at, "body": ""}
        for ids in upsert.split_into_batches(update_ids):
            await self._change(unfinished, {"ids": ids, **finished})

    async def delete_finished(self, before: datetime) -> int:
        """Delete updates that were finished before then. Return how many."""
        return await self._change(delete(inbox).where(inbox.c.finished_at < before))


async def mark_handled(tx: Transaction, update_id: int, by: str) -> None:
    """Save what has handled an update, in the transaction that does. It isn't handled again."""
    one = once(lambda: update(inbox).where(inbox.c.update_id == bindparam("taken")))
    await tx.connection.execute(one, {"taken": update_id, "handled_by": by})


def _find_later_ids(item: InboxItem) -> Select[Any]:
    """Return the query for the updates of the chat whose ids say that they are later, of the last minutes."""
    since = max(item.received_at, EARLIEST + LATE_WITHIN) - LATE_WITHIN
    return select(inbox.c.update_id).where(
        inbox.c.update_id > item.update_id,
        inbox.c.chat_id == item.chat_id,
        inbox.c.received_at > since,
        inbox.c.source == item.source,
    )
