"""A transaction is saved together or not at all, also for other readers and writers."""

import asyncio

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.repository import OrderRepository
from tests.infra.builders import a_notification, all_notifications, an_update, due_heads
from tests.orders.builders import an_order
from tests.times import NOW


async def assert_empty(store: Database) -> None:
    async with store.reading() as tx:
        assert await OrderRepository(tx).get("R2345AB") is None
        assert await due_heads(tx, NOW) == ()


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
