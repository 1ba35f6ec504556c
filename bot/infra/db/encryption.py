"""Encrypt and decrypt the sealed columns of rows. Each text is bound to its table, column and row."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import structlog
from sqlalchemy import Column, Table

from bot.infra.db.columns import MALFORMED, Digest, is_sealed, list_tables
from bot.infra.db.errors import RowUnreadable, UnknownValue
from bot.infra.db.vault import Vault

log = structlog.get_logger(__name__)

Read = TypeVar("Read")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SealedColumns:
    """The sealed columns of a table, as their `info` declares (`infra/db/columns.py`)."""

    key: str
    """The primary key that the sealed texts of a row are bound to. Empty if no column is sealed."""

    columns: tuple[str, ...]
    digest_column: str = ""
    digest: Digest | None = None


@cache
def get_sealed_columns(table: Table) -> SealedColumns:
    """Return the sealed columns of `table`."""
    sealed = [column for column in table.columns if is_sealed(column)]
    if not sealed:
        return SealedColumns("", ())
    (key,) = table.primary_key
    digests = [column for column in sealed if "digest" in column.info]
    columns = tuple(column.key for column in sealed)
    if not digests:
        return SealedColumns(key.key, columns)
    (digest,) = digests
    return SealedColumns(key.key, columns, digest.key, digest.info["digest"])


def list_sealed_tables() -> tuple[Table, ...]:
    """Return every table with sealed columns. Raises as `list_tables` does."""
    return tuple(table for table in list_tables() if get_sealed_columns(table).columns)


def get_place(table: str, column: str, key: object) -> str:
    """Return the place that a sealed text is bound to. The text opens only there."""
    return f"{table}.{column}:{key}"


def seal_text(vault: Vault, column: Column[Any], key: object, text: str) -> str:
    """Return the text of a column, sealed for the row with this key."""
    return vault.seal(text, get_place(column.table.name, column.key, key))


def open_text(vault: Vault, column: Column[Any], key: object, text: str) -> str:
    """Return the sealed text of a column of the row with this key. Raises as `Vault.open` does."""
    return vault.open(text, get_place(column.table.name, column.key, key))


def seal_row(vault: Vault, table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Seal the columns of `row` and add its digest, in place. Return the row."""
    sealing = get_sealed_columns(table)
    if sealing.digest is not None:
        row[sealing.digest_column] = _digest(sealing.digest, row)
    for column in sealing.columns:
        if row[column] is not None:
            row[column] = seal_text(vault, table.c[column], row[sealing.key], row[column])
    return row


def read_rows(
    vault: Vault,
    table: Table,
    rows: Iterable[Mapping[Any, Any]],
    convert: Callable[[Row], Read],
    *,
    are_opened: bool = True,
) -> tuple[Read, ...]:
    """Return what `read_row` returns for each row, without those that can't be read. So others can still be read."""
    found = list[Read]()
    for row in rows:
        with suppress(RowUnreadable):
            found.append(read_row(vault, table, dict(row), convert, is_opened=are_opened))
    return tuple(found)


def read_row(vault: Vault, table: Table, row: Row, convert: Callable[[Row], Read], *, is_opened: bool = True) -> Read:
    """Return what `convert` makes of a row, whose sealed columns are opened in place if `is_opened`.

    Raises:
        UnknownKey: a column is sealed with a key that this process doesn't have. The process must end.
        UnknownValue: the row holds a value that this version doesn't know.
        RowUnreadable: a column doesn't open, the digest doesn't match, or a value is malformed. This row, and one with
            an unknown value, is recorded in `Vault.unreadable`, which the monitor reads.
    """
    try:
        _check_well_formed(row)
        return _convert(_open_columns(vault, table, row) if is_opened else row, convert)
    except RowUnreadable as error:
        _record_unreadable(vault, table, row, error)
        raise


def _check_well_formed(row: Row) -> None:
    if MALFORMED in row.values():
        raise RowUnreadable("a row holds a time, a number or JSON that can't be read")


def _open_columns(vault: Vault, table: Table, row: Row) -> Row:
    sealing = get_sealed_columns(table)
    for column in sealing.columns:
        if row[column] is not None:
            row[column] = open_text(vault, table.c[column], row[sealing.key], row[column])
    if sealing.digest is not None and row.pop(sealing.digest_column) != _digest(sealing.digest, row):
        raise RowUnreadable("a row was changed in columns that its digest covers")
    return row


def _convert(row: Row, convert: Callable[[Row], Read]) -> Read:
    try:
        return convert({**row})  # a copy: a failure is recorded with the row's key
    except (ValueError, TypeError, KeyError):
        # `from None`: the cause can quote the value.
        raise UnknownValue("a row holds a value that the program doesn't know") from None


def _record_unreadable(vault: Vault, table: Table, row: Row, error: RowUnreadable) -> None:
    error.table, name = table.name, f"{table.name} {_format_key(table, row)}"
    if name not in vault.unreadable:
        vault.unreadable[name] = error
        log.error("row_unreadable", row=name, error=str(error))


def _format_key(table: Table, row: Row) -> str:
    """Return the primary key of a row as text."""
    return ".".join(str(row[column.key]) for column in table.primary_key)


def _digest(digest: Digest, row: Mapping[str, Any]) -> str | None:
    """Return the hash of the covered columns, or None if the row needs no digest."""
    if not any(row[column] for column in digest.while_any):
        return None
    covered = {column: row[column] for column in digest.covers}
    try:
        written = json.dumps(covered, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        raise RowUnreadable("a row holds JSON that is never written") from None
    return hashlib.sha256(written.encode()).hexdigest()
