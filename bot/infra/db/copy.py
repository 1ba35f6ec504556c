"""Copies all rows of a database into an empty one, from SQLite to PostgreSQL or back.

Rows are copied as they are. An encrypted text is bound to its table, column and row, and those stay the same.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Insert,
    Select,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    text,
    tuple_,
    type_coerce,
)
from sqlalchemy.types import TypeEngine

from bot.infra.db.columns import MALFORMED, POSTGRESQL, Instant, list_tables
from bot.infra.db.errors import StoreDown, StoreError
from bot.infra.db.tables import chat_leases
from bot.infra.db.transaction import Connection

AT_ONCE: Final = 1000
"""Rows that are read, written and compared at once."""

LOCK_SECONDS: Final = 10
"""How long to wait on PostgreSQL until no other program uses the tables."""

Row = dict[str, Any]


class InUse(StoreError):
    """A bot works on the database."""


class NotEmpty(StoreError):
    """The database to copy into has rows."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table that was copied, and how many rows it has."""

    name: str
    rows: int


async def lock_tables(connection: Connection, *, against_reading: bool) -> None:
    """Keep other programs from writing to any table until the transaction ends, and from reading, if asked.

    SQLite needs no lock. It has one writer at a time, and readers see nothing before the commit.
    """
    if connection.dialect.name != POSTGRESQL:
        return
    # A bot's transaction ends after a few seconds without a statement. This one waits for the other database.
    await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    mode = "ACCESS EXCLUSIVE" if against_reading else "EXCLUSIVE"
    names = ", ".join(table.name for table in list_tables())
    await connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
    await connection.execute(text(f"LOCK TABLE {names} IN {mode} MODE"))


async def check_unused(connection: Connection) -> None:
    """Check that no process has a lease. On SQLite, the lock on the file shows that already.

    Raises:
        InUse: a lease hasn't expired.
    """
    if connection.dialect.name != POSTGRESQL:
        return
    kept = select(chat_leases.c.epoch).where(chat_leases.c.expires_at > func.now()).limit(1)
    if await connection.scalar(kept) is not None:
        raise InUse("a bot works on it")


async def check_empty(connection: Connection, filled: Collection[str]) -> None:
    """Check that no table has a row. Those in `filled` may have some, because a migration fills them.

    Raises:
        NotEmpty: a table has a row.
    """
    found = [table.name for table in list_tables() if table.name not in filled and await _has_rows(connection, table)]
    if found:
        raise NotEmpty(f"it isn't empty ({', '.join(found)})")


async def _has_rows(connection: Connection, table: Table) -> bool:
    return await connection.scalar(select(literal_column("1")).select_from(table).limit(1)) is not None


async def copy_rows(
    source: Connection, target: Connection, *, left_out: Collection[str] = ()
) -> AsyncIterator[CopiedTable]:
    """Copy all tables but those in `left_out`, and compare each row with its copy. Yield each table that is done.

    What a table of the target has is replaced.

    Raises:
        StoreDown: a value can't be read or written, or a copy differs. Roll back both transactions.
    """
    tables = [table for table in list_tables() if table.name not in left_out]
    for table in reversed(tables):
        await target.execute(table.delete())
    for table in tables:
        copied = 0
        async for rows in _read(source, table):
            await target.execute(_build_insert(table), rows)
            await _compare(target, table, rows)
            copied += len(rows)
        await _move_sequence(target, table)
        if await target.scalar(select(func.count()).select_from(table)) != copied:
            raise StoreDown(f"{table.name} has another number of rows than its copy")
        yield CopiedTable(table.name, copied)


async def _read(connection: Connection, table: Table) -> AsyncIterator[list[Row]]:
    """Yield all rows, some at a time, by their keys.

    Raises:
        StoreDown: a row has a time that can't be read.
    """
    keys = list(table.primary_key)
    last: tuple[object, ...] | None = None
    while True:
        rest = _select(table).order_by(*keys).limit(AT_ONCE)
        if last is not None:
            rest = rest.where(_key(keys) > _literal(keys, last))
        rows = [dict(row) for row in (await connection.execute(rest)).mappings()]
        for row in rows:
            if MALFORMED in row.values():
                raise StoreDown(f"{table.name} {'/'.join(map(str, _get_key(table, row)))} has a malformed value")
        if rows:
            yield rows
            last = _get_key(table, rows[-1])
        if len(rows) < AT_ONCE:
            return


async def _compare(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Compare rows with their copies.

    Raises:
        StoreDown: a copy differs, or is missing.
    """
    keys = list(table.primary_key)
    written = _select(table).where(_key(keys).in_([_get_key(table, row) for row in rows]))
    copies = {_get_key(table, row): dict(row) for row in (await connection.execute(written)).mappings()}
    if any(copies.get(_get_key(table, row)) != row for row in rows):
        raise StoreDown(f"a row of {table.name} differs from its copy")


async def _move_sequence(connection: Connection, table: Table) -> None:
    """Let the next id follow the copied ones. SQLite does that itself."""
    column = table.autoincrement_column
    if connection.dialect.name != POSTGRESQL or column is None:
        return
    greatest = await connection.scalar(select(func.max(column)))
    if greatest is not None:
        sequence = func.pg_get_serial_sequence(table.name, column.name)
        await connection.execute(select(func.setval(sequence, greatest)))


def _get_raw_type(column: Column[Any]) -> TypeEngine[Any]:
    """Return the type by which a column is copied: as it is stored, where both databases store it alike."""
    if isinstance(column.type, TypeDecorator) and not isinstance(column.type, Instant):
        return Text()
    return column.type


def _select(table: Table) -> Select[Any]:
    return select(*(type_coerce(column, _get_raw_type(column)).label(column.name) for column in table.columns))


def _build_insert(table: Table) -> Insert:
    values = {column.name: bindparam(column.name, type_=_get_raw_type(column)) for column in table.columns}
    return insert(table).values(values)


def _key(keys: Sequence[Column[Any]]) -> ColumnElement[Any]:
    return tuple_(*keys)


def _literal(keys: Sequence[Column[Any]], values: Sequence[object]) -> ColumnElement[Any]:
    pairs = zip(keys, values, strict=True)
    return tuple_(*(bindparam(None, value, type_=column.type) for column, value in pairs))


def _get_key(table: Table, row: Row) -> tuple[object, ...]:
    return tuple(row[column.name] for column in table.primary_key)
