"""The queues of chats, in virtual time: they keep the order within a chat, and lose no update."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs
from telegram import Update

from bot.infra.db.errors import RowForOthers, StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.jobs.repository import Job, JobHandler
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.telegram.inbound.attempts import CURRENT_ATTEMPT, TURN_SECONDS
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.model import ChatState, InboxItem
from tests.infra.fake_inbox import FOR_OTHERS, FakeStore, LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.virtual_time import in_virtual_time, now


class RecordingQueues:
    """Chat queues that record which updates are handled when. Each update takes the `seconds` of its chat."""

    def __init__(
        self,
        store: FakeStore | None = None,
        *,
        seconds: float = 0.0,
        max_chats: int = 64,
        max_in_memory: int = 30,
        leases: Leases | None = None,
    ) -> None:
        self.store = store or FakeStore()
        self.seconds: dict[int, float] = defaultdict(lambda: seconds)
        self.errors: dict[int, list[BaseException]] = defaultdict(list)
        self.handled: list[int] = []
        self.finished_at: dict[int, float] = {}
        self.running: Counter[int] = Counter()
        self.most_at_once = 0
        self.jobs: dict[str, JobHandler] = {}
        self.queues = ChatQueues(
            self.store.port,
            self.process,
            LoopClock(),
            jobs=self.jobs,
            leases=leases,
            max_chats=max_chats,
            max_in_memory=max_in_memory,
        )

    async def look(self) -> None:
        """Find what is waiting in the database, as a new process does."""
        self.queues.look_soon()
        await self.queues.claim_waiting()

    async def process(self, update: Update) -> None:
        assert update.effective_chat is not None
        chat = update.effective_chat.id
        assert not self.running[chat], "one at a time in a chat"
        self.running[chat] += 1
        self.most_at_once = max(self.most_at_once, self.running.total())
        try:
            await asyncio.sleep(self.seconds[chat])
            if self.errors[update.update_id]:
                raise self.errors[update.update_id].pop(0)
            self.handled.append(update.update_id)
            self.finished_at[update.update_id] = now()
        finally:
            self.running[chat] -= 1

    async def receive(self, *ids_and_chats: tuple[int, int]) -> None:
        items = [item(update_id, chat) for update_id, chat in ids_and_chats]
        async with self.store.transaction() as tx:
            new_ids = await tx.inbox.add(items)
        self.queues.submit_updates([item for item in items if item.update_id in new_ids])

    async def wait_until_finished(self, within: float = 1000.0) -> None:
        deadline = now() + within
        while self.store.inbox.unfinished():
            assert now() < deadline, f"still there: {self.store.inbox.unfinished()}"
            await asyncio.sleep(0.05)

    def handled_in(self, chat: int) -> list[int]:
        return [key for key in self.handled if self.store.inbox.rows[key].chat_id == chat]


def item(update_id: int, chat: int, *, attempts: int = 0, body: str | None = None) -> InboxItem:
    message = {"message_id": update_id, "date": 0, "chat": {"id": chat, "type": "private"}, "text": "secret words"}
    return InboxItem(
        update_id=update_id,
        chat_id=chat,
        body=body or json.dumps({"update_id": update_id, "message": message}),
        received_at=LoopClock().now(),
        attempts=attempts,
    )


@in_virtual_time
async def test_each_chat_keeps_its_order_and_chats_go_beside_each_other() -> None:
    chats = RecordingQueues(seconds=1.0)
    begin = now()
    await chats.receive(*((10 * turn + chat, chat) for turn in range(5) for chat in range(1, 9)))
    await chats.wait_until_finished()
    assert all(chats.handled_in(chat) == sorted(chats.handled_in(chat)) for chat in range(1, 9))
    assert max(chats.finished_at.values()) - begin == pytest.approx(5.0, abs=0.1)
    assert not chats.queues._queues, "an empty queue is dropped"


@in_virtual_time
async def test_no_more_chats_than_allowed_are_at_work_at_once() -> None:
    chats = RecordingQueues(seconds=1.0, max_chats=4)
    await chats.receive(*((key, key) for key in range(1, 21)))
    await chats.wait_until_finished()
    assert chats.most_at_once == 4


@in_virtual_time
async def test_a_flooding_chat_takes_one_place_and_leaves_the_others_to_the_others() -> None:
    chats = RecordingQueues(seconds=0.3, max_chats=4)
    await chats.receive(*((key, 1) for key in range(1, 301)))
    begin = now()
    await chats.receive(*((1000 + chat, chat) for chat in range(2, 52)))
    await chats.wait_until_finished()
    assert max(chats.finished_at[1000 + chat] for chat in range(2, 52)) - begin <= 0.3 * (50 / 3 + 2)
    assert chats.handled_in(1) == list(range(1, 301))


@in_virtual_time
async def test_memory_holds_a_part_of_a_flood_and_the_inbox_the_rest() -> None:
    chats = RecordingQueues(seconds=0.01, max_in_memory=30)
    most_at_once = 0
    for key in range(1, 401):
        await chats.receive((key, 1))
        most_at_once = max(most_at_once, len(chats.queues._queues[1].work))
        if key % 7 == 0:
            await asyncio.sleep(0.02)
    await chats.wait_until_finished()
    assert most_at_once <= 30
    assert chats.handled_in(1) == list(range(1, 401))
    assert chats.store.reads < 100, "in portions, not one by one"


@in_virtual_time
async def test_an_update_that_comes_while_the_inbox_is_read_is_not_forgotten() -> None:
    chats = RecordingQueues(seconds=0.0, max_in_memory=2)
    original = chats.store.inbox.find_unfinished
    slipped_in = False

    async def find_unfinished(chat_id: int, *, known: Any = (), limit: int = 50) -> tuple[InboxItem, ...]:
        nonlocal slipped_in
        found = await original(chat_id, known=known, limit=limit)
        if not slipped_in and len(found) < limit:
            slipped_in = True
            await chats.receive((900, 1))
        return found

    chats.store.inbox.find_unfinished = find_unfinished  # type: ignore[method-assign]
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
    assert all(chats.handled_in(chat) == sorted(chats.handled_in(chat)) for chat in range(3))
    assert set(chats.handled) == set(range(1, 100)) - {4, 5, 6} | {200}


class TakenOver(UnsharedLeases):
    """Grants every chat as if another process had died with it."""

    def get(self, chat_id: int) -> ChatLease:
        return replace(super().get(chat_id), taken_over_at=LoopClock().now())


async def kill_processes_of(store: FakeStore, *chat_ids: int) -> None:
    """Start five processes, and kill each while it handles updates in these chats."""
    for _ in range(5):
        await asyncio.sleep(1)
        chats = RecordingQueues(store, leases=TakenOver())
        chats.seconds.update(dict.fromkeys(chat_ids, 1000.0))
        await chats.look()
        await asyncio.sleep(1)
        await chats.queues.drain(timeout=0)


@in_virtual_time
async def test_an_update_that_ends_the_process_each_time_is_dropped_at_last() -> None:
    store = FakeStore()
    await store.inbox.add([item(1, 1), item(2, 1)])
    await kill_processes_of(store, 1)
    assert store.inbox.rows[1].attempts == 5
    assert store.inbox.rows[2].attempts == 0, "who waits behind it bears no blame"
    survivor = RecordingQueues(store, leases=TakenOver())
    with capture_logs() as logs:
        await survivor.look()
        await survivor.wait_until_finished()
    assert survivor.handled == [2]
    assert [line["event"] for line in logs] == ["update_dropped"]


@in_virtual_time
async def test_an_update_of_another_chat_is_not_dropped_with_one_that_ends_the_process_each_time() -> None:
    store = FakeStore()
    await store.inbox.add([item(1, 1), item(2, 2)])
    await kill_processes_of(store, 1, 2)
    assert store.inbox.rows[1].attempts == 5
    assert store.inbox.rows[2].attempts == 1, "it was handled beside the other one only once"
    survivor = RecordingQueues(store, leases=TakenOver())
    await survivor.look()
    await survivor.wait_until_finished()
    assert survivor.handled == [2]


@in_virtual_time
async def test_a_suspect_that_takes_long_holds_the_others_up_for_a_while_only() -> None:
    store = FakeStore()
    await store.inbox.add([item(1, 1, attempts=1), item(2, 2, attempts=1), item(3, 3)])
    chats = RecordingQueues(store, leases=TakenOver())
    chats.seconds[1] = 60.0
    begin = now()
    await chats.look()
    await chats.wait_until_finished()
    assert chats.finished_at[3] - begin < 1.0
    assert chats.finished_at[2] - begin == pytest.approx(TURN_SECONDS, abs=0.5)


@in_virtual_time
async def test_a_job_that_ends_the_process_each_time_is_dropped_at_last() -> None:
    store = FakeStore()
    store.jobs.add(1, "hangs")
    for _ in range(6):
        await asyncio.sleep(1)
        chats = RecordingQueues(store, leases=TakenOver())
        chats.jobs["hangs"] = lambda _: asyncio.sleep(1000.0)
        with capture_logs() as logs:
            await chats.look()
            await asyncio.sleep(1)
            await chats.queues.drain(timeout=0)
    assert not store.jobs.waiting
    assert [(line["event"], line["attempts"]) for line in logs] == [("job_dropped", 5)]


@in_virtual_time
async def test_an_update_that_fails_is_tried_again_before_what_comes_after_it() -> None:
    chats = RecordingQueues()
    chats.errors[1] = [RuntimeError(), KeyError()]
    await chats.receive((1, 1), (2, 1), (3, 7))
    await chats.wait_until_finished()
    assert chats.handled_in(1) == [1, 2]
    assert chats.finished_at[3] < chats.finished_at[1], "another chat notices nothing"
    assert chats.store.inbox.rows[1].attempts == 3


@in_virtual_time
async def test_an_update_that_always_fails_is_set_aside_and_its_words_are_never_logged() -> None:
    chats = RecordingQueues()
    chats.errors[1] = [ValueError("secret words")] * 9
    with capture_logs() as logs:
        await chats.receive((1, 1), (2, 1))
        await chats.wait_until_finished()
    assert chats.handled == [2]
    assert len(chats.errors[1]) == 4, "five attempts"
    assert [line["event"] for line in logs] == ["update_attempt_failed"] * 5 + ["update_dropped"]
    assert "secret" not in str(logs)


@in_virtual_time
async def test_an_update_nobody_can_read_stops_nobody() -> None:
    chats = RecordingQueues()
    bad = item(1, 1, body='{"update_id": 1, "message": {"chat": "nonsense"}}')
    await chats.store.inbox.add([bad])
    chats.queues.submit_updates([bad])
    await chats.receive((2, 1))
    await chats.wait_until_finished()
    assert chats.handled == [2]


@in_virtual_time
async def test_a_stray_cancellation_within_a_handler_does_not_end_the_queue() -> None:
    chats = RecordingQueues()
    chats.errors[1] = [asyncio.CancelledError()]
    await chats.receive((1, 1), (2, 1))
    await chats.wait_until_finished()
    assert chats.handled == [1, 2]


@in_virtual_time
async def test_a_queue_that_something_else_cancels_goes_on_with_its_chat_and_says_so() -> None:
    chats = RecordingQueues(seconds=1.0)
    await chats.receive((1, 1), (2, 1))
    await asyncio.sleep(0.5)
    with capture_logs() as logs:
        next(task for task in asyncio.all_tasks() if task.get_name() == "chat-queue-1").cancel()
        await chats.wait_until_finished()
    assert chats.handled == [1, 2]
    assert chats.store.inbox.rows[1].attempts == 1
    assert [entry["error"] for entry in logs if entry["event"] == "chat_queue_restarted"] == ["CancelledError"]


@in_virtual_time
async def test_a_job_whose_queue_something_else_cancels_is_done_later_and_the_chat_goes_on() -> None:
    chats, done = RecordingQueues(), list[float]()

    async def work(_: Job) -> None:
        await asyncio.sleep(100)
        done.append(now())

    chats.jobs["work"] = work
    chats.store.jobs.add(1, "work")
    await chats.look()
    await asyncio.sleep(0.5)
    await chats.receive((1, 1))
    with capture_logs() as logs:
        next(task for task in asyncio.all_tasks() if task.get_name() == "chat-queue-1").cancel()
        await chats.wait_until_finished()
    assert chats.handled == [1]
    assert [line["event"] for line in logs] == ["chat_queue_restarted"]
    await chats.look()
    await asyncio.sleep(101)
    assert len(done) == 1
    assert not chats.store.jobs.waiting


@in_virtual_time
async def test_updates_whose_finishing_something_else_cancels_are_finished_with_the_next_one() -> None:
    chats = RecordingQueues(FakeStore(commits_take=1.0))
    await chats.receive((1, 1))
    await asyncio.sleep(0.5)
    next(task for task in asyncio.all_tasks() if task.get_name() == "inbox-finish").cancel()
    await asyncio.sleep(0.1)
    chats.queues.reread_inbox([1])
    await chats.receive((2, 2))
    await chats.wait_until_finished()
    assert chats.handled == [1, 2]


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
async def test_many_updates_are_finished_by_few_commits() -> None:
    chats = RecordingQueues(FakeStore(commits_take=0.1))
    await chats.receive(*((key, key) for key in range(1, 201)))
    begin = now()
    await chats.wait_until_finished()
    assert now() - begin < 1.0


@in_virtual_time
async def test_jobs_keep_the_order_of_their_chat() -> None:
    chats = RecordingQueues(seconds=0.5)
    seen: list[tuple[str, list[int]]] = []

    async def work(job: Job) -> None:
        seen.append((job.argument, list(chats.handled)))

    chats.jobs["work"] = work
    await chats.receive((1, 1), (2, 1))
    chats.store.jobs.add(1, "work", "ours")
    chats.store.jobs.add(2, "work", "others")
    await chats.look()
    await chats.wait_until_finished()
    await asyncio.sleep(0.1)
    assert seen == [("others", []), ("ours", [1, 2])]
    assert not chats.store.jobs.waiting


@in_virtual_time
async def test_a_job_that_fails_says_so_and_harms_nothing() -> None:
    chats = RecordingQueues()

    async def fail(_: Job) -> None:
        raise ValueError("secret words")

    chats.jobs["fails"] = fail
    chats.store.jobs.add(1, "fails")
    with capture_logs() as logs:
        await chats.look()
        await asyncio.sleep(0.1)
    assert [line["event"] for line in logs] == ["background_task_failed"]
    assert "secret" not in str(logs)
    assert not chats.store.jobs.waiting, "whoever added it adds it again while it is due"
    await chats.receive((1, 1))
    await chats.wait_until_finished()


@in_virtual_time
async def test_a_job_waits_for_a_database_that_is_away() -> None:
    chats, tries = RecordingQueues(), list[float]()

    async def fail_twice(_: Job) -> None:
        tries.append(now())
        if len(tries) < 3:
            raise StoreDown("away")

    chats.jobs["fails"] = fail_twice
    chats.store.jobs.add(1, "fails")
    await chats.look()
    await asyncio.sleep(10)
    assert len(tries) == 3
    assert not chats.store.jobs.waiting


@in_virtual_time
async def test_a_job_of_an_unknown_kind_is_left_to_a_later_version_and_tried_again_each_minute() -> None:
    chats = RecordingQueues()
    chats.jobs["known"] = partial(_finish_job, chats)
    chats.store.jobs.add(1, "of another version")
    chats.store.jobs.add(1, "known")
    with capture_logs() as logs:
        for _ in range(240):
            await chats.look()
            await asyncio.sleep(0.5)
    assert [line["event"] for line in logs] == ["job_left_to_others"] * 2
    assert [job.kind for job in chats.store.jobs.waiting] == ["of another version"]
    assert chats.store.left == ["jobs 1"] * 2


async def _finish_job(chats: RecordingQueues, job: Job) -> None:
    async with chats.store.transaction() as tx:
        await job.finish(tx)


@in_virtual_time
async def test_a_job_that_nobody_knows_for_a_month_is_dropped() -> None:
    chats = RecordingQueues()
    chats.store.jobs.add(1, "of another version")
    await asyncio.sleep(31 * 24 * 3600)
    with capture_logs() as logs:
        await chats.look()
        await asyncio.sleep(0.1)
    assert [line["event"] for line in logs] == ["job_dropped"]
    assert not chats.store.jobs.waiting


class LostChat(UnsharedLeases):
    """Grants every chat. Another process has taken chat 1 when its work is saved."""

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        return [lease for lease in leases if lease.chat_id != 1]


@in_virtual_time
async def test_an_update_of_a_chat_that_was_lost_is_finished_by_the_process_that_has_it_now() -> None:
    chats = RecordingQueues(leases=LostChat())
    await chats.receive((1, 1), (2, 2))
    await chats.look()
    await asyncio.sleep(1)
    assert sorted(chats.handled) == [1, 2]
    assert chats.store.inbox.unfinished() == {1}


class SharedLeases(UnsharedLeases):
    """Grants every chat to a process that isn't alone."""

    is_alone = False

    def __init__(self) -> None:
        super().__init__()
        self.leases: dict[int, ChatLease] = {}

    def get(self, chat_id: int) -> ChatLease:
        return self.leases.setdefault(chat_id, super().get(chat_id))


