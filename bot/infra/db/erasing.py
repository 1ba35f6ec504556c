"""Erase what was deleted or rewritten from SQLite's files as well.

`secure_delete` overwrites it in the database's own file. The write-ahead log keeps what a page held before, until it
is emptied. PostgreSQL keeps such versions in its tables and backups; they are its operator's (`VACUUM FULL`).
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from bot.infra.db.address import Address

log = structlog.get_logger(__name__)

AT_START_SECONDS: Final = 30.0
AFTER_DELETION_SECONDS: Final = 1.0
"""How long to wait for readers in other processes. Writers wait as long, and our readers take milliseconds."""


async def empty_log(place: Address, seconds: float = AFTER_DELETION_SECONDS) -> bool:
    """Empty the write-ahead log; return False where a reader or writer was in the way for `seconds`.

    Call it after a deletion, and at each start for what a crash has left.
    """
    return place.path is None or await asyncio.to_thread(_empty, place.path, seconds)


def _empty(path: Path, seconds: float) -> bool:
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=seconds)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        log.warning("sqlite_erase_failed", error=getattr(error, "sqlite_errorname", type(error).__name__))
        return False
    return not busy
