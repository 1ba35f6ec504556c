"""SQLite without its thread, for tests in which only one connection at a time has work to do.

The bot's driver does each statement in a thread of the connection. Going there and back costs several times what
SQLite itself needs, and makes up most of a test that carries out thousands of small transactions. Nothing else
differs: the same file, the same statements, the same crashes. A transaction that has to wait for one of another
connection would wait for ever here, so tests of several processes keep the threads unless they share one store.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from bot.store.one_trip import OneTripConnection

Work = tuple[asyncio.Future[Any] | None, Callable[[], Any]]


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


def connect(database: str, **options: Any) -> ConnectionInTheLoop:
    """Stand in for `bot.store.one_trip.connect`."""
    return ConnectionInTheLoop(lambda: sqlite3.connect(database, **options))
