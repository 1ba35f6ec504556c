"""Key rotation: it works while the bot runs, can be interrupted, and older keys are needed only until it ends."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.checkout.repository import DraftRepository
from bot.infra.db import keys
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.vault import MissingKey, Vault
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.repository import OrderRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from tests.checkout.builders import a_draft
from tests.e2e.launcher import launcher
from tests.harness.databases import on_postgresql, on_sqlite
from tests.infra.builders import an_update
from tests.infra.keys import KEY, OLDER_KEY
from tests.infra.on_disk import find_texts
from tests.orders.builders import an_order, insert_orders
from tests.settlement.builders import BCA
from tests.times import NOW

ORDERS, RECIPIENTS = 250, 30


@pytest.fixture
async def old(database: str) -> AsyncIterator[Database]:
    """The database of a bot with only the older key, and many rows sealed with it."""
    store = Database(database, Vault([OLDER_KEY]))
    await store.register_first_key()
    async with store.transaction() as tx:
        await insert_orders(tx, (an_order(f"R{n:04}", number=f"86201{n:05}") for n in range(ORDERS)))
        for n in range(RECIPIENTS):
            await RecipientRepository(tx).save(
                SavedRecipient(
                    id=f"r{n}", user_id=1001, method=BCA, number=f"8720{n}", created_at=NOW, last_used_at=NOW
                )
            )
        await DraftRepository(tx).add(a_draft(number="8820", doubtful_number="8821"))
        await InboxRepository(tx).add([an_update(5)])
    yield store
    await store.close()


@pytest.fixture
async def both(database: str) -> AsyncIterator[Database]:
    """The same database after a restart with a new first key, and the older key as the second."""
    store = Database(database, Vault([KEY, OLDER_KEY]))
    yield store
    await store.close()


async def rotate_all(store: Database) -> dict[str, int]:
    """Rotate all tables, and return for each table how many rows were sealed."""
    return {step.table: step.sealed async for step in store.rotate()}


async def count_waiting(store: Database) -> int:
    return sum(each.waiting for each in (await store.count_sealed_rows()).values())


async def read_numbers(store: Database) -> list[str]:
    async with store.reading() as tx:
        return sorted(order.number for order in await OrderRepository(tx).of_user(1001, limit=10_000))


async def test_everything_is_sealed_anew_and_the_older_key_is_needed_no_more(
    old: Database, both: Database, database: str
) -> None:
    before = await read_numbers(old)
    await both.register_first_key()
    assert await count_waiting(both) == ORDERS + RECIPIENTS + 2
    assert await rotate_all(both) == {"orders": ORDERS, "recipients": RECIPIENTS, "drafts": 1, "inbox": 1}
    assert await both.finish_rotation() == 0
    alone = Database(database, Vault([KEY]))
    await alone.check_keys()
    assert await read_numbers(alone) == before
    async with alone.reading() as tx:
        assert [item.body for item in await InboxRepository(tx).find_unfinished(1001)] == ['{"text": "halo"}']
        assert (await DraftRepository(tx).get("d1")).doubtful_number == "8821"  # type: ignore[union-attr]
    await alone.close()
    assert await rotate_all(both) == {}, "a second time there is nothing to do"
    if database.startswith("sqlite"):
        assert find_texts(database, [Vault([OLDER_KEY]).first_key_prefix]) == {}, (
            "nothing of the older key is left in the files"
        )


async def test_keys_that_do_not_fit_are_noticed_before_anything_is_read(old: Database, database: str) -> None:
    stranger = Database(database, Vault([KEY]))
    for asked in (stranger.check_keys, stranger.register_first_key, stranger.count_sealed_rows):
        with pytest.raises(MissingKey):
            await asked()
    await stranger.close()
    without = Database(database)
    with pytest.raises(MissingKey):
        await without.check_keys()
    await without.close()
    await old.check_keys()


@on_postgresql
async def test_orders_are_saved_all_the_while_and_none_is_lost(old: Database, both: Database) -> None:
    del old
    await both.register_first_key()
    done = asyncio.Event()

    async def saves() -> int:
        saved = 0
        while not done.is_set():
            async with both.transaction() as tx:
                order = await OrderRepository(tx).get(f"R{saved % ORDERS:04}")
                assert order is not None
                assert await OrderRepository(tx).save(order) is not None
            saved += 1
        return saved

    saving = asyncio.create_task(saves())
    await rotate_all(both)
    done.set()
    saved = await saving
    assert saved > 3
    assert await both.finish_rotation() == 0
    async with both.reading() as tx:
        found = await OrderRepository(tx).of_user(1001, limit=1000)
    assert sum(order.version for order in found) == saved
    assert sorted(order.number for order in found) == [f"86201{n:05}" for n in range(ORDERS)]


@on_postgresql
async def test_a_bot_that_locks_rows_in_another_order_and_a_rotation_both_go_on(
    old: Database, both: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    del old
    await both.register_first_key()
    seal, is_at_last_row = keys._seal_again, asyncio.Event()

    async def sealed(connection: object, table: object, vault: Vault, row: dict[str, object]) -> bool:
        if row.get("reference") == "R0002":
            is_at_last_row.set()
        return await seal(connection, table, vault, row)  # type: ignore[arg-type]

    monkeypatch.setattr(keys, "_seal_again", sealed)
    async with both.transaction() as tx:
        for reference in ("R0002", "R0001"):
            order = await OrderRepository(tx).get(reference)
            assert order is not None
            assert await OrderRepository(tx).save(order) is not None
            if reference == "R0002":
                rotation = asyncio.create_task(rotate_all(both))
                await is_at_last_row.wait()
    await rotation
    assert await both.finish_rotation() == 0


@on_sqlite
async def test_a_text_that_changed_between_reading_and_writing_is_left_alone(
    old: Database, both: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    del old
    await both.register_first_key()
    sealed_now = both._vault.seal("1234", "orders.number:R0000")

    async def changed_meanwhile(connection: object, table: object, vault: Vault, row: dict[str, object]) -> bool:
        if row.get("reference") == "R0000":
            values = {"number": sealed_now}
            await connection.execute(  # type: ignore[attr-defined]
                text("UPDATE orders SET number = :number WHERE reference = 'R0000'"), values
            )
        return await seal(connection, table, vault, row)  # type: ignore[arg-type]

    seal = keys._seal_again
    monkeypatch.setattr(keys, "_seal_again", changed_meanwhile)
    await rotate_all(both)
    async with both.reading() as tx:
        assert (await OrderRepository(tx).get("R0000")).number == "1234"  # type: ignore[union-attr]


@on_sqlite
async def test_a_row_that_does_not_open_is_left_and_keeps_the_older_key_needed(
    old: Database, both: Database, database: str
) -> None:
    async with old._writer.begin() as connection:
        await connection.execute(
            text(
                "UPDATE orders SET number = (SELECT number FROM orders WHERE reference = 'R0002')"
                " WHERE reference = 'R0001'"
            )
        )
    await both.register_first_key()
    last = {step.table: step async for step in both.rotate()}
    assert (last["orders"].sealed, last["orders"].failed) == (ORDERS - 1, 1)
    assert await both.finish_rotation() == 1
    alone = Database(database, Vault([KEY]))
    with pytest.raises(MissingKey):
        await alone.check_keys()
    await alone.close()
    with pytest.raises(StoreDown):
        async with both.reading() as tx:
            await OrderRepository(tx).get("R0001")


async def rotate_and_be_killed(database: str, log: Path) -> None:
    """Start a rotation in another process, and kill it after its first transaction with orders."""
    with log.open("wb") as sink:
        process = await launcher().start(
            ["rotate", database], program="tests.infra.database_child", environment={}, log=sink.fileno()
        )
    with log.open("rb") as output:
        while output.read() != b"orders\n":
            assert process.returncode is None
            output.seek(0)
            await asyncio.sleep(0.01)
    process.kill()
    await process.wait()


@pytest.mark.process
async def test_killed_in_the_middle_it_goes_on_with_what_is_left(
    old: Database, both: Database, database: str, tmp_path: Path
) -> None:
    before = await read_numbers(old)
    await rotate_and_be_killed(database, tmp_path / "log")
    left = await count_waiting(both)
    assert 0 < left < ORDERS + RECIPIENTS
    assert await read_numbers(both) == before, "half way, everything opens"
    assert sum((await rotate_all(both)).values()) == left
    assert await both.finish_rotation() == 0
    assert await read_numbers(both) == before
