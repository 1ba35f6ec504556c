"""Which columns are sealed, and for which place: one list for writing, reading, migrating and changing keys."""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from bot.store.errors import BrokenSeal
from bot.store.vault import Vault

log = structlog.get_logger(__name__)

SEALED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "people": ("id", ("phrase", "suggestion")),
    "inbox": ("update_id", ("body",)),
    "drafts": ("id", ("number", "doubtful_number", "holder")),
    "orders": ("reference", ("number", "holder", "refusal")),
    "recipients": ("id", ("number", "holder", "label")),
    "receipts": ("reference", ("code",)),
    "ticket_entries": ("id", ("text", "file_id")),
    "audit": ("id", ("detail",)),
}
"""Table -> its key, and its sealed columns. The service's own refusals are sealed too: they may quote a number."""


def place(table: str, column: str, key: object) -> str:
    """Where a text is kept; it opens there and nowhere else."""
    return f"{table}.{column}:{key}"


def seal_row(vault: Vault, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """`row` with its sealed columns sealed, in place."""
    key, columns = SEALED[table]
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
    """`row` with its sealed columns readable, in place.

    Raises:
        BrokenSeal: one of them doesn't open; that is noted for the watch.
    """
    key, columns = SEALED[table]
    try:
        for column in columns:
            if row[column] is not None:
                row[column] = vault.open(row[column], place(table, column, row[key]))
    except BrokenSeal as error:
        name = f"{table} {row[key]}"
        if name not in vault.unreadable:
            vault.unreadable.add(name)
            log.error("row_unreadable", row=name, why=str(error))  # noqa: TRY400  the text holds nothing of the row
        raise
    return row
