"""One process works on a SQLite database. On PostgreSQL several work, and one of them leads."""

import asyncio
import os
from pathlib import Path

import pytest
from sqlalchemy import text

from bot import process
from bot.app import build
from bot.infra.db import migrate, sqlite_files
from bot.infra.db.database import Database
from bot.infra.db.errors import SchemaMismatch
from bot.infra.db.fence import FENCE
from bot.infra.leases import leader
from bot.infra.telegram.outcomes import Unsent
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.app.app_process import create_settings, running
from tests.harness.databases import BOTH, on_postgresql
from tests.infra.next_version import become_the_next_version
from tests.waiting import until

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


async def test_one_that_is_older_than_the_tables_ends(store: Database, database: str) -> None:
    async with store._writer.begin() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    try:
        async with running(database) as older:
            with pytest.raises(SchemaMismatch):
                await older.ends()
    finally:
        async with store._writer.begin() as connection:
            back = text("UPDATE alembic_version SET version_num = :head")
            await connection.execute(back, {"head": migrate.get_expected_revision()})


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


@on_postgresql
async def test_several_processes_work_and_another_leads_when_the_leader_ends(database: str, tmp_path: Path) -> None:
    async with servers(SandboxOptions(state=tmp_path, page_port=0, service_port=0)) as addresses:
        environment = bot_environment(tmp_path, addresses)
        async with running(database, **environment) as first:
            await first.logs("leadership_gained")
            async with running(database, **environment) as second:
                await second.logs("bot_started")
                assert second.log_entries("leadership_gained") == [], "one of them leads"
                first.stop.set()
                assert await first.ends() == 0

                async def has_followed() -> bool:
                    return len(second.log_entries("leadership_gained")) == 1

                await until(has_followed, what="the second leads")


@on_sqlite_bare
async def test_the_command_migrates_only_a_file_that_no_bot_uses(
    bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = create_settings(bare_database)
    other = Database(bare_database)
    async with other.exclude_others():
        with monkeypatch.context() as patched:
            patched.setattr(process, "LOCKED_WITHIN", 0.05)
            with pytest.raises(process.BotIsRunning):
                await process.migrate(settings)
        assert await migrate.read_revision(bare_database) is None
    assert await process.migrate(settings) == migrate.get_expected_revision()
    async with other.exclude_others():
        assert await process.migrate(settings) == migrate.get_expected_revision()
    await other.close()


class Lost:
    is_held = False

    async def check(self, _: object) -> None:
        raise AssertionError


async def test_work_that_has_lost_its_lease_does_not_call_telegram(database: str) -> None:
    system = build(create_settings(database))
    address = f"{system.application.bot.base_url}/sendMessage"
    # The call fails, because nothing listens at the address.
    with pytest.raises(Unsent, match="not reached"):
        await system.application.bot.request.post(address)
    FENCE.set(Lost())
    with pytest.raises(Unsent, match="no longer acts"):
        await system.application.bot.request.post(address)
    await system.application.bot.request.shutdown()
    await system.settlement.aclose()
    await system.database.close()


async def test_a_process_starts_although_telegram_is_out_of_reach(database: str) -> None:
    async with running(database) as bot:
        await bot.logs("telegram_unreachable")
        await asyncio.sleep(0)
        bot.stop.set()
        assert await bot.ends() == 0


async def test_the_leader_cleans_up_updates_in_a_loop_of_its_own(bare_database: str) -> None:
    app = build(create_settings(bare_database))
    loops = process.create_leader_loops(app)
    for _, loop in loops:
        loop.close()
    await app.database.close()
    await app.settlement.aclose()
    assert "inbox-cleanup" in {name for name, _ in loops}
