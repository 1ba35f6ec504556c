"""Transactions on SQLite: one connection that writes, in aiosqlite's thread, and some that read in the event loop.

A trip to a thread and back takes longer than most of our statements. Reads never wait for the writer, thanks to the
write-ahead log, so they are executed in place. One that isn't done soon, because it goes through many rows or the disk
is slow, is executed again in a thread. It is still in the same transaction.
"""

import asyncio
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, Final, Self, cast

import aiosqlite
from sqlalchemy import Compiled, CursorResult, Dialect, Executable, StaticPool, create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.util import LRUCache

from bot.infra.db.transaction import Values

IN_PLACE_SECONDS: Final = 0.01
"""How long a read can take in the event loop. Index look-ups take less than 0.1 ms."""

STEPS_BETWEEN_CHECKS: Final = 50
"""Steps of SQLite's virtual machine after which the time is checked. Reading one row of the widest table takes 50."""

STEPS_IN_THREAD: Final = 100_000
"""The same for a read in a thread. It has no limit, but ends early if its caller was cancelled."""

READERS: Final = 8
"""How many connections read at once. Others wait: each has files open, of which a process may have about a thousand."""

BUSY_TIMEOUT_SECONDS: Final = 30
"""Seconds to wait for another process's write (SQLite) or for a free connection (PostgreSQL)."""

PRIMARY_CODE: Final = 0xFF
NOT_IN_PLACE: Final = (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY)

MAX_STATEMENTS: Final = 500
"""How many compiled statements are cached for each kind of database. The bot has far fewer."""


class StatementCache(LRUCache[Any, Compiled]):
    """A cache of compiled statements for all engines on one kind of database.

    SQLAlchemy's own cache key contains the engine's dialect object, so each engine would compile the same statements.
    All engines on one kind of database compile alike, so this cache leaves that part out.
    """

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:  # noqa: ANN401  as in the class above
        """Return the compiled statement of any engine."""
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Compiled) -> None:
        """Save a compiled statement for all engines."""
        super().__setitem__(key[1:], compiled)


# SQLAlchemy prepares each result for being asked with the columns of its own statement. That takes as long as building
# the statement, and we ask by names.
BY_NAMES: Final = {"_result_disable_adapt_to_context": True}
SQLITE_OPTIONS: Final = {"compiled_cache": StatementCache(MAX_STATEMENTS), **BY_NAMES}

Result = CursorResult[*tuple[Any, ...]]


class FetchingCursor(sqlite3.Cursor):
    """A cursor that fetches all rows as it executes. So SQLite does all its work in the same thread and time."""

    def execute(self, sql: str, parameters: Any = ()) -> Self:  # noqa: ANN401  the driver's
        """Execute the SQL, and fetch its rows."""
        super().execute(sql, parameters)
        self._rows = iter(super().fetchall())
        return self

    def fetchone(self) -> Any:  # noqa: ANN401  the driver's
        """Return the next row, or None."""
        return next(self._rows, None)

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        """Return the next rows."""
        return list(islice(self._rows, size))

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        return list(self._rows)


class DriverConnection(sqlite3.Connection):
    """The driver's connection. SQLAlchemy executes statements on it, in the thread in which it is asked to.

    It only executes: transactions begin and end at the driver's connection.
    """

    def __init__(self, *database: Any, **options: Any) -> None:  # noqa: ANN401  the driver's
        super().__init__(*database, **options)
        engine = create_engine(
            "sqlite://",
            creator=lambda: self,
            poolclass=StaticPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            execution_options=SQLITE_OPTIONS,
        )
        self._sqlalchemy = engine.connect()

    def cursor(self, factory: Any = FetchingCursor) -> Any:  # noqa: ANN401  the driver's
        """Return a cursor that fetches as it executes."""
        return super().cursor(factory)

    def run(self, statement: Executable, parameters: Values | None) -> Result:
        """Execute a statement, once for each set of parameters."""
        return self._sqlalchemy.execute(statement, parameters)

    def execute(self, sql: str | Executable, parameters: Any = ()) -> Any:  # noqa: ANN401  the driver's
        """Execute SQL, or a statement of aiosqlite, which knows no other method. It can begin a transaction."""
        if isinstance(sql, str):
            return super().execute(sql, parameters)
        if not self.in_transaction:
            super().execute("BEGIN IMMEDIATE")
        return _Executed(self.run(sql, parameters or None))


