"""Leadership: only one process acts as the bot on a database, because two would answer every user twice.

The leader holds a lock that the system releases when the process dies. For SQLite it is a lock on a file next to the
database. For PostgreSQL it is an advisory lock, which ends with its connection. Neither needs a table.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from bot.core.reasons import network_reason
from bot.infra.db.address import Address
from bot.infra.db.errors import StoreFailure

POLL_SECONDS: Final = 1.0
HEARTBEAT_SECONDS: Final = 2.0


class Leadership:
    """The right to act as the bot. Once `lost` is set, stop at once: another process can be the leader."""

    def __init__(self, ask: Callable[[], Awaitable[bool]]) -> None:
        self.lost = asyncio.Event()
        self._ask = ask

    async def confirm(self) -> bool:
        """Ask the lock itself whether this process still leads. On PostgreSQL that is one round trip, about 0.2 ms."""
        if not self.lost.is_set() and not await self._ask():
            self.lost.set()
        return not self.lost.is_set()


@asynccontextmanager
async def lead(address: Address, waiting: Callable[[], None] | None = None) -> AsyncIterator[Leadership]:
    """Wait for the leadership, asking once a second, and hold it within the block.

    A task checks it from the beginning. After the block, it counts as lost. `waiting` is called once if another process
    leads now.

    Raises:
        StoreFailure: the database can't be reached, or the lock's file can't be opened.
    """
    lock = await _create_lock(address)
    try:
        await _wait_for(lock.acquire, waiting)
        leadership = Leadership(lock.is_held)
        lock.on_lost(leadership.lost.set)
        watching = asyncio.create_task(_watch(leadership), name="leader")
        try:
            yield leadership
        finally:
            leadership.lost.set()
            watching.cancel()
            await asyncio.wait({watching})
    finally:
        lock.release()


async def _watch(leadership: Leadership) -> None:
    """Ask the server regularly. A dead network doesn't close the connection, so no answer counts as a loss."""
    try:
        while await leadership.confirm():
            with suppress(TimeoutError):
                await asyncio.wait_for(leadership.lost.wait(), HEARTBEAT_SECONDS)
    finally:
        # However this task ended, the leadership is no longer checked.
        leadership.lost.set()


async def _wait_for(acquire: Callable[[], Awaitable[bool]], waiting: Callable[[], None] | None) -> None:
    if await acquire():
        return
    if waiting is not None:
        waiting()
    while not await acquire():  # noqa: ASYNC110  no process announces that it released the lock
        await asyncio.sleep(POLL_SECONDS)


class _Lock(Protocol):
    """A lock that only one process can hold. It is released when that process dies."""

    async def acquire(self) -> bool:
        """Take the lock if it is free. Return whether this process holds it. Raises `StoreFailure`."""
        ...

    async def is_held(self) -> bool:
        """Return whether this process still holds the lock."""
        ...

    def on_lost(self, notify: Callable[[], None]) -> None:
        """Call `notify` if a loss is noticed without asking."""
        ...

    def release(self) -> None:
        """Release the lock, even if the server doesn't answer."""
        ...


async def _create_lock(address: Address) -> _Lock:
    if address.path is not None:
        return _FileLock(address.path.with_name(f"{address.path.name}.lock"))
    from bot.infra.db import leader_session  # noqa: PLC0415  the driver of PostgreSQL is loaded only if it is used

    return leader_session.SessionLock(await leader_session.connect(address.url))


class _FileLock:
    """A lock on a file. The bot never deletes the file, because a lock on a deleted file has no effect.

    If another program deletes the file, the lock is lost: the next process creates another file and locks that one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = _open(path)

    async def acquire(self) -> bool:
        if self._is_deleted():
            deleted, self._handle = self._handle, _open(self._path)
            os.close(deleted)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return not self._is_deleted()

    async def is_held(self) -> bool:
        return not self._is_deleted()

    def on_lost(self, notify: Callable[[], None]) -> None:
        """Do nothing: a file lock reports no loss."""

    def release(self) -> None:
        os.close(self._handle)

    def _is_deleted(self) -> bool:
        return os.fstat(self._handle).st_nlink == 0


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreFailure(f"the lock file beside the database can't be opened: {network_reason(error)}") from error
