"""Connections to SQLite. Each has its own thread, and each statement takes one trip there.

A transaction begins in the trip of its first statement. The caller doesn't wait for a rollback, because the thread does
it before the connection's next statement. So a transaction that reads with one statement takes one trip, not three.

SQLAlchemy's adapter for aiosqlite uses this connection in place of aiosqlite's. With that one, each statement takes
four trips: to open a cursor, to execute, to fetch and to close. SQLite itself takes about 10 µs for one of our
statements. A trip takes 30 to 100 µs.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, Self, TypeVar

T = TypeVar("T")
Description = Sequence[tuple[Any, ...]] | None
Job = tuple[asyncio.Future[Any] | None, Callable[[], Any]]
"""What the thread does, and the future that gets the result. Without a future, nothing waits for it."""


class OneTripCursor:
    """The part of a cursor that SQLAlchemy's adapter uses. `execute` fetches the rows."""

    arraysize = 1

    def __init__(self, connection: "OneTripConnection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Description = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        """Return the cursor. It opens nothing before it's needed."""
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Self:
        """Execute the statement, fetch every row and close."""
        return await self._connection.execute_in_transaction(lambda raw: self._take(raw.execute(statement, parameters)))

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Self:
        """Execute the statement once for each set of parameters."""
        return await self._connection.execute_in_transaction(
            lambda raw: self._take(raw.executemany(statement, parameters))
        )

    async def fetchall(self) -> list[Any]:
        """Return the rows. A second call returns none."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Do nothing: the cursor is closed after each statement."""

    def _take(self, cursor: sqlite3.Cursor) -> Self:
        self.description = cursor.description
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        cursor.close()
        return self


class OneTripConnection:
    """A connection with its own thread. Awaiting the object opens the connection.

    It has the methods of `aiosqlite.Connection` that SQLAlchemy's adapter needs, and raises the same `ValueError` once
    it is closed. A rollback makes no trip to the thread if there is nothing to roll back.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        # A daemon thread, so that an interrupted program can end.
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._connect_to_file = connector
        self._opened: sqlite3.Connection | None = None
        # The same connection while it is usable. SQLAlchemy's adapter commits and rolls back only if this isn't None.
        self._connection: sqlite3.Connection | None = None
        self._unanswered = 0
        self._begin: str | None = None
        """The statement that begins the transaction, until it is executed."""

    def __await__(self) -> Generator[Any, None, Self]:
        """Start the thread and open the connection there."""
        self._thread.start()
        return self._connect().__await__()

    def cursor(self) -> OneTripCursor:
        """Return a cursor. It costs no trip to the thread."""
        return OneTripCursor(self)

    async def trip(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Call `work` in the connection's thread, and return its result.

        Raises:
            ValueError: the connection is closed.
        """
        if self._connection is None:
            raise ValueError("Connection closed")
        # Not counted down after an error or a cancellation: then the state of the connection is unknown.
        self._unanswered += 1
        done = await self._do(partial(work, self._connection))
        self._unanswered -= 1
        return done

    def begin(self, statement: str) -> None:
        """Begin a transaction with `statement`, in the trip of the next statement."""
        self._begin = statement

    async def execute_in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Call `work` in the connection's thread, after the statement that begins the transaction.

        Raises:
            ValueError: the connection is closed.
        """
        return await self.trip(work if self._begin is None else lambda raw: self._begin_and(work, raw))

    async def commit(self) -> None:
        """Commit the transaction. Skip the trip if it has no statement."""
        if self._begin is None:
            await self.trip(sqlite3.Connection.commit)
        self._begin = None

    async def rollback(self) -> None:
        """Roll back. Skip the trip if all statements were answered and the transaction has none, or isn't open.

        Wait for it only if the state of the connection is unknown. A rollback that fails makes the next transaction
        fail, because it can't begin.
        """
        if self._unanswered or self._connection is None:
            await self.trip(sqlite3.Connection.rollback)
            self._unanswered = 0
        elif self._begin is None and self._connection.in_transaction:
            self._do_unawaited(partial(sqlite3.Connection.rollback, self._connection))
        self._begin = None

    async def create_function(self, name: str, arguments: int, function: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401  sqlite3's
        """Register a function for use in SQL."""
        await self.trip(lambda raw: raw.create_function(name, arguments, function, **options))

    async def close(self) -> None:
        """Close the connection and end the thread."""
        if self._connection is None:
            return
        try:
            await self.trip(sqlite3.Connection.close)
        finally:
            self.stop()

    def stop(self) -> None:
        """End the thread. It doesn't call the event loop, which may be closed before the thread ends."""
        self._connection = None
        self._jobs.put(None)

    async def _connect(self) -> Self:
        try:
            self._connection = await self._do(self._open)
        except BaseException:
            self.stop()
            raise
        return self

    async def _do(self, function: Callable[[], T]) -> T:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((done, function))
        return await done

    def _do_unawaited(self, function: Callable[[], object]) -> None:
        self._jobs.put((None, function))

    # The methods below run in the thread.

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                _run_job(*job)
        except RuntimeError:
            # The event loop was closed during a call, so no task waits for the result.
            pass
        finally:
            self._close()

    def _begin_and(self, work: Callable[[sqlite3.Connection], T], raw: sqlite3.Connection) -> T:
        if self._begin is not None:
            raw.execute(self._begin)
            self._begin = None
        return work(raw)

    def _open(self) -> sqlite3.Connection:
        # Saved by the thread, because a cancelled caller never receives the connection.
        self._opened = self._connect_to_file()
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            with contextlib.suppress(sqlite3.Error):
                self._opened.close()


def _run_job(done: asyncio.Future[Any] | None, function: Callable[[], Any]) -> None:
    if done is None:
        with contextlib.suppress(sqlite3.Error):
            function()
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001  the awaiting task raises it
        done.get_loop().call_soon_threadsafe(_set_result, done, done.set_exception, error)
    else:
        done.get_loop().call_soon_threadsafe(_set_result, done, done.set_result, result)


def _set_result(done: asyncio.Future[Any], set_result: Callable[[Any], None], value: object) -> None:
    if not done.done():
        set_result(value)


def connect(database: str, **options: Any) -> OneTripConnection:  # noqa: ANN401  sqlite3's
    """Return a connection to a database file. Await it to open it. `options` are those of `sqlite3.connect`."""
    return OneTripConnection(lambda: sqlite3.connect(database, **options))
