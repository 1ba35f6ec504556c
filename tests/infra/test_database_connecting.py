"""Connections to SQLite: what is read in the event loop and what in a thread, and what a cancellation leaves behind."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable, Text, column, func, insert, select, table, text

from bot.infra.db import sqlite
from bot.infra.db.database import Database
from bot.infra.db.errors import RuleBroken, StoreDown
from bot.infra.db.sqlite import DriverConnection, Reader
from tests.infra.keys import VAULT
from tests.waiting import until

ONE = select(1)
HANG_SECONDS = 60.0
"""A limit against hanging. No result depends on it."""

# More steps than between two checks of the time.
MANY = text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    " SELECT count(*) + (SELECT count(*) FROM notes) FROM n"
)
ENDLESS = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
NOTES = table("notes", column("note", Text))
NOTE = insert(NOTES).values(note="kept")
COUNT = select(func.count()).select_from(NOTES)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Database]:
    store = Database(str(tmp_path / "kirim.db"), VAULT)
    async with store.transaction() as tx:
        await tx.connection.execute(text("CREATE TABLE notes (note TEXT PRIMARY KEY)"))
    yield store
    await store.close()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where each read was executed."""
    found: list[str] = []

    run = DriverConnection.run

    def note(self: DriverConnection, *of: Any) -> Any:
        if self.execute("PRAGMA query_only").fetchone()[0]:
            found.append("event loop" if threading.current_thread() is threading.main_thread() else "thread")
        return run(self, *of)

    monkeypatch.setattr(DriverConnection, "run", note)
    return found


@contextmanager
def no_time_in_place() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "IN_PLACE_SECONDS", -1.0)
        yield


async def count(store: Database) -> int:
    async with store.reading() as tx:
        found: int = await tx.connection.scalar(COUNT)
    return found


async def test_a_read_is_executed_in_the_event_loop(store: Database, threads: list[str]) -> None:
    assert await count(store) == 0
    assert threads == ["event loop"]


async def test_a_read_that_takes_long_is_executed_again_in_a_thread(store: Database, threads: list[str]) -> None:
    with no_time_in_place():
        async with store.reading() as tx:
            assert await tx.connection.scalar(MANY) == 5000
    async with store.reading() as tx:
        assert await tx.connection.scalar(ONE) == 1
    assert threads == ["event loop", "thread", "event loop"]


async def test_a_read_in_a_thread_sees_the_state_that_its_transaction_began_with(
    store: Database, threads: list[str]
) -> None:
    async with store.reading() as before:
        assert await before.connection.scalar(COUNT) == 0
        async with store.transaction() as tx:
            await tx.connection.execute(NOTE)
        with no_time_in_place():
            assert await before.connection.scalar(MANY) == 5000
        assert await before.connection.scalar(COUNT) == 0
    assert threads.count("thread") == 1
    assert await count(store) == 1


async def test_other_tasks_run_between_two_reads(store: Database) -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(take_turns())
    for _ in range(20):
        await count(store)
    task.cancel()
    assert turns >= 20


async def test_a_reader_waits_for_another_process_in_a_thread(
    store: Database, threads: list[str], tmp_path: Path
) -> None:
    assert await count(store) == 0
    store._sqlite_readers.close()  # type: ignore[union-attr]  # the next one meets the lock at its first statement
    with closing(sqlite3.connect(tmp_path / "kirim.db", isolation_level=None)) as other:
        await store.close()  # as the only connection, the other one can leave the write-ahead log and lock the file
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        reading = asyncio.create_task(count(store))
        while "thread" not in threads:  # noqa: ASYNC110  a thread reports nothing
            await asyncio.sleep(0.001)
        assert not reading.done()
        other.execute("COMMIT")
        assert await reading == 0


@pytest.mark.parametrize("is_end_of_loop", [False, True])
async def test_a_cancelled_read_ends_its_thread_and_the_next_one_works(
    store: Database, *, is_end_of_loop: bool
) -> None:
    started, ended, closed = threading.Event(), threading.Event(), list[bool]()
    fetch, close = Reader._run_patiently, Reader.close

    def note(self: Reader, *of: Any) -> Any:
        started.set()
        try:
            return fetch(self, *of)
        finally:
            ended.set()

    def note_end(self: Reader) -> None:
        closed.append(ended.is_set())
        close(self)

    async def read() -> None:
        async with store.reading() as tx:
            await tx.connection.execute(ENDLESS)

    with pytest.MonkeyPatch.context() as patch, no_time_in_place():
        patch.setattr(Reader, "_run_patiently", note)
        patch.setattr(Reader, "close", note_end)
        known, task = asyncio.all_tasks(), asyncio.create_task(read())
        await asyncio.to_thread(started.wait)
        for each in asyncio.all_tasks() - known if is_end_of_loop else {task}:  # as `asyncio.run` does at its end
            each.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, HANG_SECONDS)
        while not closed:  # noqa: ASYNC110  a connection reports nothing
            await asyncio.sleep(0.001)
        assert closed == [True], "a connection that is closed under its thread ends the process"
    assert await count(store) == 0


