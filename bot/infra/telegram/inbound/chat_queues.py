"""Each chat strictly in its order, chats beside each other, and a flood in one is felt in that one alone.

A queue holds a bounded part of its chat's updates in memory; the rest stays in the inbox and is read as the queue
drains. The limit on work under way is taken by the head of a queue only, never by those who wait behind it.
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
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

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
        """Do `work` as `ChatQueues.run_in_queue` does.

        Raises:
            RuntimeError: there are no queues yet.
        """
        if self._queues is None:
            raise RuntimeError("the queues of the chats are not connected")
        return self._queues.run_in_queue(chat_id, work)


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
        self._queues: dict[int, _ChatQueue] = {}
        self._working: set[_ChatQueue] = set()
        self._closing = False

    def submit_updates(self, items: Sequence[InboxItem]) -> None:
        """Take in updates that have just been added to the inbox, in their order."""
        for item in () if self._closing else items:
            queue = self._queue(item.chat_id)
            if queue.more or len(queue.jobs) >= self._kept:
                queue.more = queue.missed = True
            else:
                queue.jobs.append(self._attempts.of(item))

    def run_in_queue(self, chat_id: int, work: Work) -> asyncio.Future[bool]:
        """Do `work` after what the chat has in hand; the result is whether it came to its end.

        It is not kept over a restart, and an exception is logged here and goes no further.
        """
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self._closing:
            done.set_result(False)
        else:
            self._queue(chat_id).jobs.append(_Job(work, done))
        return done

    async def replay(self) -> int:
        """Take up all that a former process left in the inbox; how many chats. To be called before receiving."""
        async with self._store.reading() as tx:
            chats = await InboxRepository(tx).chats_waiting()
        self.reread_inbox(chats)
        return len(chats)

    def reread_inbox(self, chat_ids: Iterable[int]) -> None:
        """There may be updates of these chats in the inbox that were never submitted."""
        for chat_id in () if self._closing else chat_ids:
            queue = self._queue(chat_id)
            queue.more = queue.missed = True

    async def drain(self, timeout: float = 3.0) -> None:  # noqa: ASYNC109  what is not done by then is cut off
        """Finish what is being processed, within `timeout` seconds; all else stays in the inbox."""
        self._closing = True
        queues = list(self._queues.values())
        for queue in queues:
            if queue not in self._working:
                _cancel(queue)
        tasks = [queue.task for queue in queues if queue.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
        for queue in queues:
            _cancel(queue)
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await asyncio.wait_for(self._attempts.wait_until_finished(), FINISH_SECONDS)
        except TimeoutError:
            log.warning("updates_not_finished")  # harmless: they will be processed again

    def _queue(self, chat_id: int) -> _ChatQueue:
        if chat_id not in self._queues:
            self._start(_ChatQueue(chat_id))
        return self._queues[chat_id]

    def _start(self, queue: _ChatQueue) -> None:
        self._queues[queue.chat_id] = queue
        queue.task = asyncio.create_task(self._work_off(queue), name=f"chat-queue-{queue.chat_id}")
        queue.task.add_done_callback(partial(self._ended, queue))

    def _ended(self, queue: _ChatQueue, task: asyncio.Task[None]) -> None:
        """Go on where something has ended a queue that still had work: its chat would never be answered again."""
        error = None if task.cancelled() else task.exception()
        if self._closing or self._queues.get(queue.chat_id) is not queue:
            return
        log.error("chat_queue_restarted", error=type(error).__name__ if error else "CancelledError")
        job = queue.jobs[0] if queue.jobs else None
        if isinstance(job, Attempt):
            # It may be what ended the queue, so its attempts are counted.
            job.suspect = True
        elif job is not None:
            queue.jobs.popleft()
            _conclude(job, done=False)
        self._start(queue)

    async def _work_off(self, queue: _ChatQueue) -> None:
        while not self._closing:
            async with self._slots:
                await self._fill(queue)
                if not queue.jobs:
                    del self._queues[queue.chat_id]
                    return
                pause = await self._work_on(queue, queue.jobs[0])
            if pause is None:
                queue.jobs.popleft()
            else:
                await asyncio.sleep(pause)

    async def _fill(self, queue: _ChatQueue) -> None:
        while queue.more and not queue.jobs:
            queue.missed = False
            found = await retry_forever("read_inbox", lambda: self._read(queue))
            for item in found:
                queue.jobs.append(self._attempts.of(item))
            # One that was added since the reading is there, though it wasn't found.
            queue.more = queue.missed or len(found) == self._kept

    async def _read(self, queue: _ChatQueue) -> Sequence[InboxItem]:
        async with self._store.reading() as tx:
            return await InboxRepository(tx).waiting(queue.chat_id, known=self._attempts.done(), limit=self._kept)

    async def _work_on(self, queue: _ChatQueue, job: Attempt | _Job) -> float | None:
        self._working.add(queue)
        try:
            if isinstance(job, Attempt):
                return await self._attempts.make(job)
            await _run(job)
        finally:
            self._working.discard(queue)
        return None


async def _run(job: _Job) -> None:
    error = await caught(job.work())
    if error is not None:
        log.error("background_task_failed", error=type(error).__name__)
    _conclude(job, done=error is None)


def _conclude(job: _Job, *, done: bool) -> None:
    if not job.done.done():
        job.done.set_result(done)


def _cancel(queue: _ChatQueue) -> None:
    if queue.task is not None:
        queue.task.cancel()
    for job in queue.jobs:
        if isinstance(job, _Job):
            _conclude(job, done=False)
