"""Which columns are sealed, and for which place: one list for writing, reading, migrating and changing keys."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from bot.store.errors import BrokenSeal
from bot.store.vault import Vault

log = structlog.get_logger(__name__)

SEALED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "people": ("id", ("phrase", "suggestion")),
    "inbox": ("update_id", ("body",)),
    "drafts": ("id", ("number", "doubtful_number", "holder")),
    "orders": ("reference", ("number", "holder", "refusal", "payment_seal")),
    "recipients": ("id", ("number", "holder", "label")),
    "receipts": ("reference", ("code",)),
    "ticket_entries": ("id", ("text", "file_id")),
    "audit": ("id", ("detail",)),
}
"""Table -> its key, and its sealed columns. The service's own refusals are sealed too: they may quote a number."""


@dataclass(frozen=True, slots=True)
class Digest:
    """A sealed column with the hash of readable ones: they can be searched, and not changed unnoticed.

    A row needs none once all columns in `while_any` are empty. That is how a forgotten order looks.
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
}
"""Table -> its digest. A change to a digest needs a migration that seals the rows again (see 0010)."""


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


def opened_or_none(vault: Vault, table: str, row: dict[str, Any]) -> dict[str, Any] | None:
    """Open `row`; None where it doesn't open: one bad row must not keep all others from being read."""
    try:
        return open_row(vault, table, row)
    except BrokenSeal:
        return None


def open_row(vault: Vault, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """`row` with its sealed columns readable and without its digest, in place.

    Raises:
        BrokenSeal: one of them doesn't open, or the digest is of other values; that is noted for the watch.
    """
    key, columns = SEALED[table]
    try:
        for column in columns:
            if row[column] is not None:
                row[column] = vault.open(row[column], place(table, column, row[key]))
        if table in DIGESTS:
            _check(DIGESTS[table], row)
    except BrokenSeal as error:
        error.table, name = table, f"{table} {row[key]}"
        if name not in vault.unreadable:
            vault.unreadable.add(name)
            log.error("row_unreadable", row=name, why=str(error))  # noqa: TRY400  the text holds nothing of the row
        raise
    return row


def _check(digest: Digest, row: dict[str, Any]) -> None:
    if row.pop(digest.column) != _digest(digest, row):
        raise BrokenSeal("a row was changed in columns that its digest covers")


def _digest(digest: Digest, row: Mapping[str, Any]) -> str | None:
    """Return the hash of what is covered; None where nothing is left that needs it."""
    if not any(row[column] for column in digest.while_any):
        return None
    covered = {column: row[column] for column in digest.covers}
    written = json.dumps(covered, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
