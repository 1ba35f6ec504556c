"""The queues of chats, in virtual time: they keep the order within a chat, and lose no update."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import partial

import pytest
from structlog.testing import capture_logs
from telegram import Update

from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import UnknownKey
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.telegram.inbound.attempts import CURRENT_ATTEMPT, MAX_OUTAGES
from bot.infra.telegram.inbound.chat_queues import READ_AT_ONCE, ChatQueues
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import InboxItem
from bot.infra.workers import Wakeup, run_forever
from tests.infra.fake_inbox import FakeStore, LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.virtual_time import in_virtual_time, now

JOB = "a job"


class RecordingQueues:
    """Chat queues that record what is handled when: the ids of updates and the bodies of jobs.

    Each takes the `seconds` of its chat, and raises its next one of `errors`.
    """

    def __init__(
        self,
        store: FakeStore | None = None,
        *,
        seconds: float = 0.0,
        max_chats: int = 64,
        leases: Leases | None = None,
    ) -> None:
        self.store = store or FakeStore()
        self.seconds: dict[int, float] = defaultdict(lambda: seconds)
        self.errors: dict[object, list[BaseException]] = defaultdict(list)
        self.handled: list[object] = []
        self.finished_at: dict[object, float] = {}
        self.running: Counter[int] = Counter()
        self.most_at_once = 0
        self.wakeup = Wakeup()
        self.queues = ChatQueues(
            self.store.port,
            self.process,
            LoopClock(),
            jobs={"job": self.do_job},
            leases=leases,
            on_waiting=self.wakeup,
            max_chats=max_chats,
        )

    async def look(self) -> None:
        """Find what is waiting in the database, as a new process does."""
        self.queues.look_soon()
        await self.queues.claim_waiting()

    def look_always(self) -> asyncio.Task[None]:
        """Look regularly, as a process does."""
        return asyncio.create_task(run_forever("chats", self.queues.claim_waiting, self.wakeup))

    async def process(self, update: Update) -> None:
        assert update.effective_chat is not None
        await self.handle(update.effective_chat.id, update.update_id)

    async def do_job(self, job: InboxItem) -> None:
        await self.handle(job.chat_id, job.body)

    async def handle(self, chat: int, what: object) -> None:
        assert not self.running[chat], "one at a time in a chat"
        self.running[chat] += 1
        self.most_at_once = max(self.most_at_once, self.running.total())
        try:
            await asyncio.sleep(self.seconds[chat])
            if self.errors[what]:
                raise self.errors[what].pop(0)
            self.handled.append(what)
            self.finished_at[what] = now()
        finally:
            self.running[chat] -= 1

    async def receive(self, *ids_and_chats: tuple[int, int]) -> None:
        items = [item(update_id, chat) for update_id, chat in ids_and_chats]
        async with self.store.transaction() as tx:
            new_ids = await tx.inbox.add(items)
        self.queues.submit_updates(items, new_ids)

    async def wait_until_finished(self, within: float = 1000.0) -> None:
        deadline = now() + within
        while self.store.inbox.unfinished():
            assert now() < deadline, f"still there: {self.store.inbox.unfinished()}"
            await asyncio.sleep(0.05)

    def handled_in(self, chat: int) -> list[object]:
        return [key for key in self.handled if isinstance(key, int) and self.store.inbox.rows[key].chat_id == chat]


def item(update_id: int, chat: int, *, attempts: int = 0, body: str | None = None) -> InboxItem:
    message = {"message_id": update_id, "date": 0, "chat": {"id": chat, "type": "private"}, "text": "secret words"}
    return InboxItem(
        id=update_id,
        chat_id=chat,
        body=body or json.dumps({"update_id": update_id, "message": message}),
        received_at=LoopClock().now(),
        attempts=attempts,
    )


def a_job(chat: int, body: str = JOB, *, kind: str = "job") -> InboxItem:
    return InboxItem.job(chat, kind, body, LoopClock().now())


@in_virtual_time
async def test_each_chat_keeps_its_order_and_chats_go_beside_each_other() -> None:
    chats = RecordingQueues(seconds=1.0)
    begin = now()
    await chats.receive(*((10 * turn + chat, chat) for turn in range(5) for chat in range(1, 9)))
    await chats.wait_until_finished()
    assert all(chats.handled_in(chat) == sorted(range(chat, 50, 10)) for chat in range(1, 9))
    assert max(chats.finished_at.values()) - begin == pytest.approx(5.0, abs=0.1)
    assert not chats.queues._queues, "an empty queue is dropped"


@in_virtual_time
async def test_a_flooding_chat_takes_one_place_and_leaves_the_others_to_the_others() -> None:
    chats = RecordingQueues(seconds=0.3, max_chats=4)
    await chats.receive(*((key, 1) for key in range(1, 301)))
    begin = now()
    await chats.receive(*((1000 + chat, chat) for chat in range(2, 52)))
    await chats.wait_until_finished()
    assert max(chats.finished_at[1000 + chat] for chat in range(2, 52)) - begin <= 0.3 * (50 / 3 + 2)
    assert chats.handled_in(1) == list(range(1, 301))
    assert chats.most_at_once == 4, "no more chats than allowed"


@in_virtual_time
async def test_an_update_that_comes_while_the_inbox_is_read_is_not_forgotten() -> None:
    chats = RecordingQueues()
    original = chats.store.inbox.find_unfinished

    async def find_unfinished(chat_id: int, *, known: Collection[int], limit: int) -> tuple[InboxItem, ...]:
        found = await original(chat_id, known=known, limit=limit)
        if 900 not in chats.store.inbox.rows:
            await chats.receive((900, 1))
        return found

    chats.store.inbox.find_unfinished = find_unfinished  # type: ignore[assignment]  # its own limit
    await chats.receive(*((key, 1) for key in range(1, 6)))
    await chats.wait_until_finished(within=5)
    assert chats.handled_in(1) == [1, 2, 3, 4, 5, 900]


@in_virtual_time
async def test_what_a_former_process_left_is_handled_in_order_before_what_comes_new() -> None:
    store = FakeStore()
    await store.inbox.add([item(key, key % 3) for key in range(1, 100)])
    await store.inbox.finish([4, 5, 6], LoopClock().now())
    await asyncio.sleep(1)
    chats = RecordingQueues(store, seconds=0.01)
    await chats.look()
    await chats.receive((200, 1))
    await chats.wait_until_finished()
    left = set(range(1, 100)) - {4, 5, 6}
    assert [chats.handled_in(chat) for chat in range(3)] == [
        sorted(key for key in left | {200} if store.inbox.rows[key].chat_id == chat) for chat in range(3)
    ]


class TakenOver(UnsharedLeases):
    """Grants every chat as if another process had died with it."""

    def get(self, chat_id: int) -> ChatLease:
        return replace(self.grant(chat_id), taken_over_at=LoopClock().now())


async def kill_processes_of(store: FakeStore, *chat_ids: int) -> None:
    """Start five processes, and kill each while it handles something in these chats."""
    for _ in range(5):
        await asyncio.sleep(1)
        chats = RecordingQueues(store, leases=TakenOver())
        chats.seconds.update(dict.fromkeys(chat_ids, 1000.0))
        await chats.look()
        await asyncio.sleep(1)
        await chats.queues.drain(timeout=0)


@pytest.mark.parametrize("is_job", [False, True])
def test_what_ends_the_process_each_time_is_dropped_at_last(*, is_job: bool) -> None:
    @in_virtual_time
    async def test() -> None:
        store = FakeStore()
        deadly, behind = (a_job(1), a_job(1, "behind it")) if is_job else (item(1, 1), item(2, 1))
        await store.inbox.add([deadly, behind])
        await kill_processes_of(store, 1)
        assert store.inbox.rows[deadly.id].attempts == 5
        assert store.inbox.rows[behind.id].attempts == 0, "what waits behind it bears no blame"
        survivor = RecordingQueues(store, leases=TakenOver())
        with capture_logs() as logs:
            await survivor.look()
            await survivor.wait_until_finished()
        assert survivor.handled == ["behind it" if is_job else 2]
        assert [line["event"] for line in logs] == ["chat_work_dropped"]

    test()


@in_virtual_time
async def test_an_update_that_fails_is_tried_again_before_what_comes_after_it() -> None:
    chats = RecordingQueues()
    chats.errors[1] = [RuntimeError(), asyncio.CancelledError()]
    await chats.receive((1, 1), (2, 1), (3, 7))
    await chats.wait_until_finished()
    assert chats.handled_in(1) == [1, 2]
    assert chats.finished_at[3] < chats.finished_at[1], "another chat notices nothing"
    assert chats.store.inbox.rows[1].attempts == 3


@in_virtual_time
async def test_what_always_fails_is_dropped_and_its_words_are_never_logged() -> None:
    chats = RecordingQueues()
    chats.errors |= {1: [ValueError("secret words")] * 9, JOB: [ValueError("secret words")] * 9}
    unreadable = item(2, 1, body='{"update_id": 1, "message": {"chat": "secret"}}')
    await chats.store.inbox.add([item(1, 1), unreadable, item(3, 1), a_job(1)])
    with capture_logs() as logs:
        looking = chats.look_always()
        await chats.wait_until_finished()
    looking.cancel()
    assert chats.handled == [3]
    assert [len(chats.errors[key]) for key in (1, JOB)] == [4, 4], "five attempts"
    assert [line["event"] for line in logs] == (["chat_work_failed"] * 5 + ["chat_work_dropped"]) * 3
    assert "secret" not in str(logs)


@in_virtual_time
async def test_a_job_that_fails_holds_up_no_message_and_is_tried_again_at_the_next_look() -> None:
    chats = RecordingQueues()
    chats.errors[JOB] = [StoreDown("away")] * 2
    await chats.store.inbox.add([a_job(1)])
    looking, begin = chats.look_always(), now()
    await asyncio.sleep(0.1)
    await chats.receive((1, 1))
    await chats.wait_until_finished()
    looking.cancel()
    assert chats.handled == [1, JOB]
    assert chats.finished_at[1] - begin == pytest.approx(0.1, abs=0.01)
    assert chats.finished_at[JOB] - begin <= 2 * UnsharedLeases.look_seconds


@in_virtual_time
async def test_a_job_waits_for_the_updates_of_its_chat_even_for_those_that_come_later() -> None:
    chats = RecordingQueues(seconds=0.5)
    await chats.store.inbox.add([a_job(1, "ours"), a_job(2, "others")])
    await chats.receive((1, 1))
    await chats.look()
    await asyncio.sleep(0.7)
    await chats.receive((2, 1))
    await chats.store.inbox.add([a_job(1, "behind")])
    await chats.look()
    await chats.wait_until_finished()
    assert chats.handled == [1, "others", "ours", 2, "behind"]


@in_virtual_time
async def test_a_job_of_an_unknown_kind_is_named_once_never_changed_and_holds_up_nothing() -> None:
    chats = RecordingQueues()
    unknown = [a_job(1, str(number), kind="of another version") for number in range(READ_AT_ONCE)]
    await chats.store.inbox.add(unknown)
    await asyncio.sleep(1)
    await chats.store.inbox.add([a_job(1)])
    looking = chats.look_always()
    await asyncio.sleep(60)
    await chats.receive((1, 1))
    await asyncio.sleep(60)
    looking.cancel()
    assert chats.handled == [JOB, 1]
    assert chats.store.unknown == {str(each.id): 1 for each in unknown}
    assert [chats.store.inbox.rows[each.id] for each in unknown] == unknown
    assert chats.store.reads < 30, "a look reads once, and the chat is read when it is new"


@in_virtual_time
async def test_work_that_needs_a_key_that_this_process_lacks_stays_as_it_is() -> None:
    chats = RecordingQueues()
    chats.errors[1] = [UnknownKey("other")] * 100
    await chats.receive((1, 1), (2, 1), (3, 2))
    with capture_logs() as logs:
        looking = chats.look_always()
        await asyncio.sleep(20)
    looking.cancel()
    assert chats.handled == [3]
    assert chats.store.inbox.unfinished() == {1, 2}
    assert chats.store.inbox.rows[1].attempts == 0
    assert logs == []
    assert len(chats.errors[1]) > 90, "it isn't tried all the time until the process ends"


@in_virtual_time
async def test_a_handler_that_hangs_is_ended_and_the_chat_goes_on() -> None:
    chats = RecordingQueues()
    chats.seconds[1] = 100_000.0
    await chats.receive((1, 1), (2, 1))
    await asyncio.sleep(130)
    chats.seconds[1] = 0.0
    await chats.wait_until_finished()
    assert chats.handled == [1, 2]


@in_virtual_time
async def test_a_database_that_is_away_costs_no_attempts_and_loses_nothing() -> None:
    chats = RecordingQueues()
    await chats.receive((1, 1))
    chats.store.failures = [OSError("gone")] * 8
    await chats.wait_until_finished()
    assert chats.handled == [1]
    assert chats.store.inbox.rows[1].attempts == 0


@in_virtual_time
async def test_an_update_outlives_a_database_that_fails_again_and_again() -> None:
    chats = RecordingQueues()
    chats.errors |= {key: [StoreDown("away")] * MAX_OUTAGES for key in (1, 2)}
    chats.errors[3] = [StoreDown("its own fault")] * (MAX_OUTAGES + 9)
    await chats.store.inbox.add([item(1, 1), item(2, 2, attempts=1), item(3, 3)])
    await chats.look()
    await chats.wait_until_finished(within=3600)
    assert set(chats.handled) == {1, 2}
    assert [chats.store.inbox.rows[key].attempts for key in (1, 2)] == [0, 2], "what may end the process is counted"
    assert len(chats.errors[3]) == 4, "five attempts more"


class LostChat(UnsharedLeases):
    """Grants every chat. Another process has taken chat 1 when its work is saved."""

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        return [lease for lease in leases if lease.chat_id != 1]


@in_virtual_time
async def test_an_update_of_a_chat_that_was_lost_is_finished_by_the_process_that_has_it_now() -> None:
    chats = RecordingQueues(leases=LostChat())
    await chats.receive((1, 1), (2, 2))
    await asyncio.sleep(1)
    assert chats.handled == [1, 2]
    assert chats.store.inbox.unfinished() == {1}


@in_virtual_time
async def test_looking_again_serves_nothing_twice() -> None:
    chats = RecordingQueues(FakeStore(commits_take=0.5), seconds=0.1)
    await chats.receive((1, 1), (2, 1))
    await asyncio.sleep(0.25)  # handled, but not committed yet
    await chats.receive((1, 1))
    await chats.look()
    await chats.wait_until_finished()
    assert chats.handled == [1, 2]


@in_virtual_time
async def test_an_update_that_is_seen_in_the_inbox_before_it_is_submitted_is_handled_once() -> None:
    chats = RecordingQueues(seconds=0.1)
    await chats.receive((1, 1))
    with chats.queues.expecting([2]):
        await chats.store.inbox.add([item(2, 1)])
        await chats.look()
        await asyncio.sleep(1)
        assert chats.handled == [1]
        chats.queues.submit_updates([item(2, 1)], [2])
    await chats.look()
    await asyncio.sleep(1)
    assert chats.handled == [1, 2]


class StatefulQueues(RecordingQueues):
    """Chat queues that show a question at each update, and record which question they found."""

    def __init__(self, store: FakeStore) -> None:
        super().__init__(store)
        self.saved: dict[int, int | None] = {}
        self.found: dict[int, list[int | None]] = defaultdict(list)

    async def process(self, update: Update) -> None:
        attempt, chat = CURRENT_ATTEMPT.get(), update.effective_chat
        assert attempt is not None
        assert chat is not None
        shown = attempt.chat.question_message_id if attempt.chat else self.saved.get(chat.id)
        self.found[chat.id].append(shown)
        attempt.chat = ChatState(user_id=chat.id, question_message_id=update.update_id)
        attempt.on_finish = partial(self.save, attempt.chat)
        await super().process(update)

    async def save(self, chat: ChatState, _: object) -> None:
        self.saved[chat.user_id] = chat.question_message_id


@in_virtual_time
async def test_each_attempt_in_a_chat_finds_what_the_one_before_has_shown_even_if_that_failed() -> None:
    chats = StatefulQueues(FakeStore(commits_take=0.5))
    chats.errors[2] = [RuntimeError("after it was shown")]
    await chats.receive((1, 7), (2, 7), (3, 7), (4, 8))
    await chats.wait_until_finished()
    await chats.queues.drain()
    assert chats.found == {7: [None, 1, 2, 2], 8: [None]}
    assert chats.saved == {7: 3, 8: 4}