async def test_many_who_read_at_once_share_a_few_connections(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, closed = list[Reader](), list[Reader]()
    begin, close = Reader.__init__, Reader.close

    def open_noted(self: Reader, path: Path) -> None:
        begin(self, path)
        opened.append(self)

    def close_noted(self: Reader) -> None:
        close(self)
        closed.append(self)

    async def read() -> None:
        async with store.reading() as tx:
            assert await tx.connection.scalar(COUNT) == 0
            await asyncio.sleep(0.001)

    async def read_long() -> None:
        async with store.reading() as tx:
            await tx.connection.execute(ENDLESS)

    monkeypatch.setattr(Reader, "__init__", open_noted)
    monkeypatch.setattr(Reader, "close", close_noted)
    await asyncio.gather(*(read() for _ in range(5 * sqlite.READERS)))
    assert len(opened) <= sqlite.READERS
    # Connections whose readers were cancelled in a thread are closed, and others take their places.
    with no_time_in_place():
        cancelled = [asyncio.create_task(read_long()) for _ in range(sqlite.READERS)]
        await asyncio.sleep(0.05)
        for task in cancelled:
            task.cancel()
        await asyncio.wait(cancelled)
    await asyncio.gather(*(read() for _ in range(5 * sqlite.READERS)))

    async def are_abandoned_ones_closed() -> bool:
        return len(opened) - len(closed) <= sqlite.READERS

    await until(are_abandoned_ones_closed, what="the abandoned connections are closed")
    await store.close()
    assert len(closed) == len(opened)


async def test_a_transaction_cancelled_at_any_step_leaves_the_next_one_a_clean_connection(store: Database) -> None:
    async def write(note: str) -> None:
        async with store.transaction() as tx:
            await tx.connection.execute(NOTE.values(note=note))
            await tx.connection.execute(NOTE.values(note=f"{note}, again"))

    for steps in range(30):
        task = asyncio.create_task(write(str(steps)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await count(store) % 2 == 0
    before = await count(store)
    await write("last")
    assert await count(store) == before + 2


async def test_a_statement_that_fails_rolls_back_and_says_why(store: Database) -> None:
    async def write(*statements: Executable) -> None:
        async with store.transaction() as tx:
            for statement in statements:
                await tx.connection.execute(statement)

    with pytest.raises(RuleBroken):
        await write(NOTE, NOTE)
    with pytest.raises(StoreDown):
        await write(NOTE, text("SELECT nothing"))
    assert await count(store) == 0


async def test_a_transaction_takes_one_trip_for_each_statement_and_its_commit(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = 0
    driver = store._sqlite_writer._driver  # type: ignore[union-attr]  # it is SQLite
    trip = driver._execute

    async def counted(*of: Any, **more: Any) -> Any:
        nonlocal trips
        trips += 1
        return await trip(*of, **more)

    monkeypatch.setattr(driver, "_execute", counted)
    async with store.transaction() as tx:
        await tx.connection.execute(NOTE)
        await tx.connection.execute(COUNT)
    assert trips == 3


async def test_a_closed_database_opens_again(store: Database) -> None:
    await store.close()
    async with store.transaction() as tx:
        await tx.connection.execute(NOTE)
    assert await count(store) == 1


def test_a_database_that_is_never_closed_does_not_keep_the_program_from_its_end(tmp_path: Path) -> None:
    store = Database(str(tmp_path / "kirim.db"), VAULT)

    async def write() -> None:
        async with store.transaction() as tx:
            await tx.connection.execute(ONE)

    before = set(threading.enumerate())
    asyncio.run(write())
    assert all(thread.daemon for thread in set(threading.enumerate()) - before)
    asyncio.run(store.close())


async def test_only_its_owner_reads_a_new_database(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "kirim.db"), VAULT)
    await database.upgrade()
    async with database.transaction() as tx:
        await tx.connection.execute(text("UPDATE users SET id = id"))
    modes = await asyncio.to_thread(lambda: {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()})
    await database.close()
    assert modes == dict.fromkeys(("kirim.db", "kirim.db-shm", "kirim.db-wal"), 0o600)
