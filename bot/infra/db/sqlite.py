"""SQLite with one trip to its thread a statement instead of four.

The driver keeps each connection in a thread, and SQLAlchemy goes there to open a cursor, to execute, to fetch and
to close. SQLite itself takes some 10 µs for a typical statement of ours; a trip takes 30 to 100 µs.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL, _connection_worker_thread

T = TypeVar("T")
Description = Sequence[tuple[Any, ...]] | None


class OneTripCursor:
    """What SQLAlchemy's adapter uses of a cursor; rows are fetched where they are found."""

    arraysize = 1

    def __init__(self, connection: "OneTripConnection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Description = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        """Nothing is opened before it's needed."""
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Self:
        """Execute, fetch every row and close."""
        return await self._connection.trip(lambda raw: self._take(raw.execute(statement, parameters)))

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Self:
        """Execute with each of many sets of parameters."""
        return await self._connection.trip(lambda raw: self._take(raw.executemany(statement, parameters)))

    async def fetchall(self) -> list[Any]:
        """The rows, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is left open."""

    def _take(self, cursor: sqlite3.Cursor) -> Self:
        self.description = cursor.description
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        cursor.close()
        return self


class OneTripConnection(aiosqlite.Connection):
    """The driver's connection with such cursors, and without a rollback where there is nothing to roll back."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(self._open, iter_chunk_size=64)
        # A daemon: an interrupted program must be able to end.
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._connect_to_file = connector
        self._opened: sqlite3.Connection | None = None
        self._unanswered = 0

    def cursor(self) -> OneTripCursor:  # type: ignore[override]  # the adapter asks for no more
        """A cursor, at no cost."""
        return OneTripCursor(self)

    async def trip(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in the connection's thread."""
        # Stays counted after an error and after a cancellation: then the connection's state is not known here.
        self._unanswered += 1
        done: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]  # the driver says nothing
        self._unanswered -= 1
        return done

    def stop(self) -> None:
        """End the thread without a word to the event loop, which may be closed before the thread gets there."""
        self._running = False
        self._tx.put_nowait((None, self._close_and_stop))

    def _work(self) -> None:
        try:
            _connection_worker_thread(self._tx)
        except RuntimeError:
            # The event loop was closed while a call was in progress: nobody waits for its answer.
            self._close_and_stop()

    def _open(self) -> sqlite3.Connection:
        # Kept here, in the thread: a caller that is cancelled while it waits for a connection never gets it.
        self._opened = self._connect_to_file()
        return self._opened

    def _close_and_stop(self) -> object:
        if self._opened is not None:
            self._opened.close()
        self._opened = self._connection = None
        return _STOP_RUNNING_SENTINEL

    async def rollback(self) -> None:
        """Roll back, unless the last statement was answered and has left no transaction."""
        if self._unanswered or self.in_transaction:
            await super().rollback()
            self._unanswered = 0


def connect(database: str, **options: Any) -> OneTripConnection:  # noqa: ANN401  whatever sqlite3 takes
    """A connection to a file, to be awaited; `options` are sqlite3's."""
    return OneTripConnection(lambda: sqlite3.connect(database, **options))
