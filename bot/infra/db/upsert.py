"""Inserts that answer "was it new?" by themselves, on both databases.

A refused insert is no error here: in PostgreSQL an error would spoil the whole transaction around it, and its
text is another one in SQLite.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Column, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.infra.db.columns import POSTGRESQL

Values = Mapping[str, object]

IDS_AT_ONCE: Final = 10_000
"""Well under what one statement may bear: 32,766 parameters in SQLite, 32,767 in PostgreSQL's protocol."""


async def add(connection: AsyncConnection, table: Table, values: Values) -> bool:
    """Insert one row; False where a unique constraint has its like already."""
    result = await connection.execute(_insert_new(connection.dialect.name, table), dict(values))
    return result.rowcount == 1


async def add_all(
    connection: AsyncConnection, table: Table, rows: Sequence[Values], key: Column[int]
) -> frozenset[int]:
    """Insert rows in their order, skipping those that break a unique constraint; the keys of the new ones.

    SQLAlchemy packs them into as few statements as the database's limit on parameters allows.
    """
    if not rows:
        return frozenset()
    statement = _insert_new(connection.dialect.name, table).returning(key)
    result = await connection.execute(statement, [dict(row) for row in rows])
    return frozenset(result.scalars())


async def put(connection: AsyncConnection, table: Table, values: Values) -> None:
    """Insert one row, or replace the given columns of the one with its primary key."""
    await connection.execute(_insert_or_replace(connection.dialect.name, table, tuple(values)), dict(values))


def batches(ids: Collection[int]) -> Iterator[tuple[int, ...]]:
    """`ids` in portions that one statement can bear."""
    every = tuple(ids)
    for start in range(0, len(every), IDS_AT_ONCE):
        yield every[start : start + IDS_AT_ONCE]


def _insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(table) if dialect == POSTGRESQL else sqlite.insert(table)


@cache
def _insert_new(dialect: str, table: Table) -> Any:  # noqa: ANN401  either dialect's own class
    return _insert(dialect, table).on_conflict_do_nothing()


@cache
def _insert_or_replace(dialect: str, table: Table, keys: tuple[str, ...]) -> Any:  # noqa: ANN401  either dialect's own class
    statement = _insert(dialect, table)
    changed = {key: statement.excluded[key] for key in keys if not table.columns[key].primary_key}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)
