"""The records of processes on PostgreSQL: which encryption keys each one knows.

A process begins to seal with a key only if every other process can read that. On SQLite there is one process, so it has
no record.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import BindParameter, Integer, bindparam, delete, exists, func, literal, literal_column, select, update

from bot.infra.db import upsert
from bot.infra.db.columns import MALFORMED
from bot.infra.db.db_time import db_time_in
from bot.infra.db.key_tables import sealing_keys
from bot.infra.db.lease_tables import processes
from bot.infra.db.transaction import Transaction

KEEP_RECORD_SECONDS: Final = 4.0
"""How often a process keeps its record at least."""

RECORD_SECONDS: Final = 15
"""How long a record lasts unless its process keeps it. A process that is cut off for longer can come back without keys
that the others use by then. It then leaves the work to them."""

OWNER: BindParameter[str] = bindparam("me", type_=processes.c.owner.type)
LASTS = db_time_in(bindparam("record_seconds", type_=Integer()))
NOW = db_time_in(literal(0, Integer()))
KEPT = {"owner": OWNER, "key_names": bindparam("names", type_=processes.c.key_names.type), "expires_at": LASTS}
OTHERS = select(processes.c.key_names).where(processes.c.expires_at > NOW, processes.c.owner != OWNER)
TOUCH = update(processes).where(processes.c.owner == OWNER).values(expires_at=processes.c.expires_at)
DELETE_ONE = delete(processes).where(processes.c.owner == OWNER)
DELETE_EXPIRED = delete(processes).where(processes.c.expires_at <= NOW)
LOCK = select(func.pg_advisory_xact_lock(literal_column("3"), literal_column("0")))


class ProcessRepository:
    """Reads and writes the records of processes in one transaction, for the process `owner`."""

    def __init__(self, tx: Transaction, owner: str) -> None:
        self._connection = tx.connection
        self._vault = tx.vault
        self._owner = owner

    async def lock(self) -> None:
        """Let no other process begin until the end of the transaction."""
        await self._connection.execute(LOCK)

    async def find_others(self) -> Sequence[Sequence[str]]:
        """Return the names of the keys of every other living process, the sealing one first."""
        found = (await self._connection.execute(OTHERS, {"me": self._owner})).scalars().all()
        return [names for names in found if names and names is not MALFORMED]

    async def keep(self) -> bool:
        """Record that this process lives, and which keys it knows. Return whether it lacks a key that is needed."""
        names = list(self._vault.key_names_in_order)
        values = {"me": self._owner, "names": names, "known": names, "record_seconds": RECORD_SECONDS}
        statement = _build_keep(self._connection.dialect.name)
        return bool((await self._connection.execute(statement, values)).scalar_one())

    async def must_stand_aside(self) -> bool:
        """Return whether another living process has all needed keys. Call it if this one lacks some."""
        needed = frozenset((await self._connection.execute(select(sealing_keys.c.name))).scalars())
        for name in needed - self._vault.key_names:
            self._vault.left.record(f"{sealing_keys.name} {name}")
        return any(needed <= frozenset(names) for names in await self.find_others())

    async def delete_expired(self) -> None:
        """Delete the records of processes that have ended."""
        await self._connection.execute(DELETE_EXPIRED)

    async def delete(self) -> None:
        """Delete the record of this process, which ends."""
        await self._connection.execute(DELETE_ONE, {"me": self._owner})


@cache
def _build_keep(dialect: str) -> Any:  # noqa: ANN401  either dialect's own class
    new = upsert.build_insert(dialect, processes).values(KEPT)
    kept = new.on_conflict_do_update(index_elements=[processes.c.owner], set_={"expires_at": LASTS})
    return kept.returning(exists().where(sealing_keys.c.name.not_in(bindparam("known", expanding=True))))
