"""Reads and writes of leases in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    bindparam,
    case,
    delete,
    exists,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from bot.infra.db import upsert
from bot.infra.db.db_time import db_microseconds, db_time_in
from bot.infra.db.lease_tables import LEADER, chat_leases, leader_lease
from bot.infra.db.transaction import Transaction

NO_OWNER = ""
OWNER = bindparam("me", type_=chat_leases.c.owner.type)
LASTS = db_time_in(bindparam("lease_seconds", type_=Integer()))
NOW = db_time_in(literal(0, Integer()))
NEXT_EPOCH = case(
    (chat_leases.c.epoch >= db_microseconds(), chat_leases.c.epoch + 1),
    else_=db_microseconds(),
)
MINE = {"owner": OWNER, "expires_at": LASTS}
IDS: BindParameter[int] = bindparam("ids", expanding=True)


def held_by_others(chat_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that another process holds the lease of a chat. The parameter `me` is this process."""
    return exists().where(
        chat_leases.c.chat_id == chat_id, chat_leases.c.owner != OWNER, chat_leases.c.expires_at > NOW
    )


# Rows are always locked in the same order, so that two transactions never wait for each other. Prolonging a lease waits
# for no work under it, and the other way round: only who takes a lease over changes its key (`key_share`).
IN_ORDER = chat_leases.c.chat_id
INSERTED = {"owner": OWNER, "expires_at": LASTS, "epoch": db_microseconds(), "chat_id": bindparam("chat")}
TAKE_OVER = (
    update(chat_leases)
    .where(
        chat_leases.c.chat_id.in_(
            select(chat_leases.c.chat_id)
            .where(chat_leases.c.chat_id.in_(IDS), or_(chat_leases.c.expires_at <= NOW, chat_leases.c.owner == OWNER))
            .order_by(IN_ORDER)
            .with_for_update(skip_locked=True)
        )
    )
    .values({**MINE, "epoch": NEXT_EPOCH})
    .returning(chat_leases.c.chat_id, chat_leases.c.epoch)
)
KEEP = (
    update(chat_leases)
    .where(
        chat_leases.c.chat_id.in_(
            select(chat_leases.c.chat_id)
            .where(chat_leases.c.owner == OWNER)
            .order_by(IN_ORDER)
            .with_for_update(key_share=True)
        )
    )
    .values(expires_at=LASTS)
    .returning(chat_leases.c.chat_id, chat_leases.c.epoch)
)
LOCK = (
    select(chat_leases.c.chat_id, chat_leases.c.epoch)
    .where(chat_leases.c.chat_id.in_(IDS), chat_leases.c.owner == OWNER)
    .order_by(IN_ORDER)
    .with_for_update(read=True, key_share=True)
)
ENDED_OWNERS = (
    select(chat_leases.c.owner)
    .where(chat_leases.c.chat_id.in_(IDS), chat_leases.c.expires_at <= NOW, chat_leases.c.owner != OWNER)
    .distinct()
)
RELEASE = delete(chat_leases).where(
    chat_leases.c.owner == OWNER,
    tuple_(chat_leases.c.chat_id, chat_leases.c.epoch).in_(bindparam("held", expanding=True)),
)
EXPIRE_ALL = update(chat_leases).values(expires_at=NOW)
DELETE_ENDED = delete(chat_leases).where(
    chat_leases.c.expires_at < db_time_in(bindparam("ago", type_=Integer())),
)

LEAD_INSERTED = {"id": LEADER, "owner": OWNER, "expires_at": LASTS, "epoch": 1}
LEAD_TAKE = (
    update(leader_lease)
    .where(
        leader_lease.c.id == LEADER,
        or_(leader_lease.c.expires_at <= NOW, literal(1, Integer()) == bindparam("alone", type_=Integer())),
    )
    .values({**MINE, "epoch": leader_lease.c.epoch + 1})
    .returning(leader_lease.c.epoch)
)
IS_MY_LEAD = (leader_lease.c.owner == OWNER, leader_lease.c.epoch == bindparam("led_epoch"))
LEAD_KEEP = update(leader_lease).where(*IS_MY_LEAD, leader_lease.c.expires_at > NOW).values(expires_at=LASTS)
LEAD_LOCK = select(leader_lease.c.epoch).where(*IS_MY_LEAD).with_for_update(read=True)
# Without the owner, so that the next leader doesn't take it for a process that died.
LEAD_RELEASE = update(leader_lease).where(*IS_MY_LEAD).values(expires_at=NOW, owner=NO_OWNER)
LAST_LEAD = select(leader_lease.c.owner, leader_lease.c.expires_at <= NOW)
DB_NOW = select(NOW)


