"""The record of a process on PostgreSQL. One version of the program and one set of keys work at a time.

Each process records its version (the revision of the tables that it expects) and its keys. Recording and comparing are
one transaction under a lock, so of two that differ only one works. The other one waits until no record is left.

A process that is frozen or cut off can come back when its record has ended, and others may work by then. So it compares
again before it reads or writes one more row. On SQLite the lock on the file does all of this.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final, NoReturn

import structlog
from sqlalchemy import BindParameter, Interval, bindparam, delete, func, literal, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert

from bot.core.clock import seconds_with_sleep
from bot.infra.db import keys, migrate
from bot.infra.db.columns import Instant
from bot.infra.db.errors import SchemaMismatch, StoreDown, StoreError
from bot.infra.db.fence import LeaseLost
from bot.infra.db.postgresql import end_sessions_of
from bot.infra.db.tables import processes
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import MissingKey

log = structlog.get_logger(__name__)

KEEP_RECORD_SECONDS: Final = 4.0
RECORD_SECONDS: Final = 15
"""How long a record lasts unless its process keeps it."""

MARGIN_SECONDS: Final = 1.0
"""How much earlier its process regards it as ended. A transaction that began just before is then over, or nearly."""

OTHER_VERSION: Final = "a process of another version works on the database"
OTHER_KEYS: Final = "a process with other ENCRYPTION_KEYS works on the database"

OWNER: BindParameter[str] = bindparam("me", type_=processes.c.owner.type)
NOW = func.clock_timestamp(type_=Instant())
LASTS = NOW + literal(timedelta(seconds=RECORD_SECONDS), Interval())
RECORD = (
    insert(processes)
    .values(
        owner=OWNER,
        revision=bindparam("known_revision", type_=processes.c.revision.type),
        key_names=bindparam("names", type_=processes.c.key_names.type),
        expires_at=LASTS,
    )
    .on_conflict_do_update(index_elements=[processes.c.owner], set_={"expires_at": LASTS})
)
OTHERS = select(processes.c.revision, processes.c.key_names).where(
    processes.c.expires_at > NOW, processes.c.owner != OWNER
)
TOUCH = update(processes).where(processes.c.owner == OWNER).values(expires_at=processes.c.expires_at)
KEEP = update(processes).where(processes.c.owner == OWNER, processes.c.expires_at > NOW).values(expires_at=LASTS)
DELETE_ONE = delete(processes).where(processes.c.owner == OWNER)
DELETE_EXPIRED = (
    delete(processes)
    .where(processes.c.expires_at <= NOW)
    .returning(processes.c.owner, processes.c.revision, processes.c.key_names)
)
LOCK = select(func.pg_advisory_xact_lock(literal_column("3"), literal_column("0")))


class Replaced(StoreError, LeaseLost):
    """Other processes work on the database since this one's record has ended. It leaves all work to them, and ends."""


