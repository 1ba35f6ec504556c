"""Two replicas on one PostgreSQL, in one process: each chat in one of them, also if a row is committed late."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from telegram import Update

from bot.infra.db.database import Database
from bot.infra.db.fence import FENCE
from bot.infra.leases.chat_leases import ChatLeases
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import RetryLater, Sent, StoredNotification, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository
from bot.infra.workers import Wakeup, run_forever
from tests.harness.databases import on_postgresql
from tests.infra.builders import a_notification
from tests.infra.fake_inbox import LoopClock
from tests.orders.order_system import RecordingSender
from tests.settlement.fake_settlement import MovedClock
from tests.times import NOW
from tests.waiting import until

pytestmark = on_postgresql

CHAT = 1001


class Work:
    """What the replicas have done, and whether two of them were ever in one chat at once."""

    def __init__(self) -> None:
        self.done: list[tuple[str, object]] = []
        self.working: set[int] = set()
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def does(self, owner: str, chat_id: int, what: object) -> None:
        assert chat_id not in self.working, "one at a time in a chat"
        assert FENCE.get() is not None
        self.working.add(chat_id)
        try:
            await asyncio.sleep(0.01)
            await self.may_end.wait()
            self.done.append((owner, what))
        finally:
            self.working.discard(chat_id)

    async def has_done(self, *what: object) -> bool:
        return [each for _, each in self.done] == list(what)


@asynccontextmanager
async def replica(store: Database, owner: str, work: Work) -> AsyncIterator[ChatQueues]:
    async def process(update: Update) -> None:
        await work.does(owner, CHAT, update.update_id)

    async def do_job(job: InboxItem) -> None:
        await work.does(owner, job.chat_id, job.body)

    leases, wakeup = ChatLeases(store, owner), Wakeup()
    queues = ChatQueues(store, process, LoopClock(), jobs={"job": do_job}, leases=leases, on_waiting=wakeup.wake_here)
    tasks = [
        asyncio.create_task(run_forever("chats", queues.claim_waiting, wakeup)),
        asyncio.create_task(run_forever("leases", leases.keep, Wakeup())),
    ]
    try:
        yield queues
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await queues.drain(0.5)
        await leases.release_all()


def an_update(update_id: int) -> InboxItem:
    message = {"message_id": update_id, "date": 0, "chat": {"id": CHAT, "type": "private"}, "text": "halo"}
    body = json.dumps({"update_id": update_id, "message": message})
    return InboxItem(id=update_id, chat_id=CHAT, body=body, received_at=NOW)


async def add(store: Database, update_id: int) -> None:
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(update_id)])


async def test_an_earlier_update_that_is_committed_late_is_handled_once_and_not_beside_a_later_one(
    store: Database, other_store: Database
) -> None:
    work = Work()
    async with replica(store, "first", work) as first, replica(other_store, "second", work) as second:
        async with store.transaction() as late:
            await InboxRepository(late).add([an_update(1)])
            await add(other_store, 2)
            work.may_end.clear()
            second.look_soon()

            async def has_begun() -> bool:
                return bool(work.working)

            await until(has_begun, what="the later update is being handled")
        # Now the earlier one is visible, while the later one is being handled.
        for queues in (first, second):
            queues.look_soon()
        await asyncio.sleep(0.1)
        work.may_end.set()
        await until(lambda: work.has_done(2, 1), what="both are handled")
        assert len({owner for owner, _ in work.done}) == 1, "the chat stays where it is"


async def test_updates_that_both_replicas_see_are_handled_once(store: Database, other_store: Database) -> None:
    work = Work()
    async with replica(store, "first", work) as first, replica(other_store, "second", work) as second:
        for update_id in range(1, 41):
            await add(store if update_id % 2 else other_store, update_id)
            first.look_soon()
            second.look_soon()
        await until(lambda: work.has_done(*range(1, 41)), what="each is handled once, in order")


@asynccontextmanager
async def sending_replica(
    store: Database, owner: str, sender: RecordingSender
) -> AsyncIterator[tuple[OutboxDelivery, ChatLeases]]:
    leases = ChatLeases(store, owner)
    delivery = OutboxDelivery(store, sender, sender.clock, leases=leases)
    try:
        yield delivery, leases
    finally:
        await delivery.close(0)
        await leases.release_all()


async def test_messages_that_both_replicas_see_are_sent_once_and_in_order(
    store: Database, other_store: Database
) -> None:
    first_sender, second_sender = RecordingSender(MovedClock()), RecordingSender(MovedClock())
    async with (
        sending_replica(store, "first", first_sender) as (first, _),
        sending_replica(other_store, "second", second_sender) as (second, _),
    ):
        async with store.transaction() as tx:
            rows = [a_notification(kind=f"{n}", chat_id=chat) for n in range(3) for chat in range(1, 21)]
            await OutboxRepository(tx).add(rows)
        for _ in range(6):
            await asyncio.gather(first.start_due(), second.start_due())
            await asyncio.gather(first.wait_until_sent(), second.wait_until_sent())
    for chat in range(1, 21):
        kinds = first_sender.kinds(chat), second_sender.kinds(chat)
        assert sorted(kinds) == [[], ["0", "1", "2"]], "a chat stays with one of them"


async def test_what_a_replica_leaves_half_sent_is_repeated_by_the_other_only_once_its_chat_is_free(
    store: Database, other_store: Database
) -> None:
    class Hanging(RecordingSender):
        async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
            await super().send(notification)
            await asyncio.Event().wait()
            raise AssertionError

    hanging, sender = Hanging(MovedClock()), RecordingSender(MovedClock())
    async with store.transaction() as tx:
        await OutboxRepository(tx).add([a_notification()])
    async with sending_replica(other_store, "second", sender) as (second, _):
        async with sending_replica(store, "first", hanging) as (first, _):
            assert await first.start_due() == 1

            async def has_begun() -> bool:
                return bool(hanging.sent)

            await until(has_begun, what="the first sends it")
            assert await second.start_due() == 0
        assert await second.start_due() == 1
        await second.wait_until_sent()
    assert [each.maybe_sent for each in sender.sent] == [True]
