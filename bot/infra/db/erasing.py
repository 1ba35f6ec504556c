"""What was deleted or rewritten is to be gone from SQLite's files as well: from old pages, and from the log.

`secure_delete` overwrites what is deleted, but pages written by a program without it, and the write-ahead log until
it is emptied, go on holding what once stood there. PostgreSQL keeps such versions of its own, in tables and backups;
they are its operator's (`VACUUM FULL`).
"""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from bot.infra.db.address import Address

log = structlog.get_logger(__name__)

HAS_READABLE_PAGES: Final = 1
"""SQLite's `user_version` from a migration that has sealed readable rows until the file was written anew. It is set
within the migration's own transaction, so that a crash after it is made up for at the next start."""

PATIENCE_SECONDS: Final = 30.0
LOG_PATIENCE_SECONDS: Final = 1.0
"""Emptying the log keeps writers waiting while it waits for a reader; our readers take milliseconds."""


async def erase_old_pages(place: Address) -> bool:
    """To be called at each start: write the file anew if a migration has left old pages, and empty the log.

    Whether nothing is left. Where another process is in the way, or the disk is full, the next start tries again.
    """
    return place.path is None or await asyncio.to_thread(_guarded, _write_anew, place.path, PATIENCE_SECONDS)


async def empty_log(place: Address) -> bool:
    """Empty the write-ahead log, after a deletion; False where a reader or writer was in the way for too long."""
    return place.path is None or await asyncio.to_thread(_guarded, _truncate, place.path, LOG_PATIENCE_SECONDS)


def _guarded(work: Callable[[sqlite3.Connection], bool], path: Path, patience: float) -> bool:
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=patience)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            done = work(connection)
    except sqlite3.Error as error:
        log.warning("sqlite_erase_failed", error=getattr(error, "sqlite_errorname", type(error).__name__))
        return False
    return done


def _write_anew(connection: sqlite3.Connection) -> bool:
    (mark,) = connection.execute("PRAGMA user_version").fetchone()
    if mark != HAS_READABLE_PAGES:
        return _truncate(connection)
    connection.execute("VACUUM")
    if not _truncate(connection):
        log.warning("sqlite_erase_failed", reason="another process reads the database")
        return False
    # Only now: until the log was emptied into it, the file itself is the old one.
    connection.execute("PRAGMA user_version = 0")
    return _truncate(connection)


def _truncate(connection: sqlite3.Connection) -> bool:
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