class ProcessRecord:
    """Records this process, keeps the record, and compares it with those of others.

    Args:
        begin: opens a transaction on the connection that keeps leases.
        owner: the random id of this process.
        seconds: a monotonic clock that goes on while the machine sleeps.
    """

    def __init__(
        self,
        begin: Callable[[], AbstractAsyncContextManager[Transaction]],
        owner: str,
        *,
        seconds: Callable[[], float] = seconds_with_sleep,
    ) -> None:
        self._begin = begin
        self._owner = owner
        self._seconds = seconds
        self._ends_at = float("inf")
        self._renewing = asyncio.Lock()
        self._replaced: Replaced | None = None

    @property
    def has_ended(self) -> bool:
        """Whether others may work since this process was recorded. A command that isn't recorded may always work."""
        return self._seconds() >= self._ends_at

    async def join(self) -> str:
        """Record this process. Return an empty text, or why it has to wait.

        Raises:
            MissingKey: the database needs a key that this process doesn't have.
        """
        began = self._seconds()
        async with self._begin() as tx:
            reason = await self._record(tx)
        if not reason:
            self._prolong(began)
        return reason

    async def run(self) -> NoReturn:
        """Keep the record until cancelled.

        Raises:
            Replaced: others work on the database.
        """
        while True:
            await asyncio.sleep(KEEP_RECORD_SECONDS)
            try:
                if not await self._keep():
                    self._ends_at = float("-inf")  # whatever this clock says
                    await self.renew()
            except (StoreDown, TimeoutError) as error:
                log.warning("process_record_not_kept", error=type(error).__name__)

    async def _keep(self) -> bool:
        began = self._seconds()
        async with asyncio.timeout(KEEP_RECORD_SECONDS), self._begin() as tx:
            is_kept = (await tx.connection.execute(KEEP, {"me": self._owner})).rowcount == 1
        if is_kept:
            self._prolong(began)
        return is_kept

    async def renew(self) -> None:
        """Record this process again if its record has ended, unless others work.

        Raises:
            Replaced: others do.
        """
        if not self.has_ended:
            return
        async with self._renewing:
            if self._replaced is None and self.has_ended:
                began = self._seconds()
                async with self._begin() as tx:
                    self._replaced = await self._compare_again(tx)
                self._prolong(began)
            if self._replaced is not None:
                raise self._replaced

    async def compare_for_answer(self, tx: Transaction) -> None:
        """Check within `tx` that an answer of the service can be saved, although the record has ended.

        It can be saved beside others if they have the tables and the key with which this process saves.

        Raises:
            Replaced: they don't.
        """
        began = self._seconds()
        replaced = await self._compare_again(tx)
        if replaced is None:
            tx.on_commit.append(lambda: self._prolong(began))
            return
        is_same_version = await tx.connection.scalar(migrate.REVISION) == migrate.get_expected_revision()
        if not is_same_version or not await keys.is_first_key_registered(tx.connection, tx.vault):
            raise replaced

    async def leave(self) -> None:
        """Delete the record of this process, which ends."""
        self._ends_at = float("inf")
        async with self._begin() as tx:
            await tx.connection.execute(DELETE_ONE, {"me": self._owner})

    async def find_others(self, tx: Transaction) -> list[list[str]]:
        """Return the names of the keys of every other living process, the sealing one first."""
        return [names for _, names in await tx.connection.execute(OTHERS, {"me": self._owner})]

    async def _compare_again(self, tx: Transaction) -> Replaced | None:
        try:
            reason = await self._record(tx, must_be_current=True)
        except (MissingKey, SchemaMismatch) as error:
            reason = str(error)
        if not reason:
            return None
        log.error("process_replaced", reason=reason)
        return Replaced(reason)

    async def _record(self, tx: Transaction, *, must_be_current: bool = False) -> str:
        """Record this process unless another one differs. Return how, or an empty text."""
        connection, mine = tx.connection, (migrate.get_expected_revision(), list(tx.vault.key_names_in_order))
        await connection.execute(LOCK)
        ended = (await connection.execute(DELETE_EXPIRED)).all()
        # What they have open could still be committed.
        await end_sessions_of(tx, [owner for owner, *other in ended if tuple(other) != mine])
        found: str | None = await connection.scalar(migrate.REVISION)
        migrate.check_upgradable(found)
        await keys.check_keys(connection, tx.vault)
        for revision, names in await connection.execute(OTHERS, {"me": self._owner}):
            if (revision, names) != mine:
                return OTHER_KEYS if revision == mine[0] else OTHER_VERSION
        if must_be_current and found != mine[0]:
            return OTHER_VERSION
        await keys.register_first_key(connection, tx.vault)
        await connection.execute(RECORD, {"me": self._owner, "known_revision": mine[0], "names": mine[1]})
        return ""

    def _prolong(self, began: float) -> None:
        if self._replaced is None:
            self._ends_at = began + RECORD_SECONDS - MARGIN_SECONDS
