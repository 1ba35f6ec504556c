"""The state file: orders, and named values such as the node's key and the last quote.

It is a SQLite database on disk, or one in memory that ends with the process. Everything is written at once, in the
caller's thread. A write takes some ten microseconds, and no recovery is needed after a crash. Indexes keep frequent
queries fast with any number of orders.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from bot.sandbox.service.orders import FAILED, UNPAID, Order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_A_MILLISECOND: Final = timedelta(milliseconds=1)

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
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
CREATE INDEX IF NOT EXISTS orders_newest ON orders (seq) WHERE listed = 1;
CREATE INDEX IF NOT EXISTS orders_by_invoice ON orders (bolt11);
CREATE INDEX IF NOT EXISTS orders_due ON orders (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_unpaid ON orders (expires_at)
    WHERE state IN ('IDLE', 'NWC_CONNECTED', 'QR_SCANNED', 'ROUTE_SHOWN');
CREATE INDEX IF NOT EXISTS orders_volume ON orders (created_at, state, idr_amount);
"""
_COLUMNS: Final = tuple(field.name for field in fields(Order))
_TIMES: Final = frozenset(name for name in _COLUMNS if name.endswith("_at") and name != "fail_at")
_FLAGS: Final = frozenset({"listed", "deposit_seen"})
_UNPAID: Final = ", ".join(f"'{state}'" for state in UNPAID)
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM orders"  # noqa: S608  our own column names
_INSERT: Final = f"INSERT INTO orders ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"  # noqa: S608  our own column names
_UPDATE: Final = f"UPDATE orders SET {', '.join(f'{name} = :{name}' for name in _COLUMNS)} WHERE id = :id"  # noqa: S608  our own column names
_AT_ONCE: Final = 500


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


class OrderBook:
    """All orders."""

    def __init__(self, storage: Storage) -> None:
        self._db = storage.connection

    def add(self, order: Order) -> None:
        """Insert a new order."""
        self._db.execute(_INSERT, _to_row(order))

    def save(self, order: Order) -> None:
        """Update an order."""
        self._db.execute(_UPDATE, _to_row(order))

    def find(self, order_id: str) -> Order | None:
        """Return an order."""
        return self._one(f"{_SELECT} WHERE id = ?", order_id)

    def find_by_invoice(self, bolt11: str) -> Order | None:
        """Return the order of this lower-case invoice."""
        return self._one(f"{_SELECT} WHERE bolt11 = ?", bolt11)

    def newest(self, limit: int) -> list[Order]:
        """Return the list of an integrator, newest first."""
        return self._all(f"{_SELECT} WHERE listed = 1 ORDER BY seq DESC LIMIT ?", limit)

    def newest_of_all(self, limit: int, recipient: str | None = None) -> list[Order]:
        """Return orders, newest first, unlisted ones included: all, or those to one recipient."""
        where = "WHERE ? IS NULL OR recipient = ? ORDER BY seq DESC LIMIT ?"
        return self._all(f"{_SELECT} {where}", recipient, recipient, limit)

    def due(self, now: datetime) -> list[Order]:
        """Return orders whose next step is due, the longest waiting first, some hundreds at once."""
        where = "WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?"
        return self._all(f"{_SELECT} {where}", to_milliseconds(now), _AT_ONCE)

    def expired(self, now: datetime) -> list[Order]:
        """Return unpaid orders that have expired, some hundreds at once."""
        where = f"WHERE state IN ({_UNPAID}) AND deposit_seen = 0 AND expires_at <= ? LIMIT ?"
        return self._all(f"{_SELECT} {where}", to_milliseconds(now), _AT_ONCE)

    def overdue_start_now(self, now: datetime) -> None:
        """After a stop, start missed steps now, in order and at the usual speed."""
        at = to_milliseconds(now)
        self._db.execute("UPDATE orders SET due_at = ? WHERE due_at IS NOT NULL AND due_at < ?", (at, at))

    def reschedule(self, due_at: datetime | None, bank_code: str | None = None) -> None:
        """Set the time of the next step of every paid order in progress, or of those to a bank. None stops them."""
        moving = f"state NOT IN ('COMPLETED', '{FAILED}') AND (paid_at IS NOT NULL OR deposit_seen = 1)"
        in_progress = f"{moving} AND state NOT IN ({_UNPAID})"
        at = None if due_at is None else to_milliseconds(due_at)
        where = f"{in_progress} AND (? IS NULL OR bank_code = ?)"
        self._db.execute(f"UPDATE orders SET due_at = ? WHERE {where}", (at, bank_code, bank_code))  # noqa: S608  constants only

    def idr_since(self, moment: datetime) -> int:
        """Return the rupiah of all orders created since, without failed ones. The partner's caps count these."""
        question = f"SELECT SUM(idr_amount) AS idr FROM orders WHERE created_at >= ? AND state != '{FAILED}'"  # noqa: S608
        return int(self._db.execute(question, (to_milliseconds(moment),)).fetchone()["idr"] or 0)

    def totals(self) -> dict[str, int]:
        """Return platform totals: the numbers of `orders` and `completed`, and `idr` and `sats` of the completed."""
        row = self._db.execute(
            "SELECT COUNT(*) AS orders, COUNT(completed_at) AS completed,"
            " COALESCE(SUM(idr_amount) FILTER (WHERE completed_at IS NOT NULL), 0) AS idr,"
            " COALESCE(SUM(sat_amount) FILTER (WHERE completed_at IS NOT NULL), 0) AS sats FROM orders",
        ).fetchone()
        return {name: int(row[name]) for name in ("orders", "completed", "idr", "sats")}

    def _one(self, question: str, *values: object) -> Order | None:
        row = self._db.execute(question, values).fetchone()
        return None if row is None else _from_row(row)

    def _all(self, question: str, *values: object) -> list[Order]:
        return [_from_row(row) for row in self._db.execute(question, values)]


def _to_row(order: Order) -> dict[str, object]:
    return {name: _stored(getattr(order, name)) for name in _COLUMNS}


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return to_milliseconds(value)
    if isinstance(value, Decimal):
        return str(value)
    return ",".join(value) if isinstance(value, tuple) else value


def _from_row(row: sqlite3.Row) -> Order:
    values: dict[str, Any] = {name: _loaded(name, row[name]) for name in _COLUMNS}
    return Order(**values)


def _loaded(name: str, value: object) -> object:
    if name in _TIMES and isinstance(value, int):
        return from_milliseconds(value)
    if name in _FLAGS:
        return bool(value)
    if name == "btc_idr":
        return Decimal(str(value))
    return tuple(str(value).split(",")) if name == "reached" else value
