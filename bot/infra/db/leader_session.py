"""The leader's lock in PostgreSQL: an advisory lock of one connection, which the server releases with it."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Final

import asyncpg  # type: ignore[import-untyped]  # it has no types
from sqlalchemy import URL

from bot.infra.db.errors import translate_connection_error

HEARTBEAT_TIMEOUT_SECONDS: Final = 5.0

LOCK_KEY: Final = 0x6B_69_72_69_6D
"""The number of the advisory lock in PostgreSQL. Its bytes spell the project's name."""

# The server must notice when a machine vanishes. Otherwise no other process could become the leader.
KEEPALIVES: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}

BROKEN: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The errors of a lost connection. asyncpg raises the last one when the server ends an idle connection."""


class SessionLock:
    """An advisory lock of the session of one connection.

    A pooler between the bot and the server can give the same session to two processes. The server then gives both of
    them the lock. So each process writes a mark into the session, and has lost the lock if it finds another mark.
    """

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._mark = secrets.token_hex(8)
        # A connection runs one query at a time.
        self._query_lock = asyncio.Lock()

    async def acquire(self) -> bool:
        """Take the lock if it is free. Return whether this process holds it.

        Raises:
            StoreFailure: the connection is lost.
        """
        try:
            taken = bool(await self._connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY))
            if taken:
                await self._connection.execute(f"SELECT set_config('kirim.leader', '{self._mark}', false)")
        except BROKEN as error:
            raise translate_connection_error(error) from None
        return taken

    async def is_held(self) -> bool:
        """Return whether this process still holds the lock."""
        async with self._query_lock:
            try:
                mark = await self._connection.fetchval("SELECT current_setting('kirim.leader', true)")
            except BROKEN:
                return False
        return bool(mark == self._mark)

    def on_lost(self, notify: Callable[[], None]) -> None:
        """Call `notify` when the connection ends."""
        self._connection.add_termination_listener(lambda _: notify())
        if self._connection.is_closed():
            notify()

    def release(self) -> None:
        """Release the lock, even if the server doesn't answer."""
        # This ends the session and so the lock. `close` would wait for a server that may be gone.
        self._connection.terminate()


async def connect(url: URL) -> asyncpg.Connection:
    """Return a connection for the lock.

    Raises:
        StoreFailure: the server can't be reached.
    """
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
        raise translate_connection_error(error) from None
