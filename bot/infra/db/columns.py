"""What tables are made of: column types for SQLite and PostgreSQL alike, and marks on columns with personal data.

A column says in its `info` whether it is personal, encrypted, or the id of a user. Encryption, key rotation, deletion,
export and retention (`infra/db/user_rows.py`) go by that:

- `OWNER`: the column holds the id of the user whose row it is. The row is exported and deleted with the user. Rows
  whose foreign key leads to such a row are the user's, too.
- `USER` and `STAFF`: the column holds another id of a user or of their chat, or the id of an agent, an operator or
  their chat.
- `TRANSIENT`: the column holds the id of a chat only while work is done there. The row goes within seconds.
- `PERSONAL`: the column holds data about a user or their recipient. It is deleted or emptied with the user.
- `SEALED`: the column is personal, and encrypted. The text is bound to table, column and row.
- `digest(…)`: the column holds a sealed hash of other columns, so that a change of them is noticed.
- `JSON_TEXT`: the text of the column is JSON. The exported file has its value.
- `INTERNAL` and `not_exported(why)`: why a column, or a whole table, isn't in the file that users export.
- `stays(why)`: why the rows of a table stay when their user is deleted. They lose what is personal and the user's ids.
- `pruned(…)`: after how long the rows of the column's table are deleted.
- `not_pruned(why)`: why a personal column, or a whole table, isn't deleted after a time.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Dialect,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    literal_column,
    null,
)
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import TypeDecorator, TypeEngine

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit id. SQLite uses a column as its row id, without a separate index, only if its type is INTEGER."""

POSTGRESQL = "postgresql"

IS_COMPLETE: Final = "is_complete"
"""Set in the metadata's `info` once every feature's tables are in it (`bot/tables.py`)."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""The metadata of all tables, with the names of their indexes and constraints."""


def list_tables() -> list[Table]:
    """Return every table, each after those that it refers to.

    Raises:
        RuntimeError: some tables haven't been imported, so the result would be incomplete.
    """
    if not metadata.info.get(IS_COMPLETE):
        raise RuntimeError("bot.tables must be imported before going through all tables")
    return metadata.sorted_tables


Info = dict[Any, Any]

USER: Final[Info] = {"names": "user"}
OWNER: Final[Info] = {**USER, "owner": True}
STAFF: Final[Info] = {"names": "staff"}
TRANSIENT: Final[Info] = {"names": "chat at work"}
PERSONAL: Final[Info] = {"personal": True}
SEALED: Final[Info] = {"personal": True, "sealed": True}
JSON_TEXT: Final[Info] = {"json": True}

Condition = Callable[[Table], ColumnElement[bool]]
"""A condition of the rows of a table."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The columns that a digest covers.

    A row needs no digest while all columns in `while_any` are empty. Examples are an order without its recipient and
    a draft without answers.
    """

    covers: tuple[str, ...]
    while_any: tuple[str, ...]


def digest(*, covers: Sequence[str], while_any: Sequence[str]) -> Info:
    """Return the info of a column with the sealed digest of other columns. Those can be read and searched."""
    return {**SEALED, "digest": Digest(tuple(covers), tuple(while_any))}


def not_exported(why: str) -> Info:
    """Return the info of a column or a table that isn't in the file that users export."""
    return {"not_exported": why}


INTERNAL: Final[Info] = not_exported("how the bot works, and no fact about the user")


def stays(why: str, *, where: Condition | None = None) -> Info:
    """Return the info of a table whose rows stay without their user. Those that don't meet the condition stay whole."""
    return {"stays": why, "stays_where": where}


@dataclass(frozen=True, slots=True)
class Pruned:
    """After how long the rows of a table are deleted, counted from a time.

    Attributes:
        after: the maximum. The retention period can be shorter. None means the retention period alone.
        parent: the column of the row that the foreign key leads to, if that has the time. Empty if the column has it.
        where: the rows that are deleted.
    """

    after: timedelta | None
    parent: str
    where: Condition | None


def pruned(after: timedelta | None = None, *, parent: str = "", where: Condition | None = None) -> Info:
    """Return the info of the column from whose time the rows of its table are kept, or leads to the row with it."""
    return {"pruned": Pruned(after, parent, where)}


def not_pruned(why: str) -> Info:
    """Return the info of a column or a table that isn't deleted after a time."""
    return {"not_pruned": why}


def blank_personal_columns(table: Table) -> dict[str, object]:
    """Return the values that empty the personal columns of a row of `table`. The ids of users stay.

    The version increases, so that a process that read the row before can't write them back.
    """
    blank = {column.key: null() if column.nullable else "" for column in table.columns if column.info.get("personal")}
    return blank | ({"version": table.c.version + 1} if blank and "version" in table.c else {})


