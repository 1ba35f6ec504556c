"""Connections to SQLite: what is read in the event loop and what in a thread, and what a cancellation leaves behind."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable, Text, column, func, insert, select, table, text

from bot.infra.db import sqlite
from bot.infra.db.database import Database
from bot.infra.db.errors import RuleBroken, StoreDown
from bot.infra.db.sqlite import DriverConnection, Reader
from tests.infra.keys import VAULT

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


async def test_only_its_owner_reads_a_new_database(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "kirim.db"), VAULT)
    await database.upgrade()
    async with database.transaction() as tx:
        await tx.connection.execute(text("UPDATE users SET id = id"))
    modes = await asyncio.to_thread(lambda: {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()})
    await database.close()
    assert modes == dict.fromkeys(("kirim.db", "kirim.db-shm", "kirim.db-wal"), 0o600)
