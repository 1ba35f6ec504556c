"""The state file: a SQLite database on disk, or one in memory that ends with the process.

Everything is written at once, in the caller's thread. A write takes some ten microseconds, and no recovery is needed
after a crash. WAL lets the key commands change the file while the server runs.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_A_MILLISECOND: Final = timedelta(milliseconds=1)

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS keys (
    key_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE TABLE IF NOT EXISTS orders (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    listed INTEGER NOT NULL,
    state TEXT NOT NULL,
    channel TEXT NOT NULL,
    sat_amount INTEGER NOT NULL,
    idr_amount INTEGER NOT NULL,
    btc_idr TEXT NOT NULL,
    quoted_at INTEGER NOT NULL,
    bolt11 TEXT,
    payment_hash TEXT,
    expires_at INTEGER,
    bank_code TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    account_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    paid_at INTEGER,
    completed_at INTEGER,
    due_at INTEGER,
    fail_at TEXT,
    reached TEXT NOT NULL,
    deposit_seen INTEGER NOT NULL,
    wrong_deposit TEXT
);
CREATE INDEX IF NOT EXISTS orders_newest ON orders (tenant, seq) WHERE listed = 1;
CREATE INDEX IF NOT EXISTS orders_by_invoice ON orders (bolt11);
CREATE INDEX IF NOT EXISTS orders_due ON orders (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_unpaid ON orders (expires_at)
    WHERE state IN ('IDLE', 'NWC_CONNECTED', 'QR_SCANNED', 'ROUTE_SHOWN');
CREATE INDEX IF NOT EXISTS orders_volume ON orders (created_at, state, idr_amount);
"""


class Storage:
    """A connection, its schema, and named values such as the node's key and the last quote."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # Autocommit: transactions are opened only where several rows belong together. The server can run in another
        # thread than the one that built the app, but only one of them uses the connection.
        self.connection = sqlite3.connect(
            ":memory:" if path is None else path,
            isolation_level=None,
            check_same_thread=False,
            timeout=10,
        )
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("PRAGMA journal_mode = WAL")
        # NORMAL can lose the last moments if the machine (not the process) crashes, which is fine for a sandbox.
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything within the block, or nothing."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def fact(self, name: str) -> str | None:
        """Return a named value, or None if it was never set."""
        row = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row["value"])

    def set_fact(self, name: str, value: str) -> None:
        """Store a named value."""
        self.connection.execute("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value))


def to_milliseconds(moment: datetime) -> int:
    """Return whole milliseconds since 1970, rounded down."""
    return (moment - _EPOCH) // _A_MILLISECOND


def from_milliseconds(value: int) -> datetime:
    """Return the aware UTC time of `to_milliseconds`."""
    return _EPOCH + value * _A_MILLISECOND
