"""SQLite without its thread, for tests that carry out very many small transactions.

The bot's driver does each statement in a thread of the connection. Going there and back costs several times what
SQLite itself needs. Nothing else differs: the same file, the same statements, the same locks, the same crashes, and
other tasks go on at each statement. A transaction that has to wait for one of another connection does so without
holding up the loop, in which that other one has to end.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from bot.infra.db.sqlite import OneTripConnection

Work = tuple[asyncio.Future[Any] | None, Callable[[], Any]]
TRIES, PAUSE_SECONDS = 30_000, 0.001
"""How often, and how long after one another, to try what another connection's lock is in the way of."""


class Impatient(sqlite3.Connection):
    """Says at once that it is locked out."""

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        """Execute `statement`, but let nobody set for how long this thread may be held up."""
        return super().execute("PRAGMA busy_timeout=0" if "busy_timeout" in statement else statement, *parameters)


class NoThread:
    """What the connection asks of its thread: nothing."""

    daemon = True

    def start(self) -> None:
        """Start nothing."""


class AtOnce:
    """The queue to the thread: what is put into it is done."""

    def put_nowait(self, work: Work) -> None:
        """Do the work, and let its future have what came of it."""
        future, function = work
        try:
            done = function()
        except Exception as error:
            if future is None:
                raise
            future.set_exception(error)
        else:
            if future is not None:
                future.set_result(done)


class ConnectionInTheLoop(OneTripConnection):
    """The bot's connection, but its statements are executed where they are awaited."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector)
        self._thread, self._tx = NoThread(), AtOnce()  # type: ignore[assignment]  # as far as the driver uses them

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        for _ in range(TRIES):
            await asyncio.sleep(0)
            if self._connection is None:
                break
            try:
                return fn(*args, **kwargs)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
            await asyncio.sleep(PAUSE_SECONDS)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # fails as it would there


def connect(database: str, **options: Any) -> ConnectionInTheLoop:
    """Stand in for `bot.infra.db.sqlite.connect`."""
    return ConnectionInTheLoop(lambda: sqlite3.connect(database, factory=Impatient, **options))
