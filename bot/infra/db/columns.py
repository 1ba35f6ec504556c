"""Columns: types that mean the same on SQLite and PostgreSQL, and what a column says about itself.

A column says in its `info` whether it is personal, encrypted, or the id of a user. Encryption, key rotation, and the
tests of deletion, export and retention go by that:

- `USER` and `STAFF`: the column holds the id of a user or of their chat, or the id of an agent, an operator or their
  chat.
- `PERSONAL`: the column tells something about a user or their recipient. It is deleted or emptied with the user.
- `SEALED`: the column is personal, and encrypted. The text is bound to table, column and row.
- `digest(…)`: the column holds a sealed hash of other columns, so that nobody can change them unnoticed.
- `not_exported(why)` and `not_pruned(why)`: reasons why a personal column, or a whole table, isn't in the file that
  users export, or stays however old it is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Dialect, Integer, Table, Text, literal_column, null
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.types import TypeDecorator, TypeEngine

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits. Only a column spelled INTEGER is SQLite's own row id, and that needs no index of its own."""

POSTGRESQL = "postgresql"

Info = dict[Any, Any]

USER: Final[Info] = {"names": "user"}
STAFF: Final[Info] = {"names": "staff"}
PERSONAL: Final[Info] = {"personal": True}
SEALED: Final[Info] = {"personal": True, "sealed": True}


@dataclass(frozen=True, slots=True)
class Digest:
    """Which columns a digest covers.

    A row needs no digest while all columns in `while_any` are empty, like an order without its recipient or a draft
    without answers.
    """

    covers: tuple[str, ...]
    while_any: tuple[str, ...]


def digest(*, covers: Sequence[str], while_any: Sequence[str]) -> Info:
    """Return the info of a column with the sealed digest of others, which can be read and searched."""
    return {**SEALED, "digest": Digest(tuple(covers), tuple(while_any))}


def not_exported(why: str) -> Info:
    """Return the info of a column or a table that isn't in the file that users export."""
    return {"not_exported": why}


def not_pruned(why: str) -> Info:
    """Return the info of a column or a table that stays however old it is."""
    return {"not_pruned": why}


def blank(table: Table) -> dict[str, object]:
    """Return the values of a row of `table` without anything personal. The ids of users stay."""
    return {column.key: null() if column.nullable else "" for column in table.columns if column.info.get("personal")}


def is_sealed(column: Column[Any]) -> bool:
    """Return whether the column is encrypted."""
    return bool(column.info.get("sealed"))


class _Malformed:
    def __repr__(self) -> str:
        return "malformed"


MALFORMED: Final[Any] = _Malformed()
"""What these types read where a value can't be converted.

SQLAlchemy converts all rows before anybody sees one of them, so an exception would keep the others from being read.
`infra/db/encryption.py` leaves a row with such a value out.
"""


def constant(value: str) -> ColumnElement[str]:
    """Return a word of ours, written into the statement itself.

    A partial index is only used where its condition is there in so many words, and PostgreSQL plans badly for a
    status that it can't see.
    """
    return literal_column(f"'{value}'", Text)


class Instant(TypeDecorator[datetime]):
    """An aware UTC time with microseconds.

    PostgreSQL has a type for it. SQLite hasn't: there it is text of one width ("2026-01-31 09:30:00.000000"),
    so that it compares as time does and support can read it.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[str]:
        """Return the native type where there is one."""
        if dialect.name == POSTGRESQL:
            return dialect.type_descriptor(TIMESTAMP(timezone=True))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        """Refuse a time without a zone: it would be read back as another moment.

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
        """Return the time, in UTC, or `MALFORMED`."""
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        try:
            return None if value is None else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
        except ValueError:
            return MALFORMED


class ExactDecimal(TypeDecorator[Decimal]):
    """A rate, digit by digit as text: SQLite would make a float of it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:  # noqa: ARG002  its shape is SQLAlchemy's
        """Return the decimal's own text."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002  its shape is SQLAlchemy's
        """Return the decimal of that text, or `MALFORMED`."""
        if value is None:
            return None
        try:
            found = Decimal(value)
        except (ArithmeticError, TypeError):
            return MALFORMED
        return found if found.is_finite() else MALFORMED


class Json(TypeDecorator[object]):
    """A JSON value as text, the same on both databases. None is NULL.

    Escaped to ASCII, because PostgreSQL's text takes neither NUL nor half a surrogate pair.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object | None, dialect: Dialect) -> str | None:  # noqa: ARG002  its shape is SQLAlchemy's
        """Return the value's text.

        Raises:
            TypeError: something in it is no JSON value.
        """
        return None if value is None else json.dumps(value, separators=(",", ":"), allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002  its shape is SQLAlchemy's
        """Return the value of that text, or `MALFORMED`."""
        try:
            return None if value is None else json.loads(value)
        except (ValueError, TypeError, RecursionError):
            return MALFORMED
