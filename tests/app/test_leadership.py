"""A process becomes the leader before it does anything else as the bot. If it loses the lead, it stops at once."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from bot import process
from bot.app import build
from bot.infra.db import leader, migrate
from bot.infra.db.address import parse_database_url
from bot.infra.db.database import Database
from bot.infra.db.errors import SchemaMismatch
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.telegram.errors import Unsent
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.app.app_process import create_settings, running
from tests.infra.next_version import become_the_next_version
from tests.infra.test_leader import end_leaders_session
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(leader, "HEARTBEAT_SECONDS", 0.005)


async def lose_the_lead(database: str) -> None:
    """End the leader's PostgreSQL session, or delete the lock's file."""
    if database.startswith("sqlite"):
        path = parse_database_url(database).path
        assert path is not None
        path.with_name(f"{path.name}.lock").unlink()
    else:
        await end_leaders_session(database)


@pytest.mark.parametrize("has_tables", [False, True])
async def test_who_stands_by_leaves_the_tables_alone_and_migrates_when_it_leads(
    bare_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_tables: bool
) -> None:
    tables = await migrate.upgrade(bare_database) if has_tables else None
    become_the_next_version(tmp_path, monkeypatch)
    other = Database(bare_database)
    async with other.lead():
        async with running(bare_database) as standby:
            await standby.logs("standby_started")
            assert await migrate.read_revision(bare_database) == tables
            standby.stop.set()
            assert await standby.ends() == 0
        assert await migrate.read_revision(bare_database) == tables
        async with running(bare_database) as standby:
            await standby.logs("standby_started")
            await lose_the_lead(bare_database)
            await standby.logs("telegram_unreachable")
            assert await migrate.read_revision(bare_database) == migrate.get_expected_revision()
            standby.stop.set()
            assert await standby.ends() == 0
    await other.close()


async def test_one_that_is_older_than_the_tables_ends_instead_of_standing_by(store: Database, database: str) -> None:
    async with store._writer.begin() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        await connection.exec_driver_sql("DELETE FROM compatible_revisions")
    try:
        async with store.lead(), running(database) as older:
            with pytest.raises(SchemaMismatch):
                await older.ends()
    finally:
        async with store._writer.begin() as connection:
            back = text("UPDATE alembic_version SET version_num = :head")
            await connection.execute(back, {"head": migrate.get_expected_revision()})


async def test_a_loss_while_telegram_is_out_of_reach_ends_the_process(database: str) -> None:
    async with running(database) as bot:
        await bot.logs("telegram_unreachable")
        await lose_the_lead(database)
        assert await bot.ends() == process.LEAD_LOST
        assert len(bot.log_entries("leadership_lost")) == 1


Never = Callable[..., Awaitable[None]]


def never(reached: asyncio.Event) -> Never:
    """Return a step that never ends."""

    async def step(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    return step


async def test_a_loss_while_migrating_ends_the_process_before_it_meets_telegram(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()
    monkeypatch.setattr(Database, "upgrade", never(reached))
    async with running(database) as bot:
        await asyncio.wait_for(reached.wait(), TIMEOUT_SECONDS)
        await lose_the_lead(database)
        assert await bot.ends() == process.LEAD_LOST
        assert not bot.log_entries("telegram_unreachable")


@pytest.mark.parametrize(
    ("part", "step"), [(OutboxDelivery, "recover"), (ChatQueues, "replay"), (process, "create_loops")]
)
async def test_a_loss_while_recovering_or_running_ends_the_process_before_it_acts(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: object, step: str
) -> None:
    reached = asyncio.Event()
    if part is process:
        monkeypatch.setattr(process, "create_loops", lambda *_: [("outbox", never(reached)())])
    else:
        monkeypatch.setattr(part, step, never(reached))
    async with (
        servers(SandboxOptions(state=tmp_path, page_port=0, service_port=0)) as addresses,
        running(database, **bot_environment(tmp_path, addresses)) as bot,
    ):
        await asyncio.wait_for(reached.wait(), TIMEOUT_SECONDS)
        await lose_the_lead(database)
        assert await bot.ends() == process.LEAD_LOST
        assert len(bot.log_entries("leadership_lost")) == 1
        assert bool(bot.log_entries("bot_started")) is (part is process)


async def test_the_command_migrates_only_where_nobody_acts_as_the_bot(
    bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = create_settings(bare_database)
    other = Database(bare_database)
    async with other.lead():
        with monkeypatch.context() as patched:
            patched.setattr(process, "LEAD_WITHIN", 0.05)
            with pytest.raises(process.BotIsRunning):
                await process.migrate(settings)
        assert await migrate.read_revision(bare_database) is None
    assert await process.migrate(settings) == migrate.get_expected_revision()
    async with other.lead():
        assert await process.migrate(settings) == migrate.get_expected_revision()
    await other.close()


async def test_without_the_lead_telegram_is_not_called(database: str) -> None:
    system = build(create_settings(database))
    async with system.store.lead():
        # The call fails, because nothing listens at the address.
        with pytest.raises(Unsent, match="not reached"):
            await system.application.bot.request.post(f"{system.application.bot.base_url}/sendMessage")
        await lose_the_lead(database)
        assert not await system.store.confirm_leading()
        with pytest.raises(Unsent, match="no longer acts"):
            await system.application.bot.request.post(f"{system.application.bot.base_url}/sendMessage")
    await system.application.bot.request.shutdown()
    await system.client.aclose()
    await system.store.close()
