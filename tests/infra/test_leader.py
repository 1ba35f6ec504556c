"""Only one process leads on a database, and another takes over when it dies."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it ships none
import pytest
from sqlalchemy import make_url

from bot.infra.db import leader, leader_session
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreFailure
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
LEADING = """
import asyncio, sys
from bot.infra.db.database import Database
async def main():
    async with Database(sys.argv[1]).lead(lambda: print("waiting", flush=True)):
        print("leading", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def poll_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(leader, "HEARTBEAT_SECONDS", 0.005)


@asynccontextmanager
async def another_process(database: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LEADING, database, cwd=ROOT, stdout=asyncio.subprocess.PIPE
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


async def lead_once(store: Database, waiting: Callable[[], None] | None = None) -> None:
    async with store.lead(waiting):
        pass


async def test_the_first_leads_without_waiting(store: Database) -> None:
    waited: list[str] = []
    async with store.lead(lambda: waited.append("waiting")) as leadership:
        assert not leadership.lost.is_set()
    assert waited == []


async def test_another_waits_says_so_once_and_leads_when_the_first_ends(store: Database, other_store: Database) -> None:
    waited = asyncio.Event()
    calls: list[str] = []

    def waiting() -> None:
        calls.append("waiting")
        waited.set()

    async with store.lead():
        second = asyncio.create_task(lead_once(other_store, waiting))
        await asyncio.wait_for(waited.wait(), TIMEOUT_SECONDS)
        await asyncio.sleep(0.03)  # more polls of the lock, which must not succeed
        assert not second.done()
    await asyncio.wait_for(second, TIMEOUT_SECONDS)
    assert calls == ["waiting"]


async def test_one_that_waits_can_be_cancelled(store: Database, other_store: Database) -> None:
    waited = asyncio.Event()
    async with store.lead():
        second = asyncio.create_task(lead_once(other_store, waited.set))
        await waited.wait()
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
    await asyncio.wait_for(lead_once(other_store), TIMEOUT_SECONDS)


@pytest.mark.process
async def test_the_lead_passes_on_when_its_holder_is_killed(store: Database, database: str) -> None:
    async with another_process(database) as first:
        assert await read_line(first) == "leading"
        waited = asyncio.Event()
        mine = asyncio.create_task(lead_once(store, waited.set))
        await asyncio.wait_for(waited.wait(), TIMEOUT_SECONDS)
        assert not mine.done()
        first.send_signal(signal.SIGKILL)
        await asyncio.wait_for(mine, TIMEOUT_SECONDS)


@pytest.mark.process
async def test_a_process_that_waits_takes_over(store: Database, database: str) -> None:
    async with store.lead():
        process = another_process(database)
        second = await process.__aenter__()
        assert await read_line(second) == "waiting"
    assert await read_line(second) == "leading"
    await process.__aexit__(None, None, None)


async def test_a_lost_connection_loses_the_lead(migrated_database: str) -> None:
    store = Database(migrated_database)
    async with store.lead() as leadership:
        await end_leaders_session(migrated_database)
        await asyncio.wait_for(leadership.lost.wait(), TIMEOUT_SECONDS)
        await asyncio.wait_for(lead_once(store), TIMEOUT_SECONDS)
    await store.close()


async def test_a_server_that_falls_silent_loses_the_lead(
    migrated_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Database(migrated_database)

    async def silence(*_: object) -> None:
        raise TimeoutError

    async with store.lead() as leadership:
        monkeypatch.setattr(asyncpg.Connection, "fetchval", silence)
        await asyncio.wait_for(leadership.lost.wait(), TIMEOUT_SECONDS)
    await store.close()


async def test_another_process_in_the_same_session_takes_the_lead_away(
    migrated_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pooler can give two processes the same session, and the server then gives both the lock."""
    session = await leader_session.connect(make_url(migrated_database))
    monkeypatch.setattr(leader, "HEARTBEAT_SECONDS", TIMEOUT_SECONDS)
    monkeypatch.setattr(leader_session, "connect", lambda _: asyncio.sleep(0, session))
    first, second = Database(migrated_database), Database(migrated_database)
    async with first.lead():
        # Asked twice, because the watching task asks in between, and a session runs one query at a time.
        assert await first.confirm_leading()
        assert await first.confirm_leading()
        async with second.lead():
            assert await second.confirm_leading()
            assert await second.confirm_leading()
            assert not await first.confirm_leading()
            assert not first.is_leading
    await first.close()
    await second.close()


async def test_a_deleted_lock_file_loses_the_lead(tmp_path: Path) -> None:
    first, second = Database(str(tmp_path / "kirim.db")), Database(str(tmp_path / "kirim.db"))
    async with first.lead() as leadership:
        waited = asyncio.Event()
        mine = asyncio.create_task(lead_once(second, waited.set))
        await asyncio.wait_for(waited.wait(), TIMEOUT_SECONDS)
        (tmp_path / "kirim.db.lock").unlink()
        await asyncio.wait_for(leadership.lost.wait(), TIMEOUT_SECONDS)
        await asyncio.wait_for(mine, TIMEOUT_SECONDS)
        assert not first.is_leading


async def test_a_store_knows_whether_its_process_leads(store: Database) -> None:
    assert not store.is_leading
    assert not await store.confirm_leading()
    async with store.lead():
        assert store.is_leading
        assert await store.confirm_leading()
    assert not store.is_leading
    assert not await store.confirm_leading()


async def test_a_loss_is_found_by_asking_before_it_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "HEARTBEAT_SECONDS", TIMEOUT_SECONDS)
    store = Database(str(tmp_path / "kirim.db"))
    async with store.lead() as leadership:
        assert await store.confirm_leading()
        (tmp_path / "kirim.db.lock").unlink()
        assert store.is_leading
        assert not await store.confirm_leading()
        assert leadership.lost.is_set()


async def test_a_lock_file_that_can_not_be_opened_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "kirim.db.lock").mkdir()
    with pytest.raises(StoreFailure):
        await lead_once(Database(str(tmp_path / "kirim.db")))


async def end_leaders_session(url: str) -> None:
    connection = await asyncpg.connect(url)
    found = await connection.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    await connection.close()
    assert len(found) == 1