@in_virtual_time
async def test_an_update_that_only_others_can_read_keeps_none_behind_it_waiting_and_no_process_busy() -> None:
    leases = SharedLeases()
    chats = RecordingQueues(leases=leases, max_in_memory=2)
    async with chats.store.transaction() as tx:
        await tx.inbox.add([item(key, 1, body=FOR_OTHERS) for key in (1, 2, 3)] + [item(key, 1) for key in (4, 5)])
    for _ in range(100):
        await chats.look()
        await asyncio.sleep(0.5)
    assert chats.handled == [4, 5]
    assert chats.store.inbox.unfinished() == {1, 2, 3}
    assert leases.get(1).is_wanted, "the chat is given back"
    assert chats.store.reads <= 100 + 6, "a look reads once, and the chat is read when it is new"


@in_virtual_time
async def test_a_chat_in_which_an_update_needs_a_row_of_others_is_left_to_them_for_a_while() -> None:
    leases = SharedLeases()
    chats = RecordingQueues(leases=leases)
    chats.errors[1] = [RowForOthers("")] * 2
    begin = now()
    await chats.receive((1, 1), (2, 1), (3, 2))
    await chats.look()
    await asyncio.sleep(4.5)
    assert chats.handled == [3], "the chat is left with all that waits in it"
    assert leases.get(1).is_wanted
    while len(chats.handled) < 2:
        await chats.look()
        await asyncio.sleep(0.5)
    assert chats.handled == [3, 2], "nobody took it, so what this process can do goes on"
    assert now() - begin < 10
    assert chats.store.inbox.rows[1].attempts == 0
    for _ in range(140):
        await chats.look()
        await asyncio.sleep(0.5)
    assert chats.handled == [3, 2, 1], "it is tried again, and now its row can be read"