class LeaseRepository:
    """Takes, keeps and releases leases of one owner.

    Args:
        tx: the transaction.
        owner: the random id of this process.
    """

    def __init__(self, tx: Transaction, owner: str) -> None:
        self._connection = tx.connection
        self._owner = owner

    async def claim_new(self, chat_ids: Collection[int], lease_seconds: int) -> Mapping[int, int]:
        """Take chats that have no lease. Return the epoch of each one taken."""
        insert = upsert.build_insert_new(self._connection.dialect.name, chat_leases).values(INSERTED)
        statement = insert.returning(chat_leases.c.chat_id, chat_leases.c.epoch)
        rows = [{"chat": chat_id, "me": self._owner, "lease_seconds": lease_seconds} for chat_id in sorted(chat_ids)]
        return _epochs((await self._connection.execute(statement, rows)).all())

    async def take_over(self, chat_ids: Collection[int], lease_seconds: int) -> Mapping[int, int]:
        """Take chats whose lease has ended. Return the epoch of each one taken. Skip rows that others lock."""
        values = {"ids": sorted(chat_ids), "me": self._owner, "lease_seconds": lease_seconds}
        return _epochs((await self._connection.execute(TAKE_OVER, values)).all())

    async def keep(self, lease_seconds: int) -> Mapping[int, int]:
        """Prolong all leases of this process. Return the epochs of those that it still has."""
        values = {"me": self._owner, "lease_seconds": lease_seconds}
        return _epochs((await self._connection.execute(KEEP, values)).all())

    async def find_ended_owners(self, chat_ids: Collection[int]) -> Collection[str]:
        """Return the other processes whose lease of any of these chats has ended, although they didn't release it."""
        values = {"ids": sorted(chat_ids), "me": self._owner}
        return (await self._connection.execute(ENDED_OWNERS, values)).scalars().all()

    async def lock(self, chat_ids: Collection[int]) -> Mapping[int, int]:
        """Lock the rows of chats that this process has until the end of the transaction. Return their epochs."""
        values = {"ids": sorted(chat_ids), "me": self._owner}
        return _epochs((await self._connection.execute(LOCK, values)).all())

    async def release(self, held: Mapping[int, int]) -> None:
        """Delete leases of this process, each given with its epoch."""
        for some in upsert.split_into_batches(held.items()):
            await self._connection.execute(RELEASE, {"me": self._owner, "held": some})

    async def expire_all(self) -> None:
        """End all leases at once. Only a process that is certainly alone may do that."""
        await self._connection.execute(EXPIRE_ALL)

    async def delete_ended(self, seconds_ago: int) -> int:
        """Delete leases that ended so many seconds ago, of chats in which nothing happened since. Return how many."""
        return (await self._connection.execute(DELETE_ENDED, {"ago": -seconds_ago})).rowcount

    async def lead(self, lease_seconds: int, *, is_alone: bool) -> int | None:
        """Become the leader if nobody leads. Return the epoch, or None. A process that is alone always becomes it."""
        values = {"me": self._owner, "lease_seconds": lease_seconds}
        taken = await self._connection.scalar(LEAD_TAKE, {**values, "alone": int(is_alone)})
        if taken is not None:
            return int(taken)
        insert = upsert.build_insert_new(self._connection.dialect.name, leader_lease).values(LEAD_INSERTED)
        inserted = await self._connection.execute(insert, values)
        return 1 if inserted.rowcount == 1 else None

    async def find_lead(self) -> tuple[str, bool] | None:
        """Return the owner of the lead and whether it has ended, or None if no process has ever led.

        The owner is empty if it was released.
        """
        found = (await self._connection.execute(LAST_LEAD)).one_or_none()
        return None if found is None else (found[0], bool(found[1]))

    async def keep_lead(self, epoch: int, lease_seconds: int) -> bool:
        """Prolong the lead. Return False if it was lost."""
        values = {"me": self._owner, "led_epoch": epoch, "lease_seconds": lease_seconds}
        return (await self._connection.execute(LEAD_KEEP, values)).rowcount == 1

    async def lock_lead(self, epoch: int) -> bool:
        """Lock the leader's row until the end of the transaction. Return False if this process no longer leads."""
        return await self._connection.scalar(LEAD_LOCK, {"me": self._owner, "led_epoch": epoch}) is not None

    async def release_lead(self, epoch: int) -> None:
        """End the lead, so that another process can become the leader at once."""
        await self._connection.execute(LEAD_RELEASE, {"me": self._owner, "led_epoch": epoch})

    async def is_led(self) -> bool:
        """Return whether any process leads."""
        lead = await self.find_lead()
        return lead is not None and not lead[1]

    async def get_time(self) -> datetime:
        """Return the time of the database's clock."""
        found: datetime = (await self._connection.execute(DB_NOW)).scalar_one()
        return found


def _epochs(rows: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    return dict(rows)
