"""A connection to SQLite: its trips to its own thread, where it is closed even if its caller was cancelled."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from bot.infra.db import engine
from bot.infra.db.database import Database
from bot.infra.db.sqlite import OneTripConnection
from tests.infra.keys import VAULT

ONE = select(1)

HANG_SECONDS = 60.0
"""A limit against hanging. No result depends on it."""


async def test_a_connection_whose_caller_is_cancelled_while_it_opens_is_closed(tmp_path: Path) -> None:
    opening, may_open = asyncio.Event(), threading.Event()
    loop, opened = asyncio.get_running_loop(), []

    def open_slowly() -> sqlite3.Connection:
        loop.call_soon_threadsafe(opening.set)
        may_open.wait(HANG_SECONDS)
        opened.append(sqlite3.connect(tmp_path / "kirim.db", check_same_thread=False))
        return opened[0]

    connection = OneTripConnection(open_slowly)
    task = asyncio.ensure_future(connection)
    await opening.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    may_open.set()
    await asyncio.to_thread(connection._thread.join, HANG_SECONDS)
    assert len(opened) == 1
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


@pytest.mark.parametrize("fails", [False, True])
def test_a_connection_that_opens_after_the_event_loop_was_closed_is_closed_quietly(
    tmp_path: Path, *, fails: bool
) -> None:
    opening, may_open = threading.Event(), threading.Event()
    opened, connections = [], []

    def open_slowly() -> sqlite3.Connection:
        opening.set()
        may_open.wait(HANG_SECONDS)
        if fails:
            raise sqlite3.OperationalError
        opened.append(sqlite3.connect(tmp_path / "kirim.db", check_same_thread=False))
        return opened[0]

    async def end_while_it_opens() -> None:
        connections.append(OneTripConnection(open_slowly))
        task = asyncio.ensure_future(connections[0])
        await asyncio.to_thread(opening.wait, HANG_SECONDS)
        task.cancel()

    asyncio.run(end_while_it_opens())
    may_open.set()
    # An exception that ends the thread fails the test: pytest reports it as a warning, and warnings are errors.
    connections[0]._thread.join(HANG_SECONDS)
    assert not connections[0]._thread.is_alive()
    for raw in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            raw.execute("SELECT 1")


async def test_a_connection_that_was_closed_stays_closed(tmp_path: Path) -> None:
    opened = []

    def open_now() -> sqlite3.Connection:
        opened.append(sqlite3.connect(tmp_path / "kirim.db", check_same_thread=False))
        return opened[0]

    connection = OneTripConnection(open_now)
    await connection
    assert await connection.trip(lambda raw: raw.execute("SELECT 1").fetchone()) == (1,)
    await connection.close()
    connection.stop()
    await asyncio.to_thread(connection._thread.join, HANG_SECONDS)
    assert not connection._thread.is_alive()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


@pytest.fixture
async def trips(tmp_path: Path) -> AsyncIterator[tuple[Database, list[str]]]:
    """A database, and what its connections do in their threads: "waits" if the event loop waits for it."""
    done: list[str] = []

    class Recorded(OneTripConnection):
        async def _do(self, function: Callable[[], Any]) -> Any:
            done.append("waits")
            return await super()._do(function)

        def _do_unawaited(self, function: Callable[[], object]) -> None:
            done.append("doesn't wait")
            super()._do_unawaited(function)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "connect", lambda path, **more: Recorded(lambda: sqlite3.connect(path, **more)))
        store = Database(str(tmp_path / "kirim.db"), VAULT)
    for open_transaction in (store.reading, store.transaction):
        async with open_transaction() as tx:
            await tx.connection.execute(ONE)
    done.clear()
    yield store, done
    await store.close()


async def test_a_transaction_that_reads_waits_once_for_each_statement(trips: tuple[Database, list[str]]) -> None:
    store, done = trips
    async with store.reading() as tx:
        await tx.connection.execute(ONE)
        await tx.connection.execute(ONE)
    assert done == ["waits", "waits", "doesn't wait"]


async def test_a_transaction_that_writes_waits_for_each_statement_and_its_commit(
    trips: tuple[Database, list[str]],
) -> None:
    store, done = trips
    async with store.transaction() as tx:
        await tx.connection.execute(ONE)
    assert done == ["waits", "waits"]


async def test_a_transaction_without_statements_makes_no_trip(trips: tuple[Database, list[str]]) -> None:
    store, done = trips
    async with store.reading(), store.transaction():
        pass
    assert done == []


async def test_a_rollback_that_is_still_queued_is_not_queued_again(tmp_path: Path) -> None:
    is_held, may_roll_back = threading.Event(), threading.Event()

    def hold() -> None:
        is_held.set()
        may_roll_back.wait(HANG_SECONDS)

    connection = OneTripConnection(lambda: sqlite3.connect(tmp_path / "kirim.db", isolation_level=None))
    await connection
    connection.begin("BEGIN")
    await connection.execute_in_transaction(lambda raw: raw.execute("SELECT 1").fetchone())
    connection._do_unawaited(hold)
    await asyncio.to_thread(is_held.wait, HANG_SECONDS)
    await connection.rollback()
    assert connection._jobs.qsize() == 1
    connection.begin("BEGIN")
    await connection.rollback()
    assert connection._jobs.qsize() == 1
    may_roll_back.set()
    await connection.close()


async def test_after_a_rollback_that_nothing_waited_for_the_next_transaction_sees_the_latest_rows(
    trips: tuple[Database, list[str]],
) -> None:
    store, _ = trips
    async with store.transaction() as tx:
        await tx.connection.execute(text("CREATE TABLE counted (number INTEGER)"))
    for number in range(1, 20):
        async with store.transaction() as tx:
            await tx.connection.execute(text("INSERT INTO counted VALUES (1)"))
        async with store.reading() as tx:
            assert await tx.connection.scalar(text("SELECT count(*) FROM counted")) == number


async def test_only_its_owner_reads_a_new_database(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "kirim.db"), VAULT)
    async with database.transaction() as tx:
        await tx.connection.execute(text("CREATE TABLE a (b INTEGER)"))
    modes = await asyncio.to_thread(lambda: {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()})
    await database.close()
    assert modes == dict.fromkeys(("kirim.db", "kirim.db-shm", "kirim.db-wal"), 0o600)
