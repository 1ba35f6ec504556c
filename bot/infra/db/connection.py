"""What repositories need of a connection: SQLAlchemy's own on PostgreSQL, and `infra/db/sqlite.py` on SQLite."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVarTuple, overload

from sqlalchemy import CursorResult, Dialect, Executable
from sqlalchemy.sql.selectable import TypedReturnsRows

Columns = TypeVarTuple("Columns")
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The parameters of a statement. If there are several sets, it is executed once for each."""


class Connection(Protocol):
    """A connection within its transaction."""

    @property
    def dialect(self) -> Dialect:
        """The kind of database."""
        ...

    @overload
    async def execute(
        self, statement: TypedReturnsRows[*Columns], parameters: Values | None = None
    ) -> CursorResult[*Columns]: ...

    @overload
    async def execute(
        self, statement: Executable, parameters: Values | None = None
    ) -> CursorResult[*tuple[Any, ...]]: ...

    async def scalar(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401  SQLAlchemy's
        """Execute the statement. Return the first column of the first row, or None."""
        ...
