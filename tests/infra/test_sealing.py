"""A database that an older program has left reveals no bank account either: not in an old page, not in the log."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, text

from bot.checkout.repository import DraftRepository
from bot.infra.db import erasing, migrate
from bot.infra.db.address import address
from bot.infra.db.database import Database
from bot.infra.db.encryption import sealed_tables
from bot.infra.db.engine import writer
from bot.infra.db.vault import NoKeys
from bot.infra.telegram.inbound.inbox import InboxRepository
from bot.orders.repository import OrderRepository
from tests.builders import NOW
from tests.e2e.nursery import nursery
from tests.infra.on_disk import files_of, found_in
from tests.keys import KEY, VAULT

Row = dict[str, Any]
NUMBERS = [f"86201{n:05}" for n in range(400)]
OLD = ("inbox", "drafts", "orders")
SECRETS = (
    "SARI DEWI",
    "the account 8620100000 is closed",
    "pesan rahasia",
    "Ibu Kost Melati",
    "MANGO-77",
    "CODE-1234-XYZ",
)


def as_before(connection: Connection) -> None:
    """The tables of the program that knew no sealing, full of what it wrote; half of that deleted again."""
    config = migrate._config()
    config.attributes.update(connection=connection, vault=VAULT, is_new=True)
    command.upgrade(config, "0001")
    now = _now(connection)
    _insert(
        connection, "people", [{"id": n, "time_zone": "Asia/Jakarta", "created_at": now} for n in range(len(NUMBERS))]
    )
    _insert(connection, "inbox", [_update(n, number, now) for n, number in enumerate(NUMBERS)])
    _insert(connection, "drafts", [_draft(n, number, now) for n, number in enumerate(NUMBERS)])
    _insert(connection, "orders", [_order(n, number, now) for n, number in enumerate(NUMBERS)])
    connection.execute(text("DELETE FROM drafts WHERE revision = 1 AND CAST(chat_id AS INTEGER) % 2 = 0"))
    connection.execute(text("UPDATE inbox SET body = '' WHERE update_id % 2 = 0"))


def _update(n: int, number: str, now: object) -> Row:
    body = f'{{"text":"pesan rahasia {number}"}}'
    return {"update_id": n, "chat_id": n, "body": body, "attempts": 0, "received_at": now}


def _draft(n: int, number: str, now: object) -> Row:
    return {
        "id": f"d{n}",
        "chat_id": n,
        "person_id": n,
        "ask": "review",
        "status": "placed",
        "revision": 1,
        "number": number,
        "doubtful_number": number,
        "holder": "SARI DEWI",
        "holder_asked": True,
        "channel": "lightning",
        "last_update_id": 1,
        "expires_at": now,
    }


def _order(n: int, number: str, now: object) -> Row:
    return {
        "reference": f"R{n}",
        "person_id": n,
        "chat_id": n,
        "draft_id": f"d{n}",
        "attempt": 1,
        "method": '{"code":"014","name":"BCA","kind":"bank","cap":null}',
        "method_code": "014",
        "number": number,
        "holder": "SARI DEWI",
        "given": '{"currency":"IDR","value":250000}',
        "channel": "lightning",
        "expected_sats": 1,
        "expected_idr": 1,
        "phase": "refused",
        "created_at": now,
        "version": 0,
        "state": "",
        "step": 0,
        "is_paid": False,
        "expiry_told": False,
        "refusal": f"the account {number} is closed",
    }


def _insert(connection: Connection, table: str, rows: list[Row]) -> None:
    names = list(rows[0])
    values = ", ".join(f":{name}" for name in names)
    connection.execute(text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"), rows)  # noqa: S608  names of ours


def _now(connection: Connection) -> object:
    return NOW if connection.dialect.name == "postgresql" else "2026-03-01 09:30:00.000000"


async def made_before(url: str) -> None:
    """A database of the program before, written without `secure_delete`."""
    engine = writer(address(url))
    async with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            await connection.exec_driver_sql("PRAGMA secure_delete=OFF")
            await connection.commit()
        await connection.run_sync(as_before)
        await connection.commit()
    await engine.dispose()


@pytest.fixture(scope="module")
def written_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a database on SQLite, made once."""
    file = tmp_path_factory.mktemp("before") / "kirim.db"
    asyncio.run(made_before(str(file)))
    return file


@pytest.fixture
def old_file(written_before: Path, tmp_path: Path) -> Path:
    """A copy of it, byte for byte."""
    for file in files_of(written_before):
        shutil.copy(file, tmp_path)
    return tmp_path / written_before.name


