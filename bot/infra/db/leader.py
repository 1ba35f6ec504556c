"""One process acts as the bot on a database: two would answer everybody twice.

The lock is one that the system itself lets go of when its holder dies, however it dies: a lock on a file beside
the SQLite database, or PostgreSQL's advisory lock, which lives as long as its connection. Neither needs a table.
"""

import asyncio
import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

import asyncpg  # type: ignore[import-untyped]  # it ships none
from sqlalchemy import URL

from bot.core.reasons import network_reason
from bot.infra.db.address import Address
from bot.infra.db.errors import StoreFailure, unreachable

POLL_SECONDS: Final = 1.0
HEARTBEAT_SECONDS: Final = 2.0
HEARTBEAT_TIMEOUT_SECONDS: Final = 5.0

LOCK_KEY: Final = 0x6B_69_72_69_6D
"""PostgreSQL's advisory locks are numbers within a database; this one spells the project's name."""

# The server must notice a vanished machine as well, or nobody could ever follow it.
KEEPALIVES: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}

BROKEN: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The ways in which a connection turns out to be useless; the last is how asyncpg meets a farewell while idle."""


class Leadership:
    """The right to act as the bot. Once `lost` is set, another process may have it: stop at once."""

    def __init__(self, ask: Callable[[], Awaitable[bool]]) -> None:
        self.lost = asyncio.Event()
        self._ask = ask

    async def holds(self) -> bool:
        """Ask the lock itself whether it is still ours: on PostgreSQL one round trip, some 0.2 ms."""
        if not self.lost.is_set() and not await self._ask():
            self.lost.set()
        return not self.lost.is_set()


@asynccontextmanager
async def lead(address: Address, waiting: Callable[[], None] | None = None) -> AsyncIterator[Leadership]:
    """Hold the leadership within the block; wait for it first, asking once a second.

    It is watched from its first moment on, and counts as lost after the block. `waiting` is called once if it isn't
    free at once.

    Raises:
        StoreFailure: the database can't be reached, or the lock's file can't be opened.
    """
    lock = await _lock_of(address)
    try:
        await _until(lock.take, waiting)
        leadership = Leadership(lock.holds)
        lock.when_lost(leadership.lost.set)
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
    """Ask the server again and again. A dead network ends no connection, so silence counts as its end."""
    try:
        while await leadership.holds():
            with suppress(TimeoutError):
                await asyncio.wait_for(leadership.lost.wait(), HEARTBEAT_SECONDS)
    finally:
        # However the watching ends: nobody watches any more.
        leadership.lost.set()


async def _until(held: Callable[[], Awaitable[bool]], waiting: Callable[[], None] | None) -> None:
    if await held():
        return
    if waiting is not None:
        waiting()
    while not await held():  # noqa: ASYNC110  no process tells another that it has let go
        await asyncio.sleep(POLL_SECONDS)


class _Lock(Protocol):
    """What only one process can hold, and what the death of its holder sets free."""

    async def take(self) -> bool:
        """Take it where it is free; whether it is ours. Raises `StoreFailure`."""
        ...

    async def holds(self) -> bool:
        """Whether it is still ours."""
        ...

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Call `tell` where its loss is noticed without asking."""
        ...

    def release(self) -> None:
        """Let go of it, however the other side is."""
        ...


async def _lock_of(address: Address) -> _Lock:
    if address.path is not None:
        return _FileLock(address.path.with_name(f"{address.path.name}.lock"))
    return _SessionLock(await _connect(address.url))


class _FileLock:
    """A lock on a file, which we never delete: a lock on a deleted file keeps nobody out.

    Where somebody else deletes it, it is lost: the next process makes another file and locks that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = _opened(path)

    async def take(self) -> bool:
        if self._is_deleted():
            deleted, self._handle = self._handle, _opened(self._path)
            os.close(deleted)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return not self._is_deleted()

    async def holds(self) -> bool:
        return not self._is_deleted()

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Nothing says so by itself."""

    def release(self) -> None:
        os.close(self._handle)

    def _is_deleted(self) -> bool:
        return os.fstat(self._handle).st_nlink == 0


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreFailure(f"the lock file beside the database can't be opened: {network_reason(error)}") from error


class _SessionLock:
    """An advisory lock of the session that one connection has.

    A pooler between us and the server may give the same session to two processes, and the server then gives both the
    lock. So who takes it leaves a mark in the session; who finds another's there has lost it.
    """

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._mark = secrets.token_hex(8)
        # A connection answers one question at a time.
        self._turn = asyncio.Lock()

    async def take(self) -> bool:
        try:
            taken = bool(await self._connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY))
            if taken:
                await self._connection.execute(f"SELECT set_config('kirim.leader', '{self._mark}', false)")
        except BROKEN as error:
            raise unreachable(error) from None
        return taken

    async def holds(self) -> bool:
        async with self._turn:
            try:
                mark = await self._connection.fetchval("SELECT current_setting('kirim.leader', true)")
            except BROKEN:
                return False
        return bool(mark == self._mark)

    def when_lost(self, tell: Callable[[], None]) -> None:
        self._connection.add_termination_listener(lambda _: tell())
        if self._connection.is_closed():
            tell()

    def release(self) -> None:
        # Ends the session, and with it the lock; a plain close would wait for a server that may be gone.
        self._connection.terminate()


async def _connect(url: URL) -> asyncpg.Connection:
    plain = url.set(drivername="postgresql")
    if "ssl" in plain.query:
        plain = plain.difference_update_query(["ssl"]).update_query_dict({"sslmode": plain.query["ssl"]})
    try:
        return await asyncpg.connect(
            plain.render_as_string(hide_password=False),
            timeout=HEARTBEAT_TIMEOUT_SECONDS,
            command_timeout=HEARTBEAT_TIMEOUT_SECONDS,
            server_settings={"application_name": "kirim leader", **KEEPALIVES},
        )
    except BROKEN as error:
        raise unreachable(error) from None
