"""`kirim copy-database` between SQLite and PostgreSQL: everything is copied as it is, or nothing."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, Text, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from bot.infra.db import copy, migrate
from bot.infra.db.columns import ExactDecimal, Instant, Json
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.tables import chat_leases
from bot.infra.db.vault import Vault
from bot.operations.database_commands import LEFT_OUT, copy_database
from bot.orders.repository import OrderRepository
from bot.tables import metadata
from tests.e2e.programs import run_program
from tests.harness.databases import new_database
from tests.infra.keys import ENCRYPTION_KEYS, VAULT
from tests.ops.compose import ENVIRONMENT
from tests.orders.builders import an_order

START = datetime(2026, 11, 23, 9, 22, 42, 789_697, tzinfo=UTC)
IN_USE = "Nothing was copied: a bot works on one of the two databases. Stop every bot first."
NOT_USED = "Nothing was copied: the database in DATABASE_URL can't be used:"
NewDatabase = Callable[[str], Awaitable[str]]
ON_BOTH = pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
DIRECTIONS = pytest.mark.parametrize(
    ("source_kind", "target_kind"),
    [
        ("sqlite", "sqlite"),
        pytest.param("sqlite", "postgresql", marks=pytest.mark.postgresql),
        pytest.param("postgresql", "sqlite", marks=pytest.mark.postgresql),
    ],
)


@pytest.fixture
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewDatabase]:
    """A function that returns the URL of a new database of a kind, without tables."""
    with ExitStack() as stack:
        numbers = itertools.count()

        async def create(kind: str) -> str:
            if kind == "sqlite":
                return f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"
            server = request.getfixturevalue("postgresql_server")
            # In a thread, because it runs an event loop of its own.
            return await asyncio.to_thread(stack.enter_context, new_database(server))

        yield create


@asynccontextmanager
async def opened(url: str, vault: Vault = VAULT) -> AsyncIterator[Database]:
    store = Database(url, vault)
    try:
        yield store
    finally:
        await store.close()


async def copies(source: str, target: str, vault: Vault = VAULT) -> tuple[int, list[str]]:
    """Copy as the command does. Return its exit code, and what it prints."""
    said: list[str] = []
    code = await copy_database(source, target, lambda url: Database(url, vault), said.append)
    return code, said


async def used_by_a_bot(url: str, orders: int = 3) -> None:
    """Create what a bot leaves behind."""
    await migrate.upgrade(url)
    async with opened(url) as store:
        await store.register_first_key()
        async with store.transaction() as tx:
            for n in range(orders):
                await OrderRepository(tx).add(an_order(f"R{n}"))


def _value(column: Column[Any], n: int) -> object:
    """Return a value for a column, another one for each row."""
    values: dict[type, object] = {
        Instant: START + timedelta(days=n, microseconds=n),
        ExactDecimal: Decimal(f"1666666666.{n:04}"),
        Json: {"n": n, "text": "é 😀 \x00"},
        Boolean: n % 2 == 0,
        BigInteger: (n + 1) * (1 if column.primary_key or column.foreign_keys else 2**40),
        Integer: n + 1,
        Text: f"{column.name} {n:05} ÿ",
    }
    return None if column.nullable and n % 3 == 0 else values[type(column.type)]


def _rows(table: Table, count: int) -> list[dict[str, object]]:
    """Return rows of a table. A row refers to the row of the same number."""
    rows = []
    for n in range(count):
        row = {column.name: _value(column, n) for column in table.columns}
        for column in table.columns:
            for key in column.foreign_keys:
                row[column.name] = _value(key.column, n)
        rows.append(row)
    return rows


async def _read_all(store: Database) -> dict[str, list[dict[str, object]]]:
    async with store.reading() as tx:
        found = {}
        for table in metadata.sorted_tables:
            if table.name in LEFT_OUT:
                continue
            rows = (await tx.connection.execute(select(table))).mappings()
            found[table.name] = sorted(map(dict, rows), key=repr)
        return found


@DIRECTIONS
async def test_every_row_of_every_table_is_copied(
    source_kind: str, target_kind: str, new_url: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy, "AT_ONCE", 20)
    source, target = await new_url(source_kind), await new_url(target_kind)
    await migrate.upgrade(source)
    async with opened(source) as store:
        async with store.transaction() as tx:
            await tx.connection.execute(metadata.tables["saved_replies"].delete())
            for table in metadata.sorted_tables:
                if table.name not in {*LEFT_OUT, "sealing_keys"}:
                    # Of one table more than are read at once, of one table as many.
                    count = {"users": copy.AT_ONCE + 1, "order_events": 5, "orders": copy.AT_ONCE}.get(table.name, 5)
                    await tx.connection.execute(insert(table), _rows(table, count))
        written = await _read_all(store)
    code, said = await copies(source, target)
    assert (code, said[0]) == (0, "  alarms: 5")
    assert f"  users: {copy.AT_ONCE + 1:,}" in said
    assert said[-1].startswith(f"{sum(map(len, written.values())):,} rows were copied and compared.")
    async with opened(target) as store:
        assert await _read_all(store) == written


@DIRECTIONS
async def test_encrypted_rows_open_in_the_copy_and_new_ids_follow(
    source_kind: str, target_kind: str, new_url: NewDatabase
) -> None:
    source, target = await new_url(source_kind), await new_url(target_kind)
    await used_by_a_bot(source)
    events = metadata.tables["order_events"]
    event = {column.name: _value(column, 1) for column in events.columns if column.name != "id"} | {"reference": "R0"}
    async with opened(source) as store, store.transaction() as tx:
        await tx.connection.execute(insert(events), [event | {"id": n} for n in (3, 40)])
    assert (await copies(source, target))[0] == 0
    async with opened(target) as store:
        await store.check_keys()
        async with store.transaction() as tx:
            copied = await OrderRepository(tx).get("R2")
            assert copied is not None
            assert (copied.number, copied.holder) == (an_order().number, an_order().holder)
            await tx.connection.execute(insert(events), [event])
            assert await tx.connection.scalar(select(func.max(events.c.id))) == 41


@ON_BOTH
async def test_a_database_with_rows_is_refused(kind: str, new_url: NewDatabase) -> None:
    source, target = await new_url("sqlite"), await new_url(kind)
    await used_by_a_bot(source)
    await migrate.upgrade(target)
    async with opened(target) as store:
        await store.register_first_key()  # what a bot does first
    code, said = await copies(source, target)
    assert code == 1
    assert said == [f"{NOT_USED} it isn't empty (sealing_keys). Create a new one."]


@pytest.mark.parametrize("of", ["source", "target"])
async def test_while_a_bot_works_nothing_is_copied(of: str, new_url: NewDatabase) -> None:
    source, target = await new_url("sqlite"), await new_url("sqlite")
    await used_by_a_bot(source)
    async with opened(source if of == "source" else target) as bot, bot.exclude_others():
        assert await copies(source, target) == (1, [IN_USE])
    assert (await copies(source, target))[0] == 0


@pytest.mark.postgresql
@pytest.mark.parametrize("of", ["source", "target"])
async def test_a_lease_that_has_not_expired_is_a_bot_that_works(of: str, new_url: NewDatabase) -> None:
    source, target = await new_url("postgresql"), await new_url("postgresql")
    await used_by_a_bot(source)
    await migrate.upgrade(target)
    async with opened(source if of == "source" else target) as store:
        for expires_in, expected in ((5, 1), (-1, 0)):
            async with store.transaction() as tx:
                await tx.connection.execute(text("DELETE FROM chat_leases"))
                expires_at = func.now() + timedelta(seconds=expires_in)
                lease = {"chat_id": 0, "owner": "bot", "expires_at": expires_at, "epoch": 1}
                await tx.connection.execute(insert(chat_leases).values(lease))
            assert (await copies(source, target))[0] == expected


@pytest.mark.process
async def test_the_command_copies_into_the_database_of_the_settings(new_url: NewDatabase, tmp_path: Path) -> None:
    source, target = await new_url("sqlite"), await new_url("sqlite")
    await used_by_a_bot(source)
    given = ENVIRONMENT | {"ENCRYPTION_KEYS": ENCRYPTION_KEYS, "DATABASE_URL": target, "HTTP_PORT": "8080"}
    ended = await run_program(tmp_path, "copy-database", "--from", source, environment=given)
    assert (ended.code, ended.err) == (0, "")
    assert "\n  orders: 3\n" in f"\n{ended.out}"
    again = await run_program(tmp_path, "copy-database", "--from", source, environment=given)
    assert again.code == 1
    assert "isn't empty" in again.out


@ON_BOTH
async def test_a_failure_in_the_middle_leaves_the_target_empty(
    kind: str, new_url: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = await new_url("sqlite"), await new_url(kind)
    await used_by_a_bot(source)
    async with opened(source) as store:
        written = await _read_all(store)
    compare = copy._compare

    async def fail_at_orders(connection: Any, table: Table, rows: Any) -> None:
        await compare(
            connection, table, [row | {"number": "another"} for row in rows] if table.name == "orders" else rows
        )

    with monkeypatch.context() as patch:
        patch.setattr(copy, "_compare", fail_at_orders)
        with pytest.raises(StoreDown, match="a row of orders differs from its copy"):
            await copies(source, target)
    async with opened(target) as store:
        assert (await _read_all(store))["sealing_keys"] == []
    assert (await copies(source, target))[0] == 0
    async with opened(target) as store:
        assert await _read_all(store) == written


@pytest.mark.postgresql
async def test_no_bot_can_begin_on_either_database_during_the_copy(
    new_url: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = await new_url("postgresql"), await new_url("postgresql")
    await used_by_a_bot(source)
    is_copying, can_end = asyncio.Event(), asyncio.Event()
    compare = copy._compare

    async def wait(*arguments: Any) -> None:
        is_copying.set()
        await can_end.wait()
        await compare(*arguments)

    monkeypatch.setattr(copy, "_compare", wait)
    copying_task = asyncio.create_task(copies(source, target))
    await asyncio.wait({copying_task, asyncio.create_task(is_copying.wait())}, return_when=asyncio.FIRST_COMPLETED)
    assert is_copying.is_set()
    for url in (source, target):
        async with opened(url) as store, store.transaction() as tx:
            await tx.connection.execute(text("SET LOCAL lock_timeout = '50ms'"))
            with pytest.raises(DBAPIError, match="lock timeout"):
                await tx.connection.execute(text("INSERT INTO sealing_keys VALUES ('another')"))
    can_end.set()
    assert (await copying_task)[0] == 0
