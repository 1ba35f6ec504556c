"""A database that an older program has left reveals no bank account either: not in an old page, not in the log."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, text

from bot.store import NoKeys, SqlStore, erasing, migrate
from bot.store.address import address
from bot.store.engine import writer
from bot.store.sealing import SEALED
from tests.contract.on_disk import files_of, found_in
from tests.contract.store_builders import NOW
from tests.keys import KEY, VAULT

ROOT = Path(__file__).resolve().parents[2]
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
    for n, number in enumerate(NUMBERS):
        _insert(connection, "people", id=n, time_zone="Asia/Jakarta", created_at=_now(connection))
        _insert(
            connection,
            "inbox",
            update_id=n,
            chat_id=n,
            body=f'{{"text":"pesan rahasia {number}"}}',
            attempts=0,
            received_at=_now(connection),
        )
        _insert(
            connection,
            "drafts",
            id=f"d{n}",
            chat_id=n,
            person_id=n,
            ask="review",
            status="placed",
            revision=1,
            number=number,
            doubtful_number=number,
            holder="SARI DEWI",
            holder_asked=True,
            channel="lightning",
            last_update_id=1,
            expires_at=_now(connection),
        )
        _insert(
            connection,
            "orders",
            reference=f"R{n}",
            person_id=n,
            chat_id=n,
            draft_id=f"d{n}",
            attempt=1,
            method='{"code":"014","name":"BCA","kind":"bank","cap":null}',
            method_code="014",
            number=number,
            holder="SARI DEWI",
            given='{"currency":"IDR","value":250000}',
            channel="lightning",
            expected_sats=1,
            expected_idr=1,
            phase="refused",
            created_at=_now(connection),
            version=0,
            state="",
            step=0,
            is_paid=False,
            expiry_told=False,
            refusal=f"the account {number} is closed",
        )
    connection.execute(text("DELETE FROM drafts WHERE revision = 1 AND CAST(chat_id AS INTEGER) % 2 = 0"))
    connection.execute(text("UPDATE inbox SET body = '' WHERE update_id % 2 = 0"))


def _insert(connection: Connection, table: str, **row: Any) -> None:
    names = ", ".join(row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in row)})"), row)  # noqa: S608  names of ours


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


async def every_text(url: str, tables: Iterable[str] = SEALED) -> list[str]:
    """All that stands in any column of any row."""
    found: list[str] = []
    engine = writer(address(url))
    async with engine.connect() as connection:
        for table in tables:
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
    store = SqlStore(bare_database, VAULT)
    async with store.reading() as tx:
        for n, number in enumerate(NUMBERS):
            order = await tx.orders.get(f"R{n}")
            assert order is not None
            assert (order.number, order.holder) == (number, "SARI DEWI")
            assert order.refusal == f"the account {number} is closed"
        draft = await tx.drafts.get("d7")
        assert draft is not None
        assert (draft.number, draft.doubtful_number) == (NUMBERS[7], NUMBERS[7])
        assert [item.body for item in await tx.inbox.waiting(7)] == [f'{{"text":"pesan rahasia {NUMBERS[7]}"}}']
    await store.check_keys()
    await store.close()


async def test_on_sqlite_no_file_tells_it_any_more(tmp_path: Path) -> None:
    file = tmp_path / "kirim.db"
    await made_before(str(file))
    assert found_in(file, NUMBERS)
    await migrate.upgrade(str(file), VAULT)
    assert found_in(file, (*NUMBERS, *SECRETS)) == {}


async def test_without_a_key_nothing_is_migrated_and_nothing_is_lost(bare_database: str) -> None:
    await made_before(bare_database)
    with pytest.raises(NoKeys):
        await migrate.upgrade(bare_database)
    assert await migrate.current(bare_database) == "0001"
    assert NUMBERS[1] in await every_text(bare_database, OLD)


async def test_a_crash_between_migration_and_erasing_is_made_up_for_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kirim.db"
    await made_before(str(file))
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "erase_old_pages", _crashes)
        with pytest.raises(KeyboardInterrupt):
            await migrate.upgrade(str(file), VAULT)
    assert await migrate.current(str(file)) == migrate.head()
    assert found_in(file, NUMBERS), "the old pages are there, or this test shows nothing"
    await migrate.upgrade(str(file), VAULT)
    assert found_in(file, (*NUMBERS, *SECRETS)) == {}


async def _crashes(*_: object) -> bool:
    raise KeyboardInterrupt


async def test_a_reader_in_the_way_only_puts_the_erasing_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kirim.db"
    await made_before(str(file))
    monkeypatch.setattr(erasing, "PATIENCE_SECONDS", 0.1)
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM orders").fetchone()
        assert await migrate.upgrade(str(file), VAULT) == migrate.head()
        assert found_in(file, NUMBERS)
    await migrate.upgrade(str(file), VAULT)
    assert found_in(file, NUMBERS) == {}


async def test_a_file_that_needs_no_erasing_isnt_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "kirim.db"
    await made_before(str(file))
    await migrate.upgrade(str(file), VAULT)
    before = file.read_bytes()
    await migrate.upgrade(str(file), VAULT)
    assert file.read_bytes() == before


@contextmanager
def _killed_while_migrating(file: Path, after: float) -> Iterator[None]:
    program = "import asyncio, sys; from bot.store import migrate; from tests.keys import VAULT; print(1, flush=True);"
    program += "asyncio.run(migrate.upgrade(sys.argv[1], VAULT))"
    with subprocess.Popen([sys.executable, "-c", program, str(file)], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        yield


@pytest.mark.parametrize("after", [0.05, 0.15, 0.25, 0.35])
def test_kill_9_at_any_moment_of_it_leaves_nothing_readable_after_the_next_start(tmp_path: Path, after: float) -> None:
    file = tmp_path / "kirim.db"
    asyncio.run(made_before(str(file)))
    with _killed_while_migrating(file, after):
        assert asyncio.run(migrate.upgrade(str(file), VAULT)) == migrate.head()
    assert found_in(file, (*NUMBERS, *SECRETS)) == {}


def test_the_key_itself_stands_in_no_file(tmp_path: Path) -> None:
    file = tmp_path / "kirim.db"
    asyncio.run(made_before(str(file)))
    asyncio.run(migrate.upgrade(str(file), VAULT))
    assert not any(KEY[:16] in each.read_bytes() for each in files_of(file))