@in_virtual_time
async def test_draining_finishes_what_is_under_way_and_leaves_the_rest_in_the_inbox() -> None:
    chats = RecordingQueues(seconds=1.0)
    await chats.receive(*((10 * chat + turn, chat) for chat in range(1, 6) for turn in range(4)))
    await asyncio.sleep(0.5)
    begin = now()
    await chats.queues.drain(timeout=3.0)
    assert now() - begin == pytest.approx(0.5, abs=0.01)
    assert sorted(chats.handled) == [10, 20, 30, 40, 50]
    assert set(chats.store.inbox.finished) == {10, 20, 30, 40, 50}
    await chats.receive((99, 1))
    await asyncio.sleep(5)
    assert 99 in chats.store.inbox.unfinished()


@in_virtual_time
async def test_draining_cuts_off_what_takes_too_long() -> None:
    chats = RecordingQueues(seconds=60.0)
    await chats.receive((1, 1))
    await asyncio.sleep(0.5)
    begin = now()
    await chats.queues.drain(timeout=3.0)
    assert now() - begin < 3.5
    assert chats.store.inbox.unfinished() == {1}
    assert chats.store.inbox.rows[1].attempts == 0, "the cut was ours"


@in_virtual_time
async def test_draining_ends_even_while_the_database_is_away() -> None:
    chats = RecordingQueues()
    await chats.receive((1, 1))
    chats.store.failures = [OSError()] * 1000
    await asyncio.sleep(1)
    begin = now()
    await chats.queues.drain()
    assert now() - begin < 4.5


