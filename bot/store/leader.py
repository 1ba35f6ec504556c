"""One process acts as the bot on a database: two would answer everybody twice.

The lock is one that the system itself lets go of when its holder dies, however it dies: a lock on a file beside
the SQLite database, or PostgreSQL's advisory lock, which lives as long as its connection.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg  # type: ignore[import-untyped]  # it ships none
from sqlalchemy import URL

from bot.store.address import Address
from bot.store.errors import StoreFailure

POLL_SECONDS: Final = 1.0
HEARTBEAT_SECONDS: Final = 2.0
HEARTBEAT_PATIENCE_SECONDS: Final = 5.0

LOCK_KEY: Final = 0x6B_69_72_69_6D
"""PostgreSQL's advisory locks are numbers within a database; this one spells the project's name."""

# The server must notice a vanished machine as well, or nobody could ever follow it.
KEEPALIVES: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}

BROKEN: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The ways in which a connection turns out to be useless; the last is how asyncpg meets a farewell while idle."""


@dataclass(frozen=True, slots=True)
class Leadership:
    """Held as long as `lost` isn't set. Once it is, another process may lead: stop at once."""

    lost: asyncio.Event = field(default_factory=asyncio.Event)


def lead(address: Address, waiting: Callable[[], None] | None = None) -> AbstractAsyncContextManager[Leadership]:
    """Hold the leadership within the block; wait for it first, asking once a second.

    `waiting` is called once if it isn't free at once.

    Raises:
        StoreFailure: the database can't be reached, or the lock's file can't be opened.
    """
    if address.path is not None:
        return _file_lock(address.path.with_name(f"{address.path.name}.lock"), waiting)
    return _advisory_lock(address.url, waiting)


@asynccontextmanager
async def _file_lock(path: Path, waiting: Callable[[], None] | None) -> AsyncIterator[Leadership]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never deleted: a lock on a deleted file keeps nobody out.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreFailure(f"the leader's lock can't be opened: {error.strerror}") from error
    try:
        await _until(lambda: _flock(handle), waiting)
        yield Leadership()
    finally:
        os.close(handle)


async def _flock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@asynccontextmanager
async def _advisory_lock(url: URL, waiting: Callable[[], None] | None) -> AsyncIterator[Leadership]:
    connection = await _connect(url)
    leadership = Leadership()
    connection.add_termination_listener(lambda _: leadership.lost.set())
    try:
        await _until(lambda: _try_lock(connection), waiting)
        heartbeat = asyncio.create_task(_watch(connection, leadership))
        try:
            yield leadership
        finally:
            heartbeat.cancel()
            with suppress(asyncio.CancelledError, *BROKEN):
                await heartbeat
    finally:
        # Ends the session, and with it the lock; a plain close would wait for a server that may be gone.
        connection.terminate()


async def _connect(url: URL) -> asyncpg.Connection:
    plain = url.set(drivername="postgresql")
    if "ssl" in plain.query:
        plain = plain.difference_update_query(["ssl"]).update_query_dict({"sslmode": plain.query["ssl"]})
    try:
        return await asyncpg.connect(
            plain.render_as_string(hide_password=False),
            timeout=HEARTBEAT_PATIENCE_SECONDS,
            command_timeout=HEARTBEAT_PATIENCE_SECONDS,
            server_settings={"application_name": "kirim leader", **KEEPALIVES},
        )
    except BROKEN as error:
        raise StoreFailure(type(error).__name__) from None


async def _try_lock(connection: asyncpg.Connection) -> bool:
    try:
        return bool(await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY))
    except BROKEN as error:
        raise StoreFailure(type(error).__name__) from None


async def _watch(connection: asyncpg.Connection, leadership: Leadership) -> None:
    """A dead network ends no connection by itself: ask, and take silence for an end."""
    try:
        while not leadership.lost.is_set():
            await connection.execute("SELECT 1")
            await asyncio.sleep(HEARTBEAT_SECONDS)
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
