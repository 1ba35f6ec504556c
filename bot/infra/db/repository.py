"""What repositories do alike: read and write values, insert what may exist, and build a statement once.

Rows become values here, and values rows, whose sealed columns are opened and sealed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from types import CodeType
from typing import Any, ClassVar, Final, Generic, TypeVar

from sqlalchemy import Column, ColumnElement, Delete, Executable, Select, Table, Update, func, select
from sqlalchemy.dialects import postgresql, sqlite

from bot.infra.db import encryption
from bot.infra.db.columns import POSTGRESQL
from bot.infra.db.transaction import Connection, Transaction

Value = TypeVar("Value")


class Repository(Generic[Value]):
    """Reads and writes the values of one table in one transaction.

    Attributes:
        table: the table.
        kind: the class of the values, a dataclass. Its fields are the columns, unless `_to_value` and `_to_row` convert
            them.
    """

    table: ClassVar[Table]
    kind: ClassVar[type[Any]]

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._connection = tx.connection
        self._vault = tx.vault

    def _to_value(self, known: dict[str, Any]) -> Value:
        """Return the value of an opened row.

        Raises:
            ValueError, TypeError, KeyError: the row holds something that the program doesn't know.
        """
        value: Value = self.kind(**known)
        return value

    def _to_row(self, value: Value) -> dict[str, Any]:
        """Return a value as a row that isn't sealed yet."""
        return asdict(value)  # type: ignore[call-overload, no-any-return]  # it is a dataclass

    def _seal(self, value: Value) -> dict[str, Any]:
        """Return a value as a sealed row."""
        return encryption.seal_row(self._vault, self.table, self._to_row(value))

    async def _get(self, statement: Select[Any], values: Mapping[str, Any] | None = None) -> Value | None:
        """Return the value of the first row, or None. `values` are those of the statement's parameters.

        Raises:
            RowUnreadable: the row can't be read.
        """
        row = (await self._connection.execute(statement, values)).mappings().first()
        return encryption.read_row(self._vault, self.table, dict(row), self._to_value) if row else None

    async def _find(self, statement: Executable, values: Mapping[str, Any] | None = None) -> tuple[Value, ...]:
        """Return the values of all rows that can be read. `values` are those of the statement's parameters."""
        rows = (await self._connection.execute(statement, values)).mappings()
        return encryption.read_rows(self._vault, self.table, rows, self._to_value)

    async def _find_first(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Value | None:
        """Return the value of the first row that can be read, or None."""
        return next(iter(await self._find(statement, values)), None)

    async def _count(self, *conditions: ColumnElement[bool]) -> int:
        """Return how many rows meet these conditions."""
        found: int = await self._connection.scalar(select(func.count()).select_from(self.table).where(*conditions))
        return found

    async def _insert(self, value: Value) -> bool:
        """Insert a value. Return False if a unique constraint already has it."""
        return await insert_new(self._connection, self.table, self._seal(value))

    async def _replace(self, value: Value) -> None:
        """Insert a value, or replace the columns of the row with its key."""
        await insert_or_replace(self._connection, self.table, self._seal(value))

    async def _change(self, statement: Update | Delete, values: Mapping[str, Any] | None = None) -> int:
        """Change or delete rows, and return how many. `values` are parameters, and those of an update that has none."""
        return (await self._connection.execute(statement, values)).rowcount


T = TypeVar("T")
Values = Mapping[str, object]

INSERT: Final[Mapping[str, Callable[[Table], postgresql.Insert | sqlite.Insert]]] = {
    POSTGRESQL: postgresql.insert,
    "sqlite": sqlite.insert,
}

IDS_AT_ONCE: Final = 10_000
"""Ids in one statement. SQLite allows 32,766 parameters, and PostgreSQL's protocol 32,767."""


async def insert_new(connection: Connection, table: Table, values: Values) -> bool:
    """Insert one row. Return False if a unique constraint already has it."""
    result = await connection.execute(_build_insert_new(connection.dialect.name, table), dict(values))
    return result.rowcount == 1


async def insert_all_new(
    connection: Connection, table: Table, rows: Sequence[Values], key: Column[int]
) -> frozenset[int]:
    """Insert rows in their order, without those that break a unique constraint. Return the keys of the new rows.

    On PostgreSQL, SQLAlchemy uses as few statements as the limit on parameters allows.
    """
    if not rows:
        return frozenset()
    statement = _build_insert_new(connection.dialect.name, table, key)
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


@cache
def _build_insert_new(dialect: str, table: Table, *returned: Column[int]) -> Any:  # noqa: ANN401  either dialect's own class
    statement = INSERT[dialect](table).on_conflict_do_nothing()
    return statement.returning(*returned) if returned else statement


@cache
def _build_insert_or_replace(dialect: str, table: Table, keys: tuple[str, ...]) -> Any:  # noqa: ANN401  either dialect's own class
    statement = INSERT[dialect](table)
    changed = {key: statement.excluded[key] for key in keys if not table.columns[key].primary_key}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)


Statement = TypeVar("Statement")

_BUILT: dict[CodeType, Any] = {}


def once(build: Callable[[], Statement]) -> Statement:
    """Return the statement that a lambda builds: at its second call, the same one.

    Building a statement takes two to five times as long as executing it. So the most frequent ones are built once,
    where they stand. What changes is a parameter of the statement.

    Raises:
        ValueError: the lambda uses a variable of its function, which would keep its first value.
    """
    if build.__closure__ is not None:
        raise ValueError("a statement that is built once takes its values as parameters")
    if build.__code__ not in _BUILT:
        _BUILT[build.__code__] = build()
    found: Statement = _BUILT[build.__code__]
    return found
