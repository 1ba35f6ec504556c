"""The lock on a SQLite database: only one process works on it, because two would answer every user twice.

The system releases the lock when the process dies. It is on a file beside the database.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NoReturn

from bot.core.reasons import network_reason
from bot.infra.db.errors import StoreDown

POLL_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 2.0


@asynccontextmanager
async def hold(database: Path, waiting: Callable[[], None] | None = None) -> AsyncIterator["FileLock"]:
    """Wait for the lock of a database, asking once a second, and hold it within the block.

    `waiting` is called once if another process has it now.

    Raises:
        StoreDown: the lock's file can't be opened.
    """
    lock = FileLock(database.with_name(f"{database.name}.lock"))
    try:
        await _wait_for(lock, waiting)
        yield lock
    finally:
        lock.release()


async def _wait_for(lock: "FileLock", waiting: Callable[[], None] | None) -> None:
    if lock.acquire():
        return
    if waiting is not None:
        waiting()
    while not lock.acquire():  # noqa: ASYNC110  another process has it, and reports nothing
        await asyncio.sleep(POLL_SECONDS)


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
