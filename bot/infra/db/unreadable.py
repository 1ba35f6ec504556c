"""Rows that can't be read: each worker leaves its own out, so that the others go on. The watch raises the alarm."""

from bot.infra.db.database import Database


def unreadable_keys(store: Database, table: str) -> frozenset[str]:
    """Return the keys of the rows of `table` that some query has found unreadable since this process began."""
    start = f"{table} "
    return frozenset(row.removeprefix(start) for row in store.unreadable_rows() if row.startswith(start))
