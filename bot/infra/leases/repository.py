"""The rows of leases. There are some on PostgreSQL alone."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, TextClause, bindparam, exists, func, select, text

from bot.infra.db.columns import Instant
from bot.infra.db.postgresql import end_sessions_of
from bot.infra.db.tables import chat_leases
from bot.infra.db.transaction import Transaction

LEASE_SECONDS: Final = 5
"""How long a lease lasts if its owner doesn't keep it."""

LEAD: Final = 0
"""The id of the lead, which is a lease like that of a chat. No chat has this id."""

NOW = func.clock_timestamp(type_=Instant())
DB_NOW = select(NOW)
OWNER = bindparam("me", type_=chat_leases.c.owner.type)

# Rows are always locked in the same order, so that two transactions never wait for each other. Prolonging a lease waits
# for no work under it, and the other way round: only who takes a lease over locks its row alone (FOR UPDATE).
CLAIM_NEW: Final = text("""
    INSERT INTO chat_leases (chat_id, owner, expires_at, epoch)
    SELECT id, :me, clock_timestamp() + make_interval(secs => :seconds),
        CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)
    FROM unnest(CAST(:ids AS bigint[])) AS id ORDER BY id
    ON CONFLICT DO NOTHING RETURNING chat_id, epoch
""")
ENDED_OWNERS: Final = text("""
    SELECT DISTINCT owner FROM chat_leases
    WHERE chat_id = ANY(CAST(:ids AS bigint[])) AND expires_at <= clock_timestamp() AND owner <> :me
""")
TAKE_OVER: Final = text("""
    UPDATE chat_leases SET owner = :me, expires_at = clock_timestamp() + make_interval(secs => :seconds),
        epoch = greatest(epoch + 1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))
    WHERE chat_id IN (
        SELECT chat_id FROM chat_leases
        WHERE chat_id = ANY(CAST(:ids AS bigint[])) AND (expires_at <= clock_timestamp() OR owner = :me)
        ORDER BY chat_id FOR UPDATE SKIP LOCKED
    ) RETURNING chat_id, epoch
""")
KEEP: Final = text("""
    UPDATE chat_leases SET expires_at = clock_timestamp() + make_interval(secs => :seconds)
    WHERE chat_id IN (
        SELECT chat_id FROM chat_leases
        WHERE chat_id = ANY(CAST(:ids AS bigint[])) AND owner = :me
        ORDER BY chat_id FOR NO KEY UPDATE
    ) RETURNING chat_id, epoch
""")
LOCK: Final = text("""
    SELECT chat_id, epoch FROM chat_leases WHERE chat_id = ANY(CAST(:ids AS bigint[])) AND owner = :me
    ORDER BY chat_id FOR KEY SHARE
""")
RELEASE: Final = text("""
    DELETE FROM chat_leases WHERE owner = :me
    AND (chat_id, epoch) IN (SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:epochs AS bigint[])))
""")
# An hour, so that whoever takes a chat over knows that its process was lost.
DELETE_ENDED: Final = text("""
    DELETE FROM chat_leases WHERE chat_id IN (
        SELECT chat_id FROM chat_leases WHERE expires_at < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED
    )
""")


def held_by_others(chat_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that another process holds the lease of a chat. The parameter `me` is this process.

    SQLite has no rows of leases.
    """
    # Not `clock_timestamp()`, which SQLite doesn't have. It is the time when the transaction began.
    return exists().where(
        chat_leases.c.chat_id == chat_id, chat_leases.c.owner != OWNER, chat_leases.c.expires_at > func.now()
    )


class LeaseRepository:
    """Takes, keeps and releases leases of one owner.

    Args:
        tx: the transaction.
        owner: the random id of this process.
    """

    def __init__(self, tx: Transaction, owner: str) -> None:
        self._tx = tx
        self._connection = tx.connection
        self._owner = owner

    async def claim_new(self, chat_ids: Collection[int]) -> Mapping[int, int]:
        """Take chats that have no lease. Return the epoch of each one taken."""
        return await self._get_epochs(CLAIM_NEW, chat_ids)

    async def take_over(self, chat_ids: Collection[int]) -> Mapping[int, int]:
        """Take chats whose lease has ended, or is this process's own. Return the epoch of each one taken.

        The sessions of their processes are ended first, because they can hold the rows. Rows that others lock are
        skipped.
        """
        ended = (await self._connection.execute(ENDED_OWNERS, self._values(chat_ids))).scalars().all()
        await end_sessions_of(self._tx, ended)
        return await self._get_epochs(TAKE_OVER, chat_ids)

    async def keep(self, chat_ids: Collection[int]) -> Mapping[int, int]:
        """Prolong leases of this process. Return the epochs of those that it still has."""
        return await self._get_epochs(KEEP, chat_ids)

    async def lock(self, chat_ids: Collection[int]) -> Mapping[int, int]:
        """Lock the rows of chats that this process has until the end of the transaction. Return their epochs."""
        return await self._get_epochs(LOCK, chat_ids)

    async def release(self, held: Mapping[int, int]) -> None:
        """Delete leases of this process, each given with its epoch."""
        if held:
            await self._connection.execute(RELEASE, {**self._values(held), "epochs": list(held.values())})

    async def delete_ended(self) -> None:
        """Delete leases that ended long ago, of chats in which nothing happened since."""
        await self._connection.execute(DELETE_ENDED)

    async def get_time(self) -> datetime:
        """Return the time of the database's clock."""
        found: datetime = await self._connection.scalar(DB_NOW)
        return found

    async def _get_epochs(self, statement: TextClause, chat_ids: Collection[int]) -> Mapping[int, int]:
        rows: Sequence[Any] = (await self._connection.execute(statement, self._values(chat_ids))).all()
        return dict(rows)

    def _values(self, chat_ids: Collection[int]) -> Mapping[str, object]:
        return {"me": self._owner, "ids": list(chat_ids), "seconds": LEASE_SECONDS}
