"""SQLite without a thread, for tests with very many small transactions.

The bot's driver executes each statement in the connection's thread. The way there and back takes several times as long
as SQLite itself. All else is the same: file, statements, locks, crashes, and other tasks that run at each statement. A
transaction that waits for another connection's lock doesn't block the event loop, in which the other one has to end.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from bot.infra.db.sqlite import OneTripConnection

T = TypeVar("T")
TRIES, PAUSE_SECONDS = 30_000, 0.001
"""How often to try a statement that another connection's lock blocks, and the pause between tries."""


class NonWaitingConnection(sqlite3.Connection):
    """A connection that reports a lock at once instead of waiting."""

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        """Execute `statement`, but keep the time-out for locks at 0."""
        return super().execute("PRAGMA busy_timeout=0" if "busy_timeout" in statement else statement, *parameters)


class NoThread:
    """A replacement for the connection's thread that does nothing."""

    def start(self) -> None:
        """Do nothing."""


class ConnectionInTheLoop(OneTripConnection):
    """The bot's connection, but without a thread: statements are executed in the event loop."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector)
        self._thread = NoThread()  # type: ignore[assignment]  # as far as the connection uses it

    async def trip(self, work: Callable[[sqlite3.Connection], T]) -> T:
        await asyncio.sleep(0)
        return await super().trip(work)

    async def _do(self, function: Callable[[], T]) -> T:
        for _ in range(TRIES):
            try:
                return function()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
            await asyncio.sleep(PAUSE_SECONDS)
            if self._connection is None:
                raise ValueError("Connection closed")
        return function()

    def _do_unawaited(self, function: Callable[[], object]) -> None:
        function()

    def stop(self) -> None:
        super().stop()
        self._close()


def connect(database: str, **options: Any) -> ConnectionInTheLoop:
    """Replace `bot.infra.db.sqlite.connect`."""
    return ConnectionInTheLoop(lambda: sqlite3.connect(database, factory=NonWaitingConnection, **options))