@in_virtual_time
async def test_looking_again_serves_nothing_twice() -> None:
    chats = RecordingQueues(FakeStore(commits_take=0.5), seconds=0.1)
    await chats.receive((1, 1), (2, 1))
    await asyncio.sleep(0.25)  # handled, but not committed yet
    chats.queues.reread_inbox([1])
    await chats.wait_until_finished()
    assert chats.handled == [1, 2]


@in_virtual_time
async def test_an_update_with_a_lower_id_is_processed_while_others_wait_in_the_inbox() -> None:
    chats = RecordingQueues(max_in_memory=2, seconds=1.0)
    await chats.receive(*((number, 1) for number in range(1_000, 1_006)))
    await asyncio.sleep(1.5)
    await chats.receive((7, 1))
    await chats.wait_until_finished()
    assert sorted(chats.handled_in(1)) == [7, *range(1_000, 1_006)]
    assert len(chats.handled) == 7
    await chats.queues.drain()


@in_virtual_time
async def test_an_update_that_is_seen_in_the_inbox_before_it_is_submitted_is_handled_once() -> None:
    chats = RecordingQueues(seconds=0.1)
    await chats.receive((1, 1))
    with chats.queues.expecting([2]):
        await chats.store.inbox.add([item(2, 1)])
        await chats.look()
        await asyncio.sleep(1)
        assert chats.handled == [1]
        chats.queues.submit_updates([item(2, 1)])
    await chats.look()
    await chats.wait_until_finished()
    await asyncio.sleep(1)
    assert chats.handled == [1, 2]


