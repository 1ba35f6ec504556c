"""SQLite without its thread, for tests that carry out very many small transactions.

The bot's driver does each statement in a thread of the connection. Going there and back costs several times what
SQLite itself needs. Nothing else differs: the same file, the same statements, the same locks, the same crashes, and
other tasks go on at each statement. A transaction that has to wait for one of another connection does so without
holding up the loop, in which that other one has to end.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from bot.infra.db.sqlite import OneTripConnection

T = TypeVar("T")
TRIES, PAUSE_SECONDS = 30_000, 0.001
"""How often, and how long after one another, to try what another connection's lock is in the way of."""


class NonWaitingConnection(sqlite3.Connection):
    """Says at once that it is locked out."""

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        """Execute `statement`, but let nobody set for how long this thread may be held up."""
        return super().execute("PRAGMA busy_timeout=0" if "busy_timeout" in statement else statement, *parameters)


class NoThread:
    """What the connection asks of its thread: nothing."""

    def start(self) -> None:
        """Start nothing."""


class ConnectionInTheLoop(OneTripConnection):
    """The bot's connection, but its statements are executed where they are awaited."""

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

    def stop(self) -> None:
        super().stop()
        self._close()


def connect(database: str, **options: Any) -> ConnectionInTheLoop:
    """Stand in for `bot.infra.db.sqlite.connect`."""
    return ConnectionInTheLoop(lambda: sqlite3.connect(database, factory=NonWaitingConnection, **options))
