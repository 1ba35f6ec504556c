"""The inbox: updates that were received, and jobs of features, in a chat until they are finished."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from typing import Any, Final, Self

from sqlalchemy import Select, bindparam, delete, func, select, update

from bot.core.clock import Clock
from bot.infra.db import encryption
from bot.infra.db.columns import MALFORMED, POSTGRESQL, Json, is_in_json
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.repository import Repository, insert_all_new, once, split_into_batches
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import DB_NOW, held_by_others
from bot.infra.telegram.inbound.tables import IS_UNFINISHED, JOBS_LAST, UPDATE, inbox

EARLIEST = datetime.min.replace(tzinfo=UTC)

LATE_WITHIN: Final = timedelta(minutes=10)
"""How long ids tell which of two updates is the later one. Telegram can begin with new ids after a pause."""

KEEP_FINISHED: Final = timedelta(hours=48)
"""How long the bot keeps the ids of finished updates. Telegram sends updates again for up to 24 hours."""

CLEANUP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update from Telegram, or a job of a feature, saved until it is finished.

    Attributes:
        id: the update's id. That of a job is negative.
        kind: `UPDATE`, or the kind of a job.
        body: the update as JSON, or what a job is about, such as the id of a draft.
        received_at: when it was saved.
        handled_by: the feature's word for what handled the update, saved in the transaction that did.
        source: the bot and the server that count the ids of updates (`name_source`).
    """

    id: int
    chat_id: int
    kind: str = UPDATE
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0
    handled_by: str | None = None
    source: str = ""

    @classmethod
    def job(cls, chat_id: int, kind: str, argument: str, now: datetime) -> Self:
        """Return a job. The same job always has the same id."""
        digest = blake2s(f"{chat_id} {kind} {argument}".encode(), digest_size=8).digest()
        job_id = -1 - (int.from_bytes(digest) >> 1)
        return cls(id=job_id, chat_id=chat_id, kind=kind, body=argument, received_at=now)

    @property
    def is_update(self) -> bool:
        """Whether it is an update."""
        return self.kind == UPDATE

    async def finish(self, tx: Transaction) -> None:
        """Delete a job, in the transaction that does its work. After a crash it is then done or not even begun."""
        await tx.connection.execute(delete(inbox).where(inbox.c.id == self.id))


JobHandler = Callable[[InboxItem], Awaitable[None]]
"""Does a job. It calls `finish` in the transaction of its effect. If there is nothing to do, it just returns."""

Finish = Callable[[Transaction], Awaitable[None]]
"""`InboxItem.finish`, for a function that has an effect and knows no jobs."""


async def no_job(_tx: Transaction) -> None:
    """Do nothing: the effect isn't that of a job."""


