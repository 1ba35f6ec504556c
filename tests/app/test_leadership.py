"""One process works on a SQLite database. On PostgreSQL several work, and one of them leads."""

import asyncio
import os
from pathlib import Path

import pytest

from bot import process
from bot.infra.db import migrate, sqlite_files
from bot.infra.db.database import Database
from bot.infra.leases import leader
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.app.app_process import running
from tests.harness.databases import BOTH
from tests.infra.next_version import become_the_next_version

on_sqlite_bare = pytest.mark.parametrize("bare_database", BOTH[:1], indirect=True)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(sqlite_files, "WATCH_SECONDS", 0.005)
    monkeypatch.setattr(leader, "LOOK_SECONDS", 0.02)


@on_sqlite_bare
@pytest.mark.parametrize("has_tables", [False, True])
async def test_who_stands_by_leaves_the_tables_alone_and_migrates_when_it_is_alone(
    bare_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_tables: bool
) -> None:
    tables = await migrate.upgrade(bare_database) if has_tables else None
    become_the_next_version(tmp_path, monkeypatch)
    other = Database(bare_database)
    async with running(bare_database) as standby:
        async with other.exclude_others():
            async with running(bare_database) as another:
                await another.logs("standby_started")
                assert await migrate.read_revision(bare_database) == tables
                another.stop.set()
                assert await another.ends() == 0
            assert await migrate.read_revision(bare_database) == tables
        await standby.logs("telegram_unreachable")
        assert await migrate.read_revision(bare_database) == migrate.get_expected_revision()
        standby.stop.set()
        assert await standby.ends() == 0
    await other.close()


@on_sqlite_bare
async def test_a_deleted_lock_file_ends_the_process(bare_database: str, tmp_path: Path) -> None:
    async with (
        servers(SandboxOptions(state=tmp_path, page_port=0, service_port=0)) as addresses,
        running(bare_database, **bot_environment(tmp_path, addresses)) as bot,
    ):
        await bot.logs("bot_started")
        os.unlink(f"{bare_database.removeprefix('sqlite:///')}.lock")  # noqa: PTH108  an asynchronous test has no other
        assert await bot.ends() == process.WORKER_ENDED
        assert [each["worker"] for each in bot.log_entries("worker_ended")] == ["database-hold"]


async def test_a_process_starts_although_telegram_is_out_of_reach(database: str) -> None:
    async with running(database) as bot:
        await bot.logs("telegram_unreachable")
        await asyncio.sleep(0)
        bot.stop.set()
        assert await bot.ends() == 0
