"""Encrypt the columns of a row that say so, each for its own place, and decrypt them there."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import structlog
from sqlalchemy import Table

from bot.infra.db.columns import MALFORMED, Digest, is_sealed
from bot.infra.db.errors import BrokenSeal
from bot.infra.db.metadata import IS_COMPLETE, metadata
from bot.infra.db.vault import Vault

log = structlog.get_logger(__name__)

Read = TypeVar("Read")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sealing:
    """What is sealed in a table, as its columns say (`infra/db/columns.py`)."""

    key: str
    """The primary key, which the sealed texts of a row are bound to. Empty where nothing is sealed."""

    columns: tuple[str, ...]
    digest_column: str = ""
    digest: Digest | None = None


@cache
def sealing_of(table: Table) -> Sealing:
    """Return what is sealed in `table`."""
    sealed = [column for column in table.columns if is_sealed(column)]
    if not sealed:
        return Sealing("", ())
    (key,) = table.primary_key
    digests = [column for column in sealed if "digest" in column.info]
    columns = tuple(column.key for column in sealed)
    if not digests:
        return Sealing(key.key, columns)
    (made,) = digests
    return Sealing(key.key, columns, made.key, made.info["digest"])


def sealed_tables() -> tuple[Table, ...]:
    """Return every table with sealed columns, by name.

    Raises:
        RuntimeError: not all tables have been imported. Going through some of them would pass for going through all.
    """
    if not metadata.info.get(IS_COMPLETE):
        raise RuntimeError("bot.tables must be imported before going through all tables")
    return tuple(table for _, table in sorted(metadata.tables.items()) if sealing_of(table).columns)


def place(table: str, column: str, key: object) -> str:
    """Where a text is kept; it opens there and nowhere else."""
    return f"{table}.{column}:{key}"


def seal_row(vault: Vault, table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """`row` with its sealed columns sealed and its digest added, in place."""
    sealing = sealing_of(table)
    if sealing.digest is not None:
        row[sealing.digest_column] = _digest(sealing.digest, row)
    for column in sealing.columns:
        if row[column] is not None:
            row[column] = vault.seal(row[column], place(table.name, column, row[sealing.key]))
    return row


def open_row(vault: Vault, table: Table, row: Row) -> Row:
    """`row` with its sealed columns readable and without its digest, in place. Raises as `read` does."""
    return read(vault, table, row, _as_it_is)


def read_or_none(vault: Vault, table: Table, row: Row, convert: Callable[[Row], Read]) -> Read | None:
    """Return what `read` does; None where the row can't be read: one bad row must not keep others from being read."""
    try:
        return read(vault, table, row, convert)
    except BrokenSeal:
        return None


def readable(
    vault: Vault, table: Table, rows: Iterable[Mapping[Any, Any]], convert: Callable[[Row], Read]
) -> tuple[Read, ...]:
    """Return what `read` does of all rows that can be read."""
    found = (read_or_none(vault, table, dict(row), convert) for row in rows)
    return tuple(each for each in found if each is not None)


def read(vault: Vault, table: Table, row: Row, convert: Callable[[Row], Read]) -> Read:
    """Open `row` in place and return what `convert` makes of it. The table may have no sealed columns.

    Raises:
        BrokenSeal: a column doesn't open, the digest is of other values, or a value is malformed; that is noted for
            the watch.
    """
    try:
        return _converted(_opened(vault, table, _well_formed(row)), convert)
    except BrokenSeal as error:
        _note(vault, table, row, error)
        raise


def read_unopened(vault: Vault, table: Table, row: Row, convert: Callable[[Row], Read]) -> Read | None:
    """Return what `convert` makes of `row` without opening it; None where a value is malformed, which is noted."""
    try:
        return _converted(_well_formed(row), convert)
    except BrokenSeal as error:
        _note(vault, table, row, error)
        return None


def _well_formed(row: Row) -> Row:
    if MALFORMED in row.values():
        raise BrokenSeal("a row holds a time, a number or JSON that can't be read")
    return row


def _opened(vault: Vault, table: Table, row: Row) -> Row:
    sealing = sealing_of(table)
    for column in sealing.columns:
        if row[column] is not None:
            row[column] = vault.open(row[column], place(table.name, column, row[sealing.key]))
    if sealing.digest is not None and row.pop(sealing.digest_column) != _digest(sealing.digest, row):
        raise BrokenSeal("a row was changed in columns that its digest covers")
    return row


def _converted(row: Row, convert: Callable[[Row], Read]) -> Read:
    try:
        return convert(row)
    except (ValueError, TypeError, KeyError):
        # Without the cause, which may quote the value.
        raise BrokenSeal("a row holds a value that the program doesn't know") from None


def _note(vault: Vault, table: Table, row: Row, error: BrokenSeal) -> None:
    error.table, name = table.name, f"{table.name} {_key(table, row)}"
    if name not in vault.unreadable:
        vault.unreadable.add(name)
        log.error("row_unreadable", row=name, error=str(error))


def _key(table: Table, row: Row) -> str:
    """Return what a row is known by: its whole primary key."""
    return ".".join(str(row[column.key]) for column in table.primary_key)


def _as_it_is(row: Row) -> Row:
    return row


def _digest(digest: Digest, row: Mapping[str, Any]) -> str | None:
    """Return the hash of what is covered; None where nothing is left that needs it."""
    if not any(row[column] for column in digest.while_any):
        return None
    covered = {column: row[column] for column in digest.covers}
    try:
        written = json.dumps(covered, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        raise BrokenSeal("a row holds JSON that is never written") from None
    return hashlib.sha256(written.encode()).hexdigest()