class StatefulQueues(RecordingQueues):
    """Chat queues that show a question at each update, and record which question they found."""

    def __init__(self, store: FakeStore) -> None:
        super().__init__(store)
        self.saved: dict[int, int | None] = {}
        self.found: list[int | None] = []

    async def process(self, update: Update) -> None:
        attempt, chat = CURRENT_ATTEMPT.get(), update.effective_chat
        assert attempt is not None
        assert chat is not None
        self.found.append(attempt.chat.question_message_id if attempt.chat else self.saved.get(chat.id))
        attempt.chat = ChatState(user_id=chat.id, question_message_id=update.update_id)
        attempt.on_finish = partial(self.save, attempt.chat)
        await super().process(update)

    async def save(self, chat: ChatState, _: object) -> None:
        self.saved[chat.user_id] = chat.question_message_id


@in_virtual_time
async def test_the_next_update_of_a_chat_finds_what_the_one_before_has_shown() -> None:
    chats = StatefulQueues(FakeStore(commits_take=0.5))
    await chats.receive((1, 7), (2, 7), (3, 7), (4, 8))
    await chats.wait_until_finished()
    await chats.queues.drain()
    assert sorted(zip(chats.handled, chats.found, strict=True)) == [(1, None), (2, 1), (3, 2), (4, None)]
    assert chats.saved == {7: 3, 8: 4}


@in_virtual_time
async def test_what_a_failed_attempt_has_shown_is_known_to_the_next_one() -> None:
    chats = StatefulQueues(FakeStore())
    chats.errors[1] = [RuntimeError("after it was shown")]
    with capture_logs():
        await chats.receive((1, 7))
        await chats.wait_until_finished()
        await chats.queues.drain()
    assert chats.found == [None, 1]
