"""A connection to SQLite is closed in its own thread, even if its caller was cancelled."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from bot.infra.db.sqlite import OneTripConnection

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
