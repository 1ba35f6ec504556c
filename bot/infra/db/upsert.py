"""Inserts that report which rows were new, and inserts that replace rows, on both databases.

An existing row causes no error: in PostgreSQL an error would abort the whole transaction.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import Column, Table
from sqlalchemy.dialects import postgresql, sqlite

from bot.infra.db.columns import POSTGRESQL
from bot.infra.db.connection import Connection

T = TypeVar("T")
Values = Mapping[str, object]

IDS_AT_ONCE: Final = 10_000
"""Ids in one statement. SQLite allows 32,766 parameters, and PostgreSQL's protocol 32,767."""


async def insert_new(connection: Connection, table: Table, values: Values) -> bool:
    """Insert one row. Return False if a unique constraint already has it."""
    result = await connection.execute(build_insert_new(connection.dialect.name, table), dict(values))
    return result.rowcount == 1


async def insert_all_new(
    connection: Connection, table: Table, rows: Sequence[Values], key: Column[int]
) -> frozenset[int]:
    """Insert rows in their order, without those that break a unique constraint. Return the keys of the new rows.

    On PostgreSQL, SQLAlchemy uses as few statements as the limit on parameters allows.
    """
    if not rows:
        return frozenset()
    statement = _build_insert_all_new(connection.dialect.name, table, key)
    result = await connection.execute(statement, [dict(row) for row in rows])
    return frozenset(result.scalars())


async def insert_or_replace(
    connection: Connection, table: Table, values: Values, replaced: Collection[str] | None = None
) -> None:
    """Insert one row. If its primary key exists, replace the columns in `values`, or those of them in `replaced`."""
    columns = tuple(values if replaced is None else replaced)
    await connection.execute(_build_insert_or_replace(connection.dialect.name, table, columns), dict(values))


def split_into_batches(ids: Collection[T]) -> Iterator[tuple[T, ...]]:
    """Yield `ids` in parts that fit in one statement."""
    all_ids = tuple(ids)
    for start in range(0, len(all_ids), IDS_AT_ONCE):
        yield all_ids[start : start + IDS_AT_ONCE]


def build_insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return the statement that inserts rows, for one that says what happens with an existing row."""
    return postgresql.insert(table) if dialect == POSTGRESQL else sqlite.insert(table)


@cache
def build_insert_new(dialect: str, table: Table) -> Any:  # noqa: ANN401  either dialect's own class
    """Return the statement that inserts rows without those that break a unique constraint."""
    return build_insert(dialect, table).on_conflict_do_nothing()


@cache
def _build_insert_all_new(dialect: str, table: Table, key: Column[int]) -> Any:  # noqa: ANN401  either dialect's own class
    return build_insert_new(dialect, table).returning(key)


@cache
def _build_insert_or_replace(dialect: str, table: Table, keys: tuple[str, ...]) -> Any:  # noqa: ANN401  either dialect's own class
    statement = build_insert(dialect, table)
    changed = {key: statement.excluded[key] for key in keys if not table.columns[key].primary_key}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)
