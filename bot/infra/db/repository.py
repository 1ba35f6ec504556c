"""What repositories do alike. Rows become values here, and values rows, whose sealed columns are opened and sealed."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import ColumnElement, Delete, Executable, Select, Table, Update, func, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction

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
        return await upsert.insert_new(self._connection, self.table, self._seal(value))

    async def _replace(self, value: Value) -> None:
        """Insert a value, or replace the columns of the row with its key."""
        await upsert.insert_or_replace(self._connection, self.table, self._seal(value))

    async def _change(self, statement: Update | Delete, values: Mapping[str, Any] | None = None) -> int:
        """Change or delete rows, and return how many. `values` are parameters, and those of an update that has none."""
        return (await self._connection.execute(statement, values)).rowcount