def contents(database: Path) -> dict[str, bytes]:
    """Each of its files, byte for byte."""
    return {file.name: file.read_bytes() for file in files_of(database)}


async def every_text(url: str, tables: Iterable[str] = ()) -> list[str]:
    """All that stands in any column of any row, in these tables or in all with sealed columns."""
    found: list[str] = []
    engine = writer(address(url))
    async with engine.connect() as connection:
        for table in tables or [each.name for each in sealed_tables()]:
            rows = await connection.execute(text(f"SELECT * FROM {table}"))  # noqa: S608  names of ours
            found += [str(value) for row in rows for value in row]
    await engine.dispose()
    return found


async def test_a_migration_seals_all_that_an_older_program_has_left(bare_database: str) -> None:
    await made_before(bare_database)
    before = "\n".join(await every_text(bare_database, OLD))
    assert all(number in before for number in NUMBERS)
    await migrate.upgrade(bare_database, VAULT)
    after = "\n".join(await every_text(bare_database))
    assert [secret for secret in (*NUMBERS, *SECRETS) if secret in after] == []
    store = Database(bare_database, VAULT)
    async with store.reading() as tx:
        for n, number in enumerate(NUMBERS):
            order = await OrderRepository(tx).get(f"R{n}")
            assert order is not None
            assert (order.number, order.holder) == (number, "SARI DEWI")
            assert order.refusal == f"the account {number} is closed"
        draft = await DraftRepository(tx).get("d7")
        assert draft is not None
        assert (draft.number, draft.doubtful_number) == (NUMBERS[7], NUMBERS[7])
        assert [item.body for item in await InboxRepository(tx).waiting(7)] == [
            f'{{"text":"pesan rahasia {NUMBERS[7]}"}}'
        ]
    await store.check_keys()
    await store.close()


async def test_on_sqlite_no_file_tells_it_any_more(old_file: Path) -> None:
    assert found_in(old_file, NUMBERS)
    await migrate.upgrade(str(old_file), VAULT)
    assert found_in(old_file, (*NUMBERS, *SECRETS)) == {}


async def test_without_a_key_nothing_is_migrated_and_nothing_is_lost(bare_database: str) -> None:
    await made_before(bare_database)
    with pytest.raises(NoKeys):
        await migrate.upgrade(bare_database)
    assert await migrate.current(bare_database) == "0001"
    assert NUMBERS[1] in await every_text(bare_database, OLD)


async def test_a_crash_between_migration_and_erasing_is_made_up_for_at_the_next_start(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "erase_old_pages", _crashes)
        with pytest.raises(KeyboardInterrupt):
            await migrate.upgrade(str(old_file), VAULT)
    assert await migrate.current(str(old_file)) == migrate.head()
    assert found_in(old_file, NUMBERS), "the old pages are there, or this test shows nothing"
    await migrate.upgrade(str(old_file), VAULT)
    assert found_in(old_file, (*NUMBERS, *SECRETS)) == {}


async def _crashes(*_: object) -> bool:
    raise KeyboardInterrupt


async def test_a_reader_in_the_way_only_puts_the_erasing_off(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "PATIENCE_SECONDS", 0.1)
    with closing(sqlite3.connect(old_file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM orders").fetchone()
        assert await migrate.upgrade(str(old_file), VAULT) == migrate.head()
        assert found_in(old_file, NUMBERS)
    await migrate.upgrade(str(old_file), VAULT)
    assert found_in(old_file, NUMBERS) == {}


async def test_a_file_that_needs_no_erasing_isnt_written_anew(old_file: Path) -> None:
    await migrate.upgrade(str(old_file), VAULT)
    before = contents(old_file)
    await migrate.upgrade(str(old_file), VAULT)
    assert contents(old_file) == before


@pytest.mark.process
@pytest.mark.parametrize("after", [0.05, 0.15, 0.25, 0.35])
async def test_kill_9_at_any_moment_of_it_leaves_nothing_readable_after_the_next_start(
    old_file: Path, after: float
) -> None:
    with (old_file.parent / "log").open("wb") as log:
        process = await nursery().start(
            ["migrate", str(old_file)], program="tests.infra.database_child", environment={}, log=log.fileno()
        )
    await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=after)
    process.kill()
    await process.wait()
    assert await migrate.upgrade(str(old_file), VAULT) == migrate.head()
    assert found_in(old_file, (*NUMBERS, *SECRETS)) == {}


async def test_the_key_itself_stands_in_no_file(old_file: Path) -> None:
    await migrate.upgrade(str(old_file), VAULT)
    assert not any(KEY[:16] in each for each in contents(old_file).values())
