"""The transaction that every repository works in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVarTuple, overload

from sqlalchemy import CursorResult, Dialect, Executable
from sqlalchemy.sql.selectable import TypedReturnsRows

from bot.infra.db.vault import Vault

Columns = TypeVarTuple("Columns")
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The parameters of a statement. If there are several sets, it is executed once for each."""


class Connection(Protocol):
    """What repositories need of it: SQLAlchemy's own on PostgreSQL, and `infra/db/sqlite.py` on SQLite."""

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


@dataclass(frozen=True, slots=True)
class Transaction:
    """A connection inside its transaction, and the vault for sealed columns."""

    connection: Connection
    vault: Vault
    on_commit: list[Callable[[], None]] = field(default_factory=list)
    """Called once the transaction is committed, such as to log what it saved. They must not raise errors."""

    on_rollback: list[Callable[[], None]] = field(default_factory=list)
    """Called if it fails instead. If the connection is lost meanwhile, it may have been committed all the same."""

    chats: set[int] = field(default_factory=set)
    """The chats in which it queues notifications (`Database.before_commit`)."""
