"""Databases and houses for the tests of the use cases."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.infra.db import engine, migrate
from bot.infra.db.database import Database
from tests.integration.order_world import House
from tests.keys import VAULT
from tests.sqlite_in_the_loop import connect
from tests.unit.every_screen import NOW
from tests.unit.fake_settlement import FakeSettlement, MovedClock


@pytest.fixture(autouse=True)
def sqlite_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute statements without a thread."""
    monkeypatch.setattr(engine, "connect", connect)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with its tables, to be copied."""
    path = tmp_path_factory.mktemp("orders") / "empty.db"
    asyncio.run(migrate.upgrade(str(path)))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM saved_answers")  # a new installation begins with a few
    return path


@pytest.fixture
def file(empty_file: Path, tmp_path: Path) -> str:
    """The URL of an empty database with its tables."""
    path = tmp_path / "kirim.db"
    shutil.copy(empty_file, path)
    return f"sqlite:///{path}"


@pytest.fixture
async def store(file: str) -> AsyncIterator[Database]:
    """A store of its own, without a house."""
    store = Database(file, VAULT)
    yield store
    await store.close()


@pytest.fixture
def clock() -> MovedClock:
    """A clock that stands at the moment that the screens of the tests are made at."""
    clock = MovedClock()
    clock.at = NOW
    return clock


@pytest.fixture
def service() -> FakeSettlement:
    return FakeSettlement(MovedClock())


@pytest.fixture
async def house(file: str, service: FakeSettlement) -> AsyncIterator[House]:
    house = House(file, service)
    yield house
    await house.leave()


@pytest.fixture
async def other_house(file: str, service: FakeSettlement) -> AsyncIterator[House]:
    """Another process on the same database and the same service."""
    other = House(file, service)
    yield other
    await other.leave()
