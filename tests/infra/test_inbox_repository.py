"""The inbox saves each update once and keeps the order."""

from sqlalchemy import select

from bot.infra.db.database import Database
from bot.infra.telegram.inbound.repository import Inbox, InboxItem, InboxRepository
from bot.infra.telegram.inbound.tables import inbox
from tests.examples import examples
from tests.infra.builders import an_update
from tests.settlement.fake_settlement import MovedClock
from tests.times import NOW, SECOND


async def test_updates_wait_in_order_by_chat(store: Database) -> None:
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(n, chat_id=1001 + n % 2) for n in (5, 3, 8, 4, 1)])
        assert [item.id for item in await InboxRepository(tx).find_unfinished(1002)] == [1, 3, 5]
        assert [item.id for item in await InboxRepository(tx).find_unfinished(1002, known=[1])] == [3, 5]
        assert [item.id for item in await InboxRepository(tx).find_unfinished(1002, limit=2)] == [1, 3]
        assert [item.id for item in await InboxRepository(tx).find_unfinished(1001)] == [4, 8]


async def test_the_chat_that_waits_longest_comes_first(store: Database) -> None:
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(1, chat_id=7), an_update(2, chat_id=-8, received_at=NOW - SECOND)])
        await InboxRepository(tx).add([an_update(3, chat_id=9), an_update(4, chat_id=7)])
        assert await InboxRepository(tx).find_waiting("me", 9) == {-8: 1, 7: 2, 9: 1}
        await InboxRepository(tx).add([job := InboxItem.job(5, "job", "", NOW - 9 * SECOND)])
        assert [*await InboxRepository(tx).find_waiting("me", 9)] == [-8, 7, 9, 5], "jobs hold up no updates"
        assert [*await InboxRepository(tx).find_waiting("me", 2, left=[2, job.id])] == [7, 9]
        await InboxRepository(tx).finish([2, 3], NOW)
        assert await InboxRepository(tx).find_waiting("me", 9) == {7: 2, 5: 1}


async def test_what_was_written_is_dropped_when_it_is_dealt_with(store: Database) -> None:
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(1), an_update(2)])
        await InboxRepository(tx).finish([1], NOW)
    async with store._writer.connect() as connection:
        bodies = list((await connection.execute(select(inbox.c.body).order_by(inbox.c.id))).scalars())
    assert [bool(body) for body in bodies] == [False, True]
    assert an_update(2).body not in bodies[1], "what waits can't be read without the key"


async def test_thousands_of_updates_are_finished_at_once(store: Database) -> None:
    # Drivers take up to 32,767 parameters: one for each id, and eight for each new row.
    ids = range(1, examples(33_000) + 1)
    new = ids[::6]
    async with store.transaction() as tx:
        added = await InboxRepository(tx).add([an_update(n, body="") for n in new])
        assert len(added) == len(new)
        await InboxRepository(tx).finish(ids, NOW)
        assert await InboxRepository(tx).find_waiting("me", 9) == {}


async def test_a_job_waits_once_behind_the_updates_and_can_be_added_again_when_it_is_done(store: Database) -> None:
    added: list[None] = []
    jobs = Inbox(store, MovedClock())
    jobs.on_added = lambda: added.append(None)
    for argument in ("d1", "d1", "d2"):
        await jobs.add_job(1001, "expire", argument)
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(1, received_at=MovedClock().now() + SECOND)])
        first, *others = await InboxRepository(tx).find_unfinished(1001)
        assert first.is_update
        assert {(job.kind, job.body) for job in others} == {("expire", "d1"), ("expire", "d2")}
        await others[0].finish(tx)
        await InboxRepository(tx).finish([1, others[1].id], NOW)
    await jobs.add_job(1001, "expire", "d1")
    async with store.transaction() as tx:
        (again,) = await InboxRepository(tx).find_unfinished(1001)
        assert (again.body, len(added)) == ("d1", 3)
        await InboxRepository(tx).add([an_update(2)])
        assert [await InboxRepository(tx).delete_job(each) for each in (again.id, again.id, 2)] == [1, 0, 0]
        assert [each.id for each in await InboxRepository(tx).find_unfinished(1001)] == [2]