class _Executed:
    """What SQLAlchemy has executed. Its rows are fetched already."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def fetchall(self) -> Result:
        """Return the result, which aiosqlite returns to its caller."""
        return self._result


class SQLiteConnection(ABC):
    """The part of SQLAlchemy's connection that repositories use."""

    dialect: Dialect = sqlite.dialect()

    @abstractmethod
    async def execute(self, statement: Executable, parameters: Values | None = None) -> Any:  # noqa: ANN401  see `Connection`
        """Execute the statement, once for each set of parameters."""

    async def scalar(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401  likewise
        """Execute the statement. Return the first column of the first row, or None."""
        return (await self.execute(statement, parameters)).scalar()


class Writer(SQLiteConnection):
    """The connection that writes. Each statement takes one trip to its thread."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._checked_out: AsyncConnection | None = None
        # SQLite has one writer at a time. This lock is fair and wakes at once. SQLite's own waiting is neither.
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SQLiteConnection]:
        """Open a transaction. Commit it at the end of the block, or roll back after an exception or a cancellation."""
        async with self._lock:
            driver = await self._open()
            # What is cancelled here is still done by the thread, in its order. So the rollback comes after it, and
            # before the next transaction begins.
            is_committed = False
            try:
                yield self
                await driver.commit()
                is_committed = True
            finally:
                if not is_committed:
                    await driver.rollback()

    async def _open(self) -> aiosqlite.Connection:
        if self._checked_out is None:
            opened = await self._engine.connect()
            self._driver = cast("aiosqlite.Connection", (await opened.get_raw_connection()).driver_connection)
            self._checked_out = opened
        return self._driver

    async def execute(self, statement: Executable, parameters: Values | None = None) -> Any:  # noqa: ANN401  see `Connection`
        """Execute the statement, once for each set of parameters."""
        return await self._driver.execute_fetchall(cast("str", statement), cast("Any", parameters))

    async def close(self) -> None:
        """Close the connection. The next transaction opens another one."""
        if self._checked_out is not None:
            checked_out, self._checked_out = self._checked_out, None
            await checked_out.close()


class Readers:
    """The connections that read. Each transaction has one, and sees one state of the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[Reader] = []
        self._slots = asyncio.Semaphore(READERS)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SQLiteConnection]:
        """Open a transaction that only reads."""
        async with self._slots:
            reader = self._idle.pop() if self._idle else Reader(self._path)
            try:
                reader.begin()
                yield reader
            finally:
                if reader.end():
                    self._idle.append(reader)

    def close(self) -> None:
        """Close the connections. The next transaction opens another one."""
        while self._idle:
            self._idle.pop().close()


class Reader(SQLiteConnection):
    """A connection that reads in the event loop, or in a thread if that takes too long."""

    def __init__(self, path: Path) -> None:
        # It doesn't wait for locks in the event loop: its busy time-out is 0. We begin transactions ourselves.
        self._raw = sqlite3.connect(
            path,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            factory=DriverConnection,
        )
        self._raw.execute("PRAGMA query_only=ON")
        self._raw.execute("PRAGMA temp_store=MEMORY")
        self._raw.set_progress_handler(self._is_over, STEPS_BETWEEN_CHECKS)
        self._until = inf  # a moment of `time.perf_counter`
        self._in_thread: asyncio.Future[Result] | None = None

    def begin(self) -> None:
        """Begin a transaction. It sees the state of the database at its first statement."""
        self._raw.execute("BEGIN")

    def end(self) -> bool:
        """End the transaction. Return whether the connection can be used again.

        If a thread still uses it, because its caller was cancelled, it is closed when the thread is done.
        """
        if self._in_thread is not None and not self._in_thread.done():
            self._until = 0.0
            self._in_thread.add_done_callback(self._close_after)
            return False
        self._raw.rollback()
        return True

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    async def execute(self, statement: Executable, parameters: Values | None = None) -> Any:  # noqa: ANN401  see `Connection`
        """Execute the statement."""
        await asyncio.sleep(0)  # for other tasks, between two of many reads
        self._until = time.perf_counter() + IN_PLACE_SECONDS
        try:
            return self._raw.run(statement, parameters)
        except OperationalError as error:
            if cast("sqlite3.Error", error.orig).sqlite_errorcode & PRIMARY_CODE not in NOT_IN_PLACE:
                raise
        finally:
            self._until = inf
        # Not a task: a loop that ends cancels its tasks, and then the connection was closed under the thread.
        loop = asyncio.get_running_loop()
        self._in_thread = loop.run_in_executor(None, self._run_patiently, statement, parameters)
        return await asyncio.shield(self._in_thread)

    def _run_patiently(self, statement: Executable, parameters: Values | None) -> Result:
        self._raw.set_progress_handler(self._is_over, STEPS_IN_THREAD)
        self._raw.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}")
        try:
            return self._raw.run(statement, parameters)
        finally:
            self._raw.execute("PRAGMA busy_timeout=0")
            self._raw.set_progress_handler(self._is_over, STEPS_BETWEEN_CHECKS)

    def _is_over(self) -> bool:
        return time.perf_counter() > self._until

    def _close_after(self, read: asyncio.Future[Any]) -> None:
        if not read.cancelled():
            read.exception()  # nobody waits for it: the limit has interrupted the read
        self.close()
