"""Erase deleted and replaced data from SQLite's files.

`secure_delete` overwrites the data in the database file. The write-ahead log keeps the old pages until it is emptied.
PostgreSQL keeps old versions in its tables and backups. There, the operator has to erase them (`VACUUM FULL`).
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
"""Seconds to wait for readers in other processes. Our writers wait as long, and our readers take milliseconds."""


async def empty_write_ahead_log(address: Address, seconds: float = AFTER_DELETION_SECONDS) -> bool:
    """Empty the write-ahead log. Return False if a reader or writer blocked that for `seconds`.

    Call it after a deletion, and at each start, because a crash can leave a log behind.
    """
    return address.path is None or await asyncio.to_thread(_empty, address.path, seconds)


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
