"""Keeps the sandbox's state between starts, without making anybody wait for the disk.

The model lives in memory. What changed is noted by kind and key and written in batches, off the event loop; each
record is serialised when the batch is made, so a message edited ten times in between is written once.
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
    """Where records go."""

    def put(self, kind: str, key: str, record: object) -> None:
        """Note that a record has changed; it is read later, when it is written."""

    def forget(self, kind: str, key: str) -> None:
        """Note that a record is gone."""

    def put_blob(self, key: str, content: bytes) -> None:
        """Keep bytes."""

    def blob(self, key: str) -> bytes | None:
        """Bytes kept under a key."""

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """All records as (kind, key, JSON)."""

    def clear(self) -> None:
        """Forget everything."""

    async def flush(self) -> None:
        """Write what is noted."""

    def close(self) -> None:
        """Write what is noted, and end."""


class MemoryJournal:
    """Keeps only bytes, and only until the end."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, kind: str, key: str, record: object) -> None:
        """Nothing to do: the model is in memory anyway."""

    def forget(self, kind: str, key: str) -> None:
        """Nothing to do."""

    def put_blob(self, key: str, content: bytes) -> None:
        """Keep bytes."""
        self._blobs[key] = content

    def blob(self, key: str) -> bytes | None:
        """Bytes kept under a key."""
        return self._blobs.get(key)

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """Nothing was kept."""
        return iter(())

    def clear(self) -> None:
        """Forget the bytes."""
        self._blobs.clear()

    async def flush(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class _Batch:
    """What one transaction writes, serialised. A batch from before a `clear` is of another life: not written."""

    def __init__(self, noted: dict[tuple[str, str], object], blobs: dict[str, bytes], life: int) -> None:
        self.changed = [
            (kind, key, json.dumps(record, default=vars, ensure_ascii=False))
            for (kind, key), record in noted.items()
            if record is not None
        ]
        self.gone = [place for place, record in noted.items() if record is None]
        self.blobs = blobs
        self.life = life


class SqliteJournal:
    """Keeps records and bytes in a SQLite file, which it creates."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)
        self._changed: dict[tuple[str, str], object] = {}
        self._blobs: dict[str, bytes] = {}
        self._life = 0

    def put(self, kind: str, key: str, record: object) -> None:
        """Note that a record has changed."""
        self._changed[kind, key] = record

    def forget(self, kind: str, key: str) -> None:
        """Note that a record is gone."""
        self._changed[kind, key] = None

    def put_blob(self, key: str, content: bytes) -> None:
        """Keep bytes; they are readable at once."""
        self._blobs[key] = content

    def blob(self, key: str) -> bytes | None:
        """Bytes kept under a key."""
        if key in self._blobs:
            return self._blobs[key]
        with self._lock:
            row = self._database.execute("SELECT content FROM blobs WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """All records, in the order they were first written."""
        with self._lock:
            rows = self._database.execute("SELECT kind, key, body FROM records ORDER BY rowid").fetchall()
        return ((kind, key, json.loads(body)) for kind, key, body in rows)

    def clear(self) -> None:
        """Forget everything, on disk as well."""
        self._changed.clear()
        self._blobs.clear()
        self._life += 1
        with self._lock, self._database:
            self._database.execute("DELETE FROM records")
            self._database.execute("DELETE FROM blobs")

    async def flush(self) -> None:
        """Write what is noted, in one transaction, on another thread."""
        if not self._changed and not self._blobs:
            return
        noted, self._changed = self._changed, {}
        batch = _Batch(noted, dict(self._blobs), self._life)
        try:
            await asyncio.to_thread(self._write, batch)
        except BaseException:
            self._changed = {**noted, **self._changed}
            raise
        self._release(batch.blobs)

    def close(self) -> None:
        """Write what is noted, and close the file."""
        self._write(_Batch(self._changed, self._blobs, self._life))
        self._database.close()

    def _write(self, batch: _Batch) -> None:
        with self._lock, self._database:
            if batch.life != self._life:
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
    """The journal at a path, or one that forgets, if there is no path."""
    return MemoryJournal() if path is None else SqliteJournal(path)


async def keep_flushing(journal: Journal) -> None:
    """Flush for ever, a few times a second; what can't be written now is tried again."""
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        try:
            await journal.flush()
        except sqlite3.Error as error:
            log.warning("state_not_saved", error=str(error))
