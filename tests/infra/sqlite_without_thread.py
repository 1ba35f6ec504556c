"""SQLite without a thread, for tests with very many small transactions.

The driver executes each statement that writes in the connection's thread. The way there and back takes several times as
long as SQLite itself. All else is the same: file, statements, locks, crashes, and other tasks that run at each
statement. A transaction that waits for another connection's lock doesn't block the event loop, in which the other one
has to end.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, Self

import aiosqlite

from bot.infra.db.sqlite import DriverConnection, FetchingCursor

TRIES, PAUSE_SECONDS = 30_000, 0.001
"""How often to try a statement that another connection's lock blocks, and the pause between tries."""


class NonWaitingCursor(FetchingCursor):
    """A cursor that keeps the time-out for locks at 0. SQLAlchemy's adapter sets it by one."""

    def execute(self, statement: str, *parameters: Any) -> Self:
        """Execute `statement`, unless it sets the time-out."""
        return super().execute("PRAGMA busy_timeout=0" if "busy_timeout" in statement else statement, *parameters)


class NonWaitingConnection(DriverConnection):
    """A connection that reports a lock at once instead of waiting."""

    def cursor(self, factory: Any = NonWaitingCursor) -> Any:
        """Return a cursor that doesn't wait either."""
        return super().cursor(factory)


class ConnectionInTheLoop(aiosqlite.Connection):
    """The driver's connection, but without its thread: statements are executed in the event loop."""

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        for _ in range(TRIES):
            if self._connection is None:
                raise ValueError("Connection closed")
            try:
                return fn(*args, **kwargs)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
            await asyncio.sleep(PAUSE_SECONDS)
        return fn(*args, **kwargs)

    def __del__(self) -> None:
        """Close the connection of a process that a test has killed, without the driver's warning."""
        self.stop()

    def __await__(self) -> Any:
        return self._open().__await__()

    async def _open(self) -> "ConnectionInTheLoop":
        self._connection = self._connector()
        return self

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def connect(database: str, **options: Any) -> ConnectionInTheLoop:
    """Replace `aiosqlite.connect`."""
    options |= {"factory": NonWaitingConnection, "timeout": 0}
    return ConnectionInTheLoop(lambda: sqlite3.connect(database, **options), 64)
