"""Each chat strictly in its order, chats beside each other, and a flood in one is felt in that one alone.

A lane holds a bounded part of its chat's updates in memory; the rest stays in the inbox and is read as the lane
drains. The limit on work under way is taken by the head of a lane only, never by those who wait behind it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog
from telegram import Bot

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.retry import retry_forever
from bot.infra.telegram.inbound.attempts import Attempt, Attempts, Process, SaveChats, caught
from bot.infra.telegram.inbound.inbox import InboxRepository
from bot.infra.telegram.inbound.model import InboxItem

log = structlog.get_logger(__name__)

AT_ONCE = 256
"""Chats at work together. They mostly wait for a server, so this bounds memory, not work: 200 people whose steps each
wait 0.3 s are answered within 0.35 s (with 64 it was 1.2 s). As many as Telegram's connections (`TelegramRequest`)."""

KEPT = 30
FINISH_SECONDS = 1.0

Work = Callable[[], Awaitable[None]]


class ChatJobs:
    """Run jobs of features, which are built before the queues are, in the order of a chat."""

    def __init__(self) -> None:
        self._queues: ChatQueues | None = None

    def connect(self, queues: "ChatQueues") -> None:
        """Use these queues from now on."""
        self._queues = queues

    def run(self, chat_id: int, work: Work) -> asyncio.Future[bool]:
        """Do `work` as `ChatQueues.run_in_lane` does.

        Raises:
            RuntimeError: there are no queues yet.
        """
        if self._queues is None:
            raise RuntimeError("the queues of the chats are not connected")
        return self._queues.run_in_lane(chat_id, work)


@dataclass(slots=True)
class _Job:
    """Work that no update asked for, in the chat's order all the same."""

    work: Work
    done: asyncio.Future[bool]


@dataclass(slots=True, eq=False)
class _ChatQueue:
    chat_id: int
    jobs: deque[Attempt | _Job] = field(default_factory=deque)
    more: bool = False
    """Whether the inbox holds updates that aren't in `jobs`, so that new ones have to wait there too."""
    missed: bool = False
    task: asyncio.Task[None] | None = None


