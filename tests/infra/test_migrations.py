"""The migrations create exactly the tables that the program expects, on both databases, however often they run."""

import asyncio
import re
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, column, inspect, table, text, update

from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.db.errors import SchemaMismatch, StoreDown
from bot.tables import metadata
from bot.users.repository import UserRepository
from tests.e2e.launcher import Child, launcher
from tests.infra.keys import VAULT
from tests.infra.next_version import REVISION, become_the_next_version
from tests.users.builders import EMMA, a_user
from tests.waiting import TIMEOUT_SECONDS

# The schema as the databases report it, because Alembic's comparison ignores partial indexes.
SPELLED = {
    # An altered table is reported differently from a new one, so its columns are compared instead.
    "sqlite": (
        "SELECT name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"
        " UNION ALL SELECT t.name || '.' || c.name, c.type || c.\"notnull\" || c.pk || coalesce(c.dflt_value, '')"
        " FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name <> 'alembic_version'"
        " UNION ALL SELECT t.name || ' unique ' || i.name, i.\"unique\" || group_concat(x.name)"
        " FROM sqlite_master t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) x"
        " WHERE t.type = 'table' AND t.name <> 'alembic_version' GROUP BY t.name, i.name"
        ' UNION ALL SELECT t.name || \' -> \' || f."table", f."from" || f."to" || f.on_delete'
        " FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'"
    ),
    "postgresql": (
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        " UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid::regclass::text <> 'alembic_version'"
        " UNION ALL SELECT table_name || '.' || column_name, data_type || is_nullable || coalesce(column_default, '')"
        " FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'"
    ),
}


def read_schema(connection: Connection) -> set[tuple[str, str]]:
    found = connection.exec_driver_sql(SPELLED[connection.dialect.name])
    return {(name, " ".join(sql.split()).replace(" ,", ",")) for name, sql in found}


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_the_migrations_make_exactly_the_tables(bare_database: str) -> None:
    assert await migrate.upgrade(bare_database) == migrate.get_expected_revision()
    store = Database(bare_database)
    async with store._writer.begin() as connection:
        assert await connection.run_sync(differences) == []
        migrated = await connection.run_sync(read_schema)
        await connection.run_sync(metadata.drop_all)
        assert await connection.run_sync(read_schema) < migrated
        await connection.run_sync(metadata.create_all)
        assert await connection.run_sync(read_schema) == migrated
    await store.close()


@pytest.mark.parametrize(
    ("revision", "why"),
    [
        ("9999", "A newer version of Kirim has upgraded the database"),
        ("0015", "it was made by a version before 0.1.0. The last commit that can read it is 227a5386"),
        ("0001", "it was made by a version before 0.1.0. The last commit that can read it is 227a5386"),
    ],
)
async def test_tables_that_this_program_cannot_upgrade_are_refused_and_not_touched(
    store: Database, revision: str, why: str
) -> None:
    saved = update(table("alembic_version", column("version_num")))
    async with store._writer.begin() as connection:
        await connection.execute(saved.values(version_num=revision))
    try:
        for use in (store.check, store.upgrade, store.join):
            with pytest.raises(SchemaMismatch, match=f"{re.escape(why)}$"):
                await use()
        assert not await store.is_current()
        async with store._writer.begin() as connection:
            assert await connection.scalar(migrate.REVISION) == revision
    finally:
        async with store._writer.begin() as connection:
            await connection.execute(saved.values(version_num=migrate.get_expected_revision()))


async def test_tables_of_an_older_program_are_brought_up_to_date(
    bare_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Database(bare_database, VAULT)
    older = await store.upgrade()
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user())
    become_the_next_version(tmp_path, monkeypatch)
    assert not await store.is_current()
    assert not await store.has_usable_tables()
    with pytest.raises(SchemaMismatch, match=f"^the schema is {older}, expected {REVISION}. `kirim migrate`"):
        await store.check()
    assert await store.upgrade() == REVISION == await migrate.read_revision(bare_database)
    assert await store.is_current()
    assert await store.has_usable_tables()
    async with store.reading() as tx:
        kept = await tx.connection.execute(text("SELECT id, nickname FROM users"))
        assert [tuple(row) for row in kept] == [(EMMA, None)]
    await store.close()


@pytest.mark.process
async def test_several_processes_may_migrate_at_once_from_any_folder(bare_database: str, tmp_path: Path) -> None:
    started = [await start_child(bare_database, tmp_path / str(number), folder=tmp_path) for number in range(2)]
    async with asyncio.timeout(TIMEOUT_SECONDS):
        codes = [await process.wait() for process in started]
    said = [(tmp_path / str(number)).read_text() for number in range(2)]
    assert (codes, said) == ([0, 0], [f"{migrate.get_expected_revision()}\n"] * 2)


async def start_child(database: str, log: Path, folder: Path | None = None) -> Child:
    """Start a process that migrates the database, and prints its revision and all errors to the log."""
    with log.open("wb") as out:
        return await launcher().start(
            ["migrate", database], program="tests.infra.database_child", environment={}, log=out.fileno(), folder=folder
        )


async def test_a_migration_that_fails_leaves_the_tables_as_they_were(bare_database: str) -> None:
    store = Database(bare_database)
    async with store._writer.begin() as connection:
        only = MetaData()
        metadata.tables["sealing_keys"].to_metadata(only)
        await connection.run_sync(only.create_all)  # the last table already exists
    with pytest.raises(StoreDown):
        await store.upgrade()
    async with store._writer.connect() as connection:
        left = await connection.run_sync(lambda raw: inspect(raw).get_table_names())
    assert left == ["sealing_keys"]
    await store.close()


@pytest.mark.process
@pytest.mark.parametrize("after", [0.05, 0.15, 0.25, 0.35])
async def test_kill_9_at_any_moment_of_it_is_made_up_for_at_the_next_start(tmp_path: Path, after: float) -> None:
    database = str(tmp_path / "kirim.db")
    process = await start_child(database, tmp_path / "log")
    await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=after)
    process.kill()
    await process.wait()
    assert await migrate.upgrade(database) == migrate.get_expected_revision()
    store = Database(database)
    async with store._writer.begin() as connection:
        assert await connection.run_sync(differences) == []
    await store.close()
