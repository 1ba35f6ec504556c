"""A transaction is saved together or not at all, also for other readers and writers."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.db.engine import POSTGRESQL_CONNECTIONS
from bot.infra.db.errors import StoreDown
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.repository import OrderRepository
from tests.harness.databases import on_postgresql
from tests.infra.builders import a_notification, all_notifications, an_update, due_heads
from tests.infra.keys import VAULT
from tests.orders.builders import an_order
from tests.times import NOW


class Interrupted(Exception):
    """An error between two statements."""


async def write_half(store: Database, started: asyncio.Event | None = None) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order())
        await OutboxRepository(tx).add([a_notification()])
        if started is None:
            raise Interrupted
        started.set()
        await asyncio.Event().wait()


async def assert_empty(store: Database) -> None:
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R2345AB") is None
        assert await due_heads(tx, NOW) == ()


async def test_an_exception_leaves_nothing_behind(store: Database) -> None:
    with pytest.raises(Interrupted):
        await write_half(store)
    await assert_empty(store)


async def test_a_cancelled_transaction_leaves_nothing_behind_and_the_store_works_on(store: Database) -> None:
    for _ in range(30):
        started = asyncio.Event()
        task = asyncio.create_task(write_half(store, started))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await assert_empty(store)
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(an_order())


async def test_a_transaction_cancelled_at_any_step_is_whole_or_absent(store: Database) -> None:
    async def write(reference: str) -> None:
        async with store.transaction() as tx:
            await OrderRepository(tx).add(an_order(reference))
            await OutboxRepository(tx).add(
                [a_notification(f"order:{reference}", kind="invoice", chat_id=int(reference))]
            )

    # Where a cancelled task was opening the file, a thread goes on with that, perhaps until the file's folder is gone.
    await write("2000")
    for steps in range(80):
        task = asyncio.create_task(write(str(steps)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with store.reading() as tx:
        orders = {order.reference for order in await OrderRepository(tx).of_user(1001, limit=1000)}
        notifications = {str(head.chat_id) for head in await all_notifications(tx)}
    assert orders == notifications
    await write("1000")


async def test_readers_neither_wait_for_a_writer_nor_see_half_of_it(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order())
        await OutboxRepository(tx).add([a_notification()])
        await assert_empty(store)
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R2345AB") == an_order()


async def test_a_reading_is_one_moment(store: Database) -> None:
    async with store.reading() as before:
        assert await OrderRepository(before).get("R2345AB") is None
        async with store.transaction() as tx:
            await OrderRepository(tx).add(an_order())
            await OutboxRepository(tx).add([a_notification()])
        assert await due_heads(before, NOW) == ()


async def test_a_reading_can_not_write(store: Database) -> None:
    with pytest.raises(StoreDown):
        async with store.reading() as tx:
            await OrderRepository(tx).add(an_order())
    await assert_empty(store)


async def test_many_writers_of_two_processes_all_get_their_turn(store: Database, other_store: Database) -> None:
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(1)])

    async def read_and_count(one: Database) -> None:
        async with one.transaction() as tx:
            await InboxRepository(tx).find_unfinished(1001)
            await InboxRepository(tx).count_attempt(1)

    await asyncio.gather(*(read_and_count(one) for one in [store, other_store] * 100))
    async with store.reading() as tx:
        (item,) = await InboxRepository(tx).find_unfinished(1001)
    assert item.attempts == 200


async def test_a_failure_says_nothing_of_the_rows(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", service_id="cm1"))
        await OrderRepository(tx).add(an_order("R2"))
    with pytest.raises(StoreDown) as caught:
        async with store.transaction() as tx:
            await OrderRepository(tx).save(an_order("R2", service_id="cm1"))
    error: BaseException | None = caught.value
    assert caught.value.__suppress_context__, "a traceback would print the driver's own words"
    assert not any(secret in str(error) for secret in ("cm1", "8620123456", "SARI"))


async def test_a_database_in_memory_is_gone_when_it_is_closed() -> None:
    store = Database(":memory:", VAULT)
    path = store._address.path
    assert path is not None
    assert await store.upgrade() == migrate.get_expected_revision()
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(an_order())
    assert path.exists()
    await store.close()
    assert not path.parent.exists()


async def test_a_database_that_can_not_be_opened_is_a_failure(tmp_path: Path) -> None:
    store = Database(str(tmp_path))
    with pytest.raises(StoreDown):
        await store.check()
    with pytest.raises(StoreDown):
        async with store.transaction():
            pass
    await store.close()


async def test_a_server_that_is_not_there_is_a_failure() -> None:
    store = Database("postgresql://nobody:secret@127.0.0.1:1/none")
    with pytest.raises(StoreDown) as caught:
        await store.check()
    assert "secret" not in str(caught.value)
    with pytest.raises(StoreDown):
        async with store.reading():
            pass
    with pytest.raises(StoreDown):
        async with store.keeping():
            pass
    await store.close()


@on_postgresql
async def test_the_gauges_of_connections_are_those_of_postgresql(store: Database) -> None:
    async with store.transaction() as tx:
        assert await OrderRepository(tx).get("R2345AB") is None
        assert REGISTRY.get_sample_value("kirim_database_connections_in_use") == 1
    assert REGISTRY.get_sample_value("kirim_database_connections_limit") == POSTGRESQL_CONNECTIONS