class Inbox:
    """Adds jobs, and deletes updates that were finished long ago.

    The process that has the chat does a job after the chat's waiting updates. Jobs survive a crash.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.on_added: Callable[[], None] = lambda: None
        """Called when there is a new job. Features are built before the queues of the chats, which it wakes."""

    async def add_job(self, chat_id: int, kind: str, argument: str = "") -> None:
        """Add a job, unless the same one waits already."""
        async with self._database.transaction() as tx:
            is_new = await InboxRepository(tx).add([InboxItem.job(chat_id, kind, argument, self._clock.now())])
        if is_new:
            self.on_added()

    async def clean_up(self) -> float:
        """Delete updates that were finished long ago, and return the seconds until the next call."""
        async with self._database.transaction() as tx:
            await InboxRepository(tx).delete_finished(self._clock.now() - KEEP_FINISHED)
        return CLEANUP_SECONDS


class InboxRepository(Repository[InboxItem]):
    """Reads and writes the inbox in one transaction. An update is committed before it is acknowledged to Telegram."""

    table, kind = inbox, InboxItem

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Save updates or jobs. Return the ids of those that are new."""
        rows = [{**self._seal(item), "finished_at": None} for item in items]
        return await insert_all_new(self._connection, inbox, rows, inbox.c.id)

    async def find_unfinished(
        self, chat_id: int, *, known: Collection[int] = (), limit: int = 50
    ) -> tuple[InboxItem, ...]:
        """Return what is unfinished in a chat without those in `known`: updates as they were received, then jobs."""
        # Updates that are being handled are excluded by their ids. A later update can have a lower id than all of them.
        unfinished = once(
            lambda: (
                select(*(column for column in inbox.c if column is not inbox.c.finished_at))
                .where(IS_UNFINISHED, inbox.c.chat_id == bindparam("chat"))
                .where(~is_in_json(inbox.c.id, bindparam("known", type_=Json())))
                .order_by(JOBS_LAST, inbox.c.received_at, inbox.c.id)
                .limit(bindparam("limit"))
            )
        )
        values = {"chat": chat_id, "known": list(known), "limit": limit}
        found = await self._connection.execute(unfinished, values)
        return tuple(self._read_item(row) for row in found.mappings())

    def _read_item(self, row: Mapping[Any, Any]) -> InboxItem:
        """Return an item of the inbox. A damaged one gets an empty body and is dropped after its attempts."""
        try:
            return encryption.read_row(self._vault, inbox, dict(row), self._to_value)
        except RowUnreadable:
            received_at = EARLIEST if row["received_at"] is MALFORMED else row["received_at"]
            return InboxItem(**{**row, "body": "", "received_at": received_at})

    async def find_waiting(self, owner: str, limit: int, *, left: Collection[int] = ()) -> Mapping[int, int]:
        """Return the chats with work that no other process than `owner` holds, each with the number of its rows.

        The chat that has waited longest comes first, and those with jobs alone come last. The rows `left` don't count.
        """
        waiting = (
            select(inbox.c.chat_id, func.count().label("work"))
            .where(
                IS_UNFINISHED,
                ~is_in_json(inbox.c.id, bindparam("left", type_=Json())),
                ~held_by_others(inbox.c.chat_id),
            )
            .group_by(inbox.c.chat_id)
            .order_by(func.min(JOBS_LAST), func.min(inbox.c.received_at), func.min(inbox.c.id))
            .limit(limit)
        )
        rows = await self._connection.execute(waiting, {"me": owner, "left": list(left)})
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
        return await self._connection.scalar(_find_later_ids(item).where(inbox.c.id == update_id)) is not None

    async def read_time(self, clock: Clock) -> datetime:
        """Return the time at which updates are received: PostgreSQL's, because the clocks of its processes differ.

        On SQLite there is one process, and it is the time of `clock`.
        """
        if self._connection.dialect.name != POSTGRESQL:
            return clock.now()
        found: datetime = (await self._connection.execute(DB_NOW)).scalar_one()
        return found

    async def count_unfinished(self) -> int:
        """Return how many updates and jobs are unfinished."""
        return await self._count(IS_UNFINISHED)

    async def count_attempt(self, item_id: int, by: int = 1) -> None:
        """Count one more attempt, or with -1 take one back."""
        await self._change(update(inbox).where(inbox.c.id == item_id).values(attempts=inbox.c.attempts + by))

    async def finish(self, ids: Collection[int], at: datetime) -> None:
        """Mark updates as finished, and delete jobs.

        The text of an update is deleted at once, its id by `delete_finished`: Telegram can send the update again.
        """
        unfinished = once(lambda: update(inbox).where(inbox.c.id.in_(bindparam("ids", expanding=True)), IS_UNFINISHED))
        for some in split_into_batches([each for each in ids if each >= 0]):
            await self._change(unfinished, {"ids": some, "finished_at": at, "body": ""})
        if jobs := [each for each in ids if each < 0]:
            await self._change(delete(inbox).where(inbox.c.id.in_(jobs)))

    async def delete_job(self, job_id: int) -> int:
        """Delete a job that isn't done. Return how many there were."""
        return await self._change(delete(inbox).where(inbox.c.id == job_id, inbox.c.kind != UPDATE))

    async def delete_finished(self, before: datetime) -> int:
        """Delete updates that were finished before then. Return how many."""
        return await self._change(delete(inbox).where(inbox.c.finished_at < before))


async def mark_handled(tx: Transaction, update_id: int, by: str) -> None:
    """Save what has handled an update, in the transaction that does. It isn't handled again."""
    one = once(lambda: update(inbox).where(inbox.c.id == bindparam("taken")))
    await tx.connection.execute(one, {"taken": update_id, "handled_by": by})


def _find_later_ids(item: InboxItem) -> Select[Any]:
    """Return the query for the updates of the chat whose ids say that they are later, of the last minutes."""
    since = max(item.received_at, EARLIEST + LATE_WITHIN) - LATE_WITHIN
    return select(inbox.c.id).where(
        inbox.c.id > item.id,
        inbox.c.chat_id == item.chat_id,
        inbox.c.received_at > since,
        inbox.c.source == item.source,
    )