class ChatQueues:
    """Hands updates to `process`, one at a time for each chat.

    Args:
        store: holds the inbox that the updates are in.
        process: what is done with an update. Whatever it raises counts as a failed attempt; after five, made over a
            few seconds, the update is set aside. At least once: after a crash it may meet the same update again.
        clock: the time, for what is finished.
        bot: what `telegram.Update`s are bound to.
        save_chats: saves what updates have changed of their chats, in the transaction that finishes them. The next
            update of the chat waits for that.
        at_once: how many chats may be at work at the same time.
        kept: how many updates of a chat are kept in memory.
    """

    def __init__(
        self,
        store: Database,
        process: Process,
        clock: Clock,
        bot: Bot | None = None,
        *,
        save_chats: SaveChats | None = None,
        at_once: int = AT_ONCE,
        kept: int = KEPT,
    ) -> None:
        self._store = store
        self._attempts = Attempts(store, process, clock, bot, save_chats)
        self._slots = asyncio.Semaphore(at_once)
        self._kept = kept
        self._lanes: dict[int, _ChatQueue] = {}
        self._working: set[_ChatQueue] = set()
        self._closing = False

    def submit_updates(self, items: Sequence[InboxItem]) -> None:
        """Take in updates that have just been added to the inbox, in their order."""
        for item in () if self._closing else items:
            lane = self._lane(item.chat_id)
            if lane.more or len(lane.jobs) >= self._kept:
                lane.more = lane.missed = True
            else:
                lane.jobs.append(self._attempts.of(item))

    def run_in_lane(self, chat_id: int, work: Work) -> asyncio.Future[bool]:
        """Do `work` after what the chat has in hand; the result is whether it came to its end.

        It is not kept over a restart, and an exception is logged here and goes no further.
        """
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self._closing:
            done.set_result(False)
        else:
            self._lane(chat_id).jobs.append(_Job(work, done))
        return done

    async def replay(self) -> int:
        """Take up all that a former process left in the inbox; how many chats. To be called before receiving."""
        async with self._store.reading() as tx:
            chats = await InboxRepository(tx).chats_waiting()
        self.look_again(chats)
        return len(chats)

    def look_again(self, chat_ids: Iterable[int]) -> None:
        """There may be updates of these chats in the inbox that were never submitted."""
        for chat_id in () if self._closing else chat_ids:
            lane = self._lane(chat_id)
            lane.more = lane.missed = True

    async def drain(self, timeout: float = 3.0) -> None:  # noqa: ASYNC109  what is not done by then is cut off
        """Finish what is being processed, within `timeout` seconds; all else stays in the inbox."""
        self._closing = True
        lanes = list(self._lanes.values())
        for lane in lanes:
            if lane not in self._working:
                _cancel(lane)
        tasks = [lane.task for lane in lanes if lane.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
        for lane in lanes:
            _cancel(lane)
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await asyncio.wait_for(self._attempts.settle(), FINISH_SECONDS)
        except TimeoutError:
            log.warning("updates_not_finished")  # harmless: they will be processed again

    def _lane(self, chat_id: int) -> _ChatQueue:
        if chat_id not in self._lanes:
            self._start(_ChatQueue(chat_id))
        return self._lanes[chat_id]

    def _start(self, lane: _ChatQueue) -> None:
        self._lanes[lane.chat_id] = lane
        lane.task = asyncio.create_task(self._work_off(lane), name=f"lane-{lane.chat_id}")
        lane.task.add_done_callback(partial(self._ended, lane))

    def _ended(self, lane: _ChatQueue, task: asyncio.Task[None]) -> None:
        """Go on where something has ended a lane that still had work: its chat would never be answered again."""
        error = None if task.cancelled() else task.exception()
        if self._closing or self._lanes.get(lane.chat_id) is not lane:
            return
        log.error("chat_queue_restarted", error=type(error).__name__ if error else "CancelledError")
        job = lane.jobs[0] if lane.jobs else None
        if isinstance(job, Attempt):
            # It may be what ended the lane, so its attempts are counted.
            job.suspect = True
        elif job is not None:
            lane.jobs.popleft()
            _conclude(job, done=False)
        self._start(lane)

    async def _work_off(self, lane: _ChatQueue) -> None:
        while not self._closing:
            async with self._slots:
                await self._fill(lane)
                if not lane.jobs:
                    del self._lanes[lane.chat_id]
                    return
                pause = await self._work_on(lane, lane.jobs[0])
            if pause is None:
                lane.jobs.popleft()
            else:
                await asyncio.sleep(pause)

    async def _fill(self, lane: _ChatQueue) -> None:
        while lane.more and not lane.jobs:
            lane.missed = False
            found = await retry_forever("read_inbox", lambda: self._read(lane))
            for item in found:
                lane.jobs.append(self._attempts.of(item))
            # One that was added since the reading is there, though it wasn't found.
            lane.more = lane.missed or len(found) == self._kept

    async def _read(self, lane: _ChatQueue) -> Sequence[InboxItem]:
        async with self._store.reading() as tx:
            return await InboxRepository(tx).waiting(lane.chat_id, known=self._attempts.done(), limit=self._kept)

    async def _work_on(self, lane: _ChatQueue, job: Attempt | _Job) -> float | None:
        self._working.add(lane)
        try:
            if isinstance(job, Attempt):
                return await self._attempts.make(job)
            await _run(job)
        finally:
            self._working.discard(lane)
        return None


async def _run(errand: _Job) -> None:
    error = await caught(errand.work())
    if error is not None:
        log.error("background_task_failed", error=type(error).__name__)
    _conclude(errand, done=error is None)


def _conclude(errand: _Job, *, done: bool) -> None:
    if not errand.done.done():
        errand.done.set_result(done)


def _cancel(lane: _ChatQueue) -> None:
    if lane.task is not None:
        lane.task.cancel()
    for job in lane.jobs:
        if isinstance(job, _Job):
            _conclude(job, done=False)
