"""Transactions on SQLite: one connection that writes, in aiosqlite's thread, and some that read in the event loop.

A trip to a thread and back takes several times as long as SQLite itself for one of our statements. Reads never wait for
the writer, thanks to the write-ahead log, so they are executed in place. One that isn't done soon, because it goes
through many rows or the disk is slow, is executed again in a thread. It is still in the same transaction.
"""

import asyncio
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any, Final, cast

import aiosqlite
from sqlalchemy import Dialect, Executable
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.infra.db.connection import Values
from bot.infra.db.engine import BUSY_TIMEOUT_SECONDS
from bot.infra.db.statements import DIALECT, CompiledStatement, SQLiteResult, compile_statement

IN_PLACE_SECONDS: Final = 0.01
"""How long a read can take in the event loop. Index look-ups take less than 0.1 ms."""

STEPS_BETWEEN_CHECKS: Final = 50
"""Steps of SQLite's virtual machine after which the time is checked. Reading one row of the widest table takes 50."""

STEPS_IN_THREAD: Final = 100_000
"""The same for a read in a thread. It has no limit, but ends early if its caller was cancelled."""

READERS: Final = 8
"""How many connections read at once. Others wait: each has files open, of which a process may have about a thousand."""

PRIMARY_CODE: Final = 0xFF
NOT_IN_PLACE: Final = (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY)


class SQLiteConnection(ABC):
    """The part of SQLAlchemy's connection that repositories use."""

    dialect: Dialect = DIALECT

    async def execute(self, statement: Executable, parameters: Values | None = None) -> Any:  # noqa: ANN401  see `Connection`
        """Execute the statement, once for each set of parameters."""
        sets = [parameters or {}] if isinstance(parameters, Mapping | None) else parameters
        return await self._execute(compile_statement(statement, tuple(sets[0])), sets)

    async def scalar(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401  likewise
        """Execute the statement. Return the first column of the first row, or None."""
        return (await self.execute(statement, parameters)).scalar()

    @abstractmethod
    async def _execute(self, statement: CompiledStatement, sets: Sequence[Mapping[str, Any]]) -> SQLiteResult: ...


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
                await driver.execute("BEGIN IMMEDIATE")
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
            self._driver.row_factory = sqlite3.Row
            self._checked_out = opened
        return self._driver

    async def _execute(self, statement: CompiledStatement, sets: Sequence[Mapping[str, Any]]) -> SQLiteResult:
        if statement.returns_rows:
            rows: list[sqlite3.Row] = []
            for values in sets:
                rows += await self._driver.execute_fetchall(*statement.bind(values))
            return statement.read(rows)
        bound = [statement.bind(values) for values in sets]
        sql, parameters = bound[0]
        if len(bound) > 1:
            cursor = await self._driver.executemany(sql, [parameters for _, parameters in bound])
        else:
            cursor = await self._driver.execute(sql, parameters)
        return statement.read(list(await cursor.fetchall()) if cursor.description else [], cursor.rowcount)

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
            path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        self._raw.row_factory = sqlite3.Row
        self._raw.execute("PRAGMA query_only=ON")
        self._raw.execute("PRAGMA temp_store=MEMORY")
        self._limit = _Limit()
        self._raw.set_progress_handler(self._limit.is_over, STEPS_BETWEEN_CHECKS)
        self._in_thread: asyncio.Task[list[sqlite3.Row]] | None = None

    def begin(self) -> None:
        """Begin a transaction. It sees the state of the database at its first statement."""
        self._raw.execute("BEGIN")

    def end(self) -> bool:
        """End the transaction. Return whether the connection can be used again.

        If a thread still uses it, because its caller was cancelled, it is closed when the thread is done.
        """
        if self._in_thread is not None and not self._in_thread.done():
            self._limit.until = 0.0
            self._in_thread.add_done_callback(self._close_after)
            return False
        self._raw.rollback()
        return True

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    async def _execute(self, statement: CompiledStatement, sets: Sequence[Mapping[str, Any]]) -> SQLiteResult:
        await asyncio.sleep(0)  # for other tasks, between two of many reads
        (values,) = sets
        sql, parameters = statement.bind(values)
        try:
            rows = self._fetch_in_place(sql, parameters)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & PRIMARY_CODE not in NOT_IN_PLACE:
                raise
            self._in_thread = asyncio.create_task(asyncio.to_thread(self._fetch_patiently, sql, parameters))
            rows = await asyncio.shield(self._in_thread)
        return statement.read(rows)

    def _close_after(self, read: asyncio.Task[list[sqlite3.Row]]) -> None:
        if not read.cancelled():
            read.exception()  # nobody waits for it: the limit has interrupted the read
        self.close()

    def _fetch_in_place(self, sql: str, parameters: Sequence[Any]) -> list[sqlite3.Row]:
        self._limit.until = time.perf_counter() + IN_PLACE_SECONDS
        try:
            return self._raw.execute(sql, parameters).fetchall()
        finally:
            self._limit.until = inf

    def _fetch_patiently(self, sql: str, parameters: Sequence[Any]) -> list[sqlite3.Row]:
        self._raw.set_progress_handler(self._limit.is_over, STEPS_IN_THREAD)
        self._raw.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}")
        try:
            return self._raw.execute(sql, parameters).fetchall()
        finally:
            self._raw.execute("PRAGMA busy_timeout=0")
            self._raw.set_progress_handler(self._limit.is_over, STEPS_BETWEEN_CHECKS)


class _Limit:
    """When a read in the event loop has to stop. A moment of `time.perf_counter`."""

    until: float = inf

    def is_over(self) -> bool:
        return time.perf_counter() > self.until
