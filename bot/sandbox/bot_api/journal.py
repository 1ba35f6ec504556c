"""Storage of the sandbox's state between starts. Callers never wait for the disk.

The model is in memory. Changes are noted by kind and key and written in batches, off the event loop. A record is
serialised when its batch is written, so a message edited ten times in between is written once.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from typing import TYPE_CHECKING, Any, Protocol

import structlog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 0.2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (kind TEXT, key TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, key));
CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY, content BLOB NOT NULL);
"""


class Journal(Protocol):
    """Where records are saved."""

    def put(self, kind: str, key: str, record: object) -> None:
        """Note that a record has changed. It is read when it is written."""

    def forget(self, kind: str, key: str) -> None:
        """Note that a record was deleted."""

    def put_blob(self, key: str, content: bytes) -> None:
        """Save bytes."""

    def blob(self, key: str) -> bytes | None:
        """Return the bytes saved under a key."""

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """Return all records as (kind, key, JSON)."""

    def clear(self) -> None:
        """Delete everything."""

    async def flush(self) -> None:
        """Write the noted changes."""

    def close(self) -> None:
        """Write the noted changes and close."""


class MemoryJournal:
    """Keep only bytes, and only in memory."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, kind: str, key: str, record: object) -> None:
        """Do nothing: the model is in memory anyway."""

    def forget(self, kind: str, key: str) -> None:
        """Do nothing."""

    def put_blob(self, key: str, content: bytes) -> None:
        """Save bytes."""
        self._blobs[key] = content

    def blob(self, key: str) -> bytes | None:
        """Return the bytes saved under a key."""
        return self._blobs.get(key)

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """Return no records."""
        return iter(())

    def clear(self) -> None:
        """Delete the bytes."""
        self._blobs.clear()

    async def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class _Batch:
    """The serialised content of one transaction. A batch from before a `clear` isn't written."""

    def __init__(self, noted: dict[tuple[str, str], object], blobs: dict[str, bytes], generation: int) -> None:
        self.changed = [
            (kind, key, json.dumps(record, default=vars, ensure_ascii=False))
            for (kind, key), record in noted.items()
            if record is not None
        ]
        self.gone = [place for place, record in noted.items() if record is None]
        self.blobs = blobs
        self.generation = generation


class SqliteJournal:
    """Save records and bytes in a SQLite file, which it creates."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)
        self._changed: dict[tuple[str, str], object] = {}
        self._blobs: dict[str, bytes] = {}
        self._generation = 0

    def put(self, kind: str, key: str, record: object) -> None:
        """Note that a record has changed."""
        self._changed[kind, key] = record

    def forget(self, kind: str, key: str) -> None:
        """Note that a record was deleted."""
        self._changed[kind, key] = None

    def put_blob(self, key: str, content: bytes) -> None:
        """Save bytes. They can be read at once."""
        self._blobs[key] = content

    def blob(self, key: str) -> bytes | None:
        """Return the bytes saved under a key."""
        if key in self._blobs:
            return self._blobs[key]
        with self._lock:
            row = self._database.execute("SELECT content FROM blobs WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """Return all records, in the order in which they were first written."""
        with self._lock:
            rows = self._database.execute("SELECT kind, key, body FROM records ORDER BY rowid").fetchall()
        return ((kind, key, json.loads(body)) for kind, key, body in rows)

    def clear(self) -> None:
        """Delete everything, on disk as well."""
        self._changed.clear()
        self._blobs.clear()
        self._generation += 1
        with self._lock, self._database:
            self._database.execute("DELETE FROM records")
            self._database.execute("DELETE FROM blobs")

    async def flush(self) -> None:
        """Write the noted changes in one transaction, on another thread."""
        if not self._changed and not self._blobs:
            return
        noted, self._changed = self._changed, {}
        batch = _Batch(noted, dict(self._blobs), self._generation)
        try:
            await asyncio.to_thread(self._write, batch)
        except BaseException:
            self._changed = {**noted, **self._changed}
            raise
        self._release(batch.blobs)

    def close(self) -> None:
        """Write the noted changes and close the file."""
        self._write(_Batch(self._changed, self._blobs, self._generation))
        self._database.close()

    def _write(self, batch: _Batch) -> None:
        with self._lock, self._database:
            if batch.generation != self._generation:
                return
            self._database.executemany(
                "INSERT INTO records (kind, key, body) VALUES (?, ?, ?)"
                " ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body",
                batch.changed,
            )
            self._database.executemany("DELETE FROM records WHERE kind = ? AND key = ?", batch.gone)
            self._database.executemany("INSERT OR REPLACE INTO blobs VALUES (?, ?)", batch.blobs.items())

    def _release(self, written: dict[str, bytes]) -> None:
        for key, content in written.items():
            if self._blobs.get(key) is content:
                del self._blobs[key]


def open_journal(path: Path | None) -> Journal:
    """Return the journal of a path, or one in memory if there is no path."""
    return MemoryJournal() if path is None else SqliteJournal(path)


async def keep_flushing(journal: Journal) -> None:
    """Flush forever, a few times per second. A failed write is retried."""
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        try:
            await journal.flush()
        except sqlite3.Error as error:
            log.warning("state_not_saved", error=str(error))
