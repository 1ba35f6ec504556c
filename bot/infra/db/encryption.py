"""Which columns are sealed, and for which place: one list for writing, reading, migrating and changing keys."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import structlog

from bot.infra.db.columns import MALFORMED
from bot.infra.db.errors import BrokenSeal
from bot.infra.db.metadata import metadata
from bot.infra.db.vault import Vault

log = structlog.get_logger(__name__)

Read = TypeVar("Read")
Row = dict[str, Any]

SEALED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "people": ("id", ("phrase", "suggestion")),
    "inbox": ("update_id", ("body",)),
    "drafts": ("id", ("number", "doubtful_number", "holder", "payout_seal")),
    "orders": ("reference", ("number", "holder", "refusal", "payment_seal")),
    "recipients": ("id", ("number", "holder", "label", "payout_seal")),
    "receipts": ("reference", ("code",)),
    "ticket_entries": ("id", ("text", "file_id")),
    "audit": ("id", ("detail",)),
}
"""Table -> its key, and its sealed columns. The service's own refusals are sealed too: they may quote a number."""


@dataclass(frozen=True, slots=True)
class Digest:
    """A sealed column with the hash of others: readable ones can be searched, and not changed unnoticed.

    A row needs none while all columns in `while_any` are empty, like a forgotten order or a draft without answers.
    """

    column: str
    covers: tuple[str, ...]
    while_any: tuple[str, ...]


DIGESTS: Final[Mapping[str, Digest]] = {
    "orders": Digest(
        "payment_seal",
        # To whom the order is shown, and all that decides where a payment for it goes.
        covers=("person_id", "chat_id", "page_token", "method", "channel", "sats", "bolt11", "deposit"),
        while_any=("number", "bolt11", "deposit"),
    ),
    "drafts": Digest(
        "payout_seal",
        # What its review shows. Buttons carry the revision, so answers of an earlier one can't be put back either.
        covers=(
            "person_id",
            "chat_id",
            "revision",
            "method",
            "number",
            "doubtful_number",
            "holder",
            "amount",
            "channel",
            "quote",
        ),
        while_any=("method", "number", "doubtful_number", "holder", "amount", "quote"),
    ),
    "recipients": Digest("payout_seal", covers=("person_id", "method"), while_any=("number", "method")),
}
"""Table -> its digest. A change to a digest needs a migration that seals the rows again (see 0010 and 0012)."""


def place(table: str, column: str, key: object) -> str:
    """Where a text is kept; it opens there and nowhere else."""
    return f"{table}.{column}:{key}"


def seal_row(vault: Vault, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """`row` with its sealed columns sealed and its digest added, in place."""
    key, columns = SEALED[table]
    if table in DIGESTS:
        row[DIGESTS[table].column] = _digest(DIGESTS[table], row)
    for column in columns:
        if row[column] is not None:
            row[column] = vault.seal(row[column], place(table, column, row[key]))
    return row


def open_row(vault: Vault, table: str, row: Row) -> Row:
    """`row` with its sealed columns readable and without its digest, in place. Raises as `read` does."""
    return read(vault, table, row, _as_it_is)


def read_or_none(vault: Vault, table: str, row: Row, convert: Callable[[Row], Read]) -> Read | None:
    """Return what `read` does; None where the row can't be read: one bad row must not keep others from being read."""
    try:
        return read(vault, table, row, convert)
    except BrokenSeal:
        return None


def readable(
    vault: Vault, table: str, rows: Iterable[Mapping[Any, Any]], convert: Callable[[Row], Read]
) -> tuple[Read, ...]:
    """Return what `read` does of all rows that can be read."""
    found = (read_or_none(vault, table, dict(row), convert) for row in rows)
    return tuple(each for each in found if each is not None)


def read(vault: Vault, table: str, row: Row, convert: Callable[[Row], Read]) -> Read:
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


def read_unopened(vault: Vault, table: str, row: Row, convert: Callable[[Row], Read]) -> Read | None:
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


def _opened(vault: Vault, table: str, row: Row) -> Row:
    if table in SEALED:
        key, columns = SEALED[table]
        for column in columns:
            if row[column] is not None:
                row[column] = vault.open(row[column], place(table, column, row[key]))
    if table in DIGESTS:
        _check(DIGESTS[table], row)
    return row


def _converted(row: Row, convert: Callable[[Row], Read]) -> Read:
    try:
        return convert(row)
    except (ValueError, TypeError, KeyError):
        # Without the cause, which may quote the value.
        raise BrokenSeal("a row holds a value that the program doesn't know") from None


def _note(vault: Vault, table: str, row: Row, error: BrokenSeal) -> None:
    error.table, name = table, f"{table} {_key(table, row)}"
    if name not in vault.unreadable:
        vault.unreadable.add(name)
        log.error("row_unreadable", row=name, error=str(error))


def _key(table: str, row: Row) -> str:
    """Return what a row is known by: its sealing key, or its whole primary key."""
    if table in SEALED:
        return str(row[SEALED[table][0]])
    return ".".join(str(row[column.name]) for column in metadata.tables[table].primary_key)


def _as_it_is(row: Row) -> Row:
    return row


def _check(digest: Digest, row: dict[str, Any]) -> None:
    if row.pop(digest.column) != _digest(digest, row):
        raise BrokenSeal("a row was changed in columns that its digest covers")


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
