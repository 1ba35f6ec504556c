"""Only one process works on a SQLite database, and another goes on when it dies."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.infra.db import sqlite_files
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
WORKING = """
import asyncio, sys
from bot.infra.db.database import Database
async def main():
    async with Database(sys.argv[1]).exclude_others(lambda: print("waiting", flush=True)):
        print("working", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def poll_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(sqlite_files, "WATCH_SECONDS", 0.005)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "kirim.db")


@asynccontextmanager
async def another_process(database: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WORKING, database, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def read_line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), TIMEOUT_SECONDS)).decode().strip()


async def work_once(store: Database, waiting: Callable[[], None] | None = None) -> None:
    async with store.exclude_others(waiting):
        pass


async def test_the_first_works_without_waiting(path: str) -> None:
    said: list[str] = []
    await asyncio.wait_for(work_once(Database(path), lambda: said.append("waiting")), TIMEOUT_SECONDS)
    assert said == []


async def test_another_waits_says_so_and_works_when_the_first_ends(path: str) -> None:
    said: list[str] = []
    first, second = Database(path), Database(path)
    async with first.exclude_others():
        mine = asyncio.create_task(work_once(second, lambda: said.append("waiting")))
        await asyncio.sleep(0.05)
        assert "waiting" in said
        assert not mine.done()
    await asyncio.wait_for(mine, TIMEOUT_SECONDS)


async def test_one_that_waits_can_be_cancelled(path: str) -> None:
    first, second = Database(path), Database(path)
    async with first.exclude_others():
        mine = asyncio.create_task(work_once(second))
        await asyncio.sleep(0.02)
        mine.cancel()
        await asyncio.wait({mine})
    await asyncio.wait_for(work_once(second), TIMEOUT_SECONDS)


@pytest.mark.process
async def test_the_lock_is_free_when_its_holder_is_killed(path: str) -> None:
    async with another_process(path) as other:
        assert await read_line(other) == "working"
        async with another_process(path) as third:
            assert await read_line(third) == "waiting"
            other.send_signal(signal.SIGKILL)
            while (said := await read_line(third)) == "waiting":
                pass
            assert said == "working"


async def test_a_deleted_lock_file_ends_the_work(path: str) -> None:
    first, second = Database(path), Database(path)
    async with first.exclude_others():
        watching = asyncio.create_task(first.hold())
        waited = asyncio.Event()
        mine = asyncio.create_task(work_once(second, waited.set))
        await asyncio.wait_for(waited.wait(), TIMEOUT_SECONDS)
        assert not watching.done()
        os.unlink(f"{path}.lock")  # noqa: PTH108  an asynchronous test has no other
        with pytest.raises(StoreDown, match="was deleted"):
            await asyncio.wait_for(watching, TIMEOUT_SECONDS)
        await asyncio.wait_for(mine, TIMEOUT_SECONDS)


async def test_a_lock_file_that_can_not_be_opened_is_a_failure(tmp_path: Path, path: str) -> None:
    (tmp_path / "kirim.db.lock").mkdir()
    with pytest.raises(StoreDown):
        await work_once(Database(path))


async def test_several_processes_may_work_on_postgresql(migrated_database: str) -> None:
    first, second = Database(migrated_database), Database(migrated_database)
    async with first.exclude_others(), second.exclude_others():
        pass
