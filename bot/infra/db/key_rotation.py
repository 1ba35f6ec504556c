"""Seals everything anew with the first key, in small transactions and beside a running bot.

A text is replaced only where the very one that was read still stands: what the bot writes meanwhile is sealed with
the first key already, and what it deletes stays deleted. Begun again after a kill, it goes on with what is left.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Table, Update, bindparam, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.infra.db import keys
from bot.infra.db.encryption import place, sealed_tables, sealing_of
from bot.infra.db.errors import StoreFailure
from bot.infra.db.vault import Vault

AT_ONCE = 200
"""Rows in one transaction: some ten milliseconds, which is what the bot has to wait for it."""

Transaction = Callable[[], AbstractAsyncContextManager[AsyncConnection]]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one table is. `refused` are rows that none of the keys opens, because they were changed or moved."""

    table: str
    sealed: int
    refused: int


async def rotate(transaction: Transaction, vault: Vault) -> AsyncIterator[Progress]:
    """Seal every table's waiting rows anew; yields after each transaction."""
    for table in sealed_tables():
        last, sealed, refused = None, 0, 0
        while True:
            async with transaction() as connection:
                rows = await _waiting(connection, table, vault, last)
                done = [await _seal(connection, table, vault, row) for row in rows]
            sealed, refused = sealed + sum(done), refused + len(done) - sum(done)
            if rows:
                last = rows[-1][sealing_of(table).key]
                yield Progress(table.name, sealed, refused)
            if len(rows) < AT_ONCE:
                break


async def _waiting(connection: AsyncConnection, table: Table, vault: Vault, last: object) -> Sequence[Any]:
    key, columns = table.c[sealing_of(table).key], sealing_of(table).columns
    of_interest = select(key, *(table.c[column].label(column) for column in columns))
    wanted = of_interest.where(or_(*(keys.waits(table.c[column], vault) for column in columns)))
    beyond = wanted if last is None else wanted.where(key > last)
    return (await connection.execute(beyond.order_by(key).limit(AT_ONCE))).mappings().all()


async def _seal(connection: AsyncConnection, table: Table, vault: Vault, row: Any) -> bool:  # noqa: ANN401  a row
    """Seal the row's columns anew, each where it hasn't changed; False where one of them doesn't open."""
    key = sealing_of(table).key
    for column in sealing_of(table).columns:
        before = row[column]
        if not before or before.startswith(vault.mark):
            continue
        where = place(table.name, column, row[key])
        try:
            after = vault.seal(vault.open(before, where), where)
        except StoreFailure:
            return False
        values = {"key": row[key], "before": before, "after": after}
        await connection.execute(_replacing(table, column), values)
    return True


@cache
def _replacing(table: Table, column: str) -> Update:
    here = (table.c[sealing_of(table).key] == bindparam("key"), table.c[column] == bindparam("before"))
    return update(table).where(*here).values({column: bindparam("after")})