def is_sealed(column: Column[Any]) -> bool:
    """Return whether the column is encrypted."""
    return bool(column.info.get("sealed"))


class _Malformed:
    def __repr__(self) -> str:
        return "malformed"


MALFORMED: Final[Any] = _Malformed()
"""The result of these types for a value that can't be converted.

SQLAlchemy converts all rows before it returns one, so an exception would make all of them unreadable.
`infra/db/encryption.py` skips a row with such a value.
"""


def constant(value: str) -> ColumnElement[str]:
    """Return one of the program's constants as a literal in the statement instead of a parameter.

    A database uses a partial index only if the statement contains the index's condition literally. PostgreSQL also
    plans badly for a status that it can't see.
    """
    return literal_column(f"'{value}'", Text)


def partial_index(name: str, *columns: ColumnElement[Any], where: ColumnElement[bool], unique: bool = False) -> Index:
    """Return an index of only those rows of its columns' table that meet a condition."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class Instant(TypeDecorator[datetime]):
    """An aware UTC time with microseconds.

    PostgreSQL has a type for it. SQLite hasn't, so there it is text of a fixed width ("2026-01-31 09:30:00.000000").
    Such texts sort like times, and operators can read them.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[str]:
        """Return the type of PostgreSQL, or text for SQLite."""
        if dialect.name == POSTGRESQL:
            return dialect.type_descriptor(TIMESTAMP(timezone=True))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        """Return the value to store. A time without a zone is rejected: it would be read back as another time.

        Raises:
            ValueError: the time is naive.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone can't be stored")
        moment = value.astimezone(UTC)
        if dialect.name == POSTGRESQL:
            return moment
        return moment.replace(tzinfo=None).isoformat(" ", "microseconds")

    def process_result_value(self, value: object | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002  its shape is SQLAlchemy's
        """Return the time in UTC, or `MALFORMED`."""
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        try:
            return None if value is None else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
        except ValueError:
            return MALFORMED


class ExactDecimal(TypeDecorator[Decimal]):
    """An exact decimal, such as a rate, stored as text. SQLite would turn a number into a float."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:  # noqa: ARG002  its shape is SQLAlchemy's
        """Return the decimal as text."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002  its shape is SQLAlchemy's
        """Return the decimal, or `MALFORMED`."""
        if value is None:
            return None
        try:
            found = Decimal(value)
        except (ArithmeticError, TypeError):
            return MALFORMED
        return found if found.is_finite() else MALFORMED


class Json(TypeDecorator[object]):
    """A JSON value as text, the same on both databases. None is NULL.

    It is escaped to ASCII, because PostgreSQL's text accepts no NUL and no half of a surrogate pair.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object | None, dialect: Dialect) -> str | None:  # noqa: ARG002  its shape is SQLAlchemy's
        """Return the value as JSON text.

        Raises:
            TypeError: a part of the value can't be JSON.
        """
        return None if value is None else json.dumps(value, separators=(",", ":"), allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002  its shape is SQLAlchemy's
        """Return the JSON value, or `MALFORMED`."""
        try:
            return None if value is None else json.loads(value)
        except (ValueError, TypeError, RecursionError):
            return MALFORMED


class is_in_json(GenericFunction[bool]):  # noqa: N801  named as functions of SQL are
    """Whether an id is in a JSON list. The list is one parameter, however many ids it has."""

    type = Boolean()
    inherit_cache = True


@compiles(is_in_json, POSTGRESQL)
def _in_json_on_postgresql(element: is_in_json, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    wanted, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({wanted} IN (SELECT CAST(json_array_elements_text(CAST({ids} AS json)) AS BIGINT)))"


@compiles(is_in_json, "sqlite")
def _in_json_on_sqlite(element: is_in_json, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    wanted, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({wanted} IN (SELECT value FROM json_each({ids})))"  # noqa: S608  compiled by SQLAlchemy


class microseconds_between(GenericFunction[int]):  # noqa: N801  named as functions of SQL are
    """Microseconds from the first instant to the second, exact on both databases. Negative if the second is earlier."""

    type = BigInteger()
    inherit_cache = True


@compiles(microseconds_between, POSTGRESQL)
def _on_postgresql(element: microseconds_between, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    first, second = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST(extract(epoch FROM {second} - {first}) * 1000000 AS BIGINT)"


@compiles(microseconds_between, "sqlite")
def _on_sqlite(element: microseconds_between, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    first, second = (_parse_instant(compiler.process(clause, **options)) for clause in element.clauses)
    return f"({second} - {first})"


def _parse_instant(instant: str) -> str:
    # The last six digits of the text are microseconds (`Instant`). A Julian day would round them.
    return f"(strftime('%s', {instant}) * 1000000 + substr({instant}, 21))"
