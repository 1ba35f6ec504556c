"""Pytest fixtures with databases.

With `database`, `bare_database`, `store` and `other_store`, a test runs on SQLite, and on PostgreSQL if there is a
server. `database` is empty and has its tables. On SQLite it is a copy of a migrated file. On PostgreSQL it is created
for this run and emptied before each test.

`file` and `sqlite_store` are for tests of use cases. They use only SQLite, without a thread.
"""

import asyncio
import secrets
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path

import aiosqlite
import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest
from sqlalchemy import make_url

from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.tables import metadata
from tests.infra.keys import VAULT
from tests.infra.sqlite_without_thread import connect

BOTH = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql))
on_sqlite = pytest.mark.parametrize("database", BOTH[:1], indirect=True)
on_postgresql = pytest.mark.parametrize("database", BOTH[1:], indirect=True)
# For nearly empty tables, DELETE takes a fifth of the time of TRUNCATE.
EMPTY = "; ".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables))  # noqa: S608  our own names


@pytest.fixture
def sqlite_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute SQLite's statements without a thread, also those that take long on a busy machine."""
    monkeypatch.setattr(aiosqlite, "connect", connect)
    monkeypatch.setattr("bot.infra.db.sqlite.IN_PLACE_SECONDS", inf)


@pytest.fixture(autouse=True)
def quick_sqlite(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> None:
    """Use SQLite without a thread in all tests of a quick run. In a full run, `database` uses the driver's threads."""
    if pytestconfig.option.quick:
        request.getfixturevalue("sqlite_in_the_loop")


def run_on(url: str, *statements: str) -> None:
    """Execute a statement on a PostgreSQL database, without `Database`."""

    async def execute() -> None:
        connection = await asyncpg.connect(url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(execute())


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Create an empty PostgreSQL database for the block. Yield its URL."""
    name = f"kirim_test_{secrets.token_hex(8)}"
    run_on(server, f"CREATE DATABASE {name}")
    try:
        # No test needs to wait for the disk.
        run_on(server, f"ALTER DATABASE {name} SET synchronous_commit = off")
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        run_on(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "template.db"
    asyncio.run(migrate.upgrade(str(path)))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM saved_replies")  # a new installation has a few
    return path


@pytest.fixture(scope="session")
def migrated_database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        asyncio.run(migrate.upgrade(url))
        yield url


@pytest.fixture(scope="session")
def empty_tables(migrated_database: str) -> Iterator[Callable[[], None]]:
    """Delete all rows of the PostgreSQL database.

    All tests share one connection, because opening one takes longer than most tests.
    """
    # With its own loop factory, the runner doesn't change the loop of the tests.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        connection = runner.run(asyncpg.connect(migrated_database))
        yield lambda: runner.run(connection.execute(EMPTY))
        runner.run(connection.close())


@pytest.fixture(params=BOTH)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with empty tables."""
    if request.param == "sqlite":
        path = tmp_path / "kirim.db"
        shutil.copy(request.getfixturevalue("migrated_file"), path)
        return f"sqlite:///{path}"
    request.getfixturevalue("empty_tables")()
    url: str = request.getfixturevalue("migrated_database")
    return url


@pytest.fixture(params=BOTH)
def bare_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'new' / 'kirim.db'}"
        return
    with new_database(request.getfixturevalue("postgresql_server")) as url:
        yield url


@pytest.fixture
async def store(database: str) -> AsyncIterator[Database]:
    store = Database(database, VAULT)
    yield store
    await store.close()


@pytest.fixture
async def other_store(database: str) -> AsyncIterator[Database]:
    """A second `Database`, like that of another process."""
    other = Database(database, VAULT)
    yield other
    await other.close()


@pytest.fixture
def file(migrated_file: Path, tmp_path: Path, sqlite_in_the_loop: None) -> str:  # noqa: ARG001  for its effect
    """The URL of an empty SQLite database with its tables."""
    path = tmp_path / "kirim.db"
    shutil.copy(migrated_file, path)
    return f"sqlite:///{path}"


@pytest.fixture
async def sqlite_store(file: str) -> AsyncIterator[Database]:
    store = Database(file, VAULT)
    yield store
    await store.close()
