"""The files of a SQLite database: the lock beside it, and the erasure of deleted and replaced data.

Only one process works on the database, because two would answer every user twice. The system releases the lock when the
process dies.

`secure_delete` overwrites the data in the database file. The write-ahead log keeps the old pages until it is emptied.
PostgreSQL keeps old versions in its tables and backups. There, the operator has to erase them (`VACUUM FULL`).
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final, NoReturn

import structlog

from bot.core.reasons import network_reason
from bot.infra.db.address import Address
from bot.infra.db.errors import StoreDown

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 2.0


@asynccontextmanager
async def hold(database: Path, waiting: Callable[[], None] | None = None) -> AsyncIterator["FileLock"]:
    """Wait for the lock of a database, asking once a second, and hold it within the block.

    `waiting` is called each time that another process has it.

    Raises:
        StoreDown: the lock's file can't be opened.
    """
    lock = FileLock(database.with_name(f"{database.name}.lock"))
    try:
        while not lock.acquire():
            if waiting is not None:
                waiting()
            await asyncio.sleep(POLL_SECONDS)  # another process has it, and reports nothing
        yield lock
    finally:
        lock.release()


class FileLock:
    """A lock on a file. The bot never deletes the file, because a lock on a deleted file has no effect.

    If another program deletes the file, the lock is lost: the next process creates another file and locks that one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = _open(path)

    def acquire(self) -> bool:
        """Take the lock if it is free. Return whether this process has it."""
        if self._is_deleted():
            deleted, self._handle = self._handle, _open(self._path)
            os.close(deleted)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return not self._is_deleted()

    def release(self) -> None:
        """Release the lock."""
        os.close(self._handle)

    async def watch(self) -> NoReturn:
        """Wait until the lock is lost.

        Raises:
            StoreDown: another program has deleted the lock's file, so another process could work on the database.
        """
        while not self._is_deleted():  # noqa: ASYNC110  a deletion isn't reported
            await asyncio.sleep(WATCH_SECONDS)
        raise StoreDown("the lock file beside the database was deleted")

    def _is_deleted(self) -> bool:
        return os.fstat(self._handle).st_nlink == 0


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreDown(f"the lock file beside the database can't be opened: {network_reason(error)}") from error


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
