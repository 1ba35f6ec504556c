"""A queue for each chat: one update of a chat at a time, many chats at once. A flood delays only its own chat.

A queue has a limited number of its chat's updates in memory. The others stay in the inbox and are read later. Only
the first update of a queue counts towards the limit of chats at once.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from telegram import Bot

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.retry import retry_forever
from bot.infra.log_context import bind_fields, current_fields, without_fields
from bot.infra.telegram.inbound.attempts import Attempt, Attempts, Process, SaveChats, catch_exception
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

log = structlog.get_logger(__name__)

MAX_CHATS = 256
"""Chats that are handled at once. They mostly wait for a server, so this limits memory, not work: 200 users whose steps
each wait 0.3 s are answered within 0.35 s (with 64 it was 1.2 s). It equals the connections of `TelegramRequest`."""

MAX_IN_MEMORY = 30
"""Updates of one chat that are kept in memory."""

FINISH_SECONDS = 1.0

Work = Callable[[], Awaitable[None]]


class ChatJobs:
    """Runs jobs of features in the queue of a chat. Features are built before the queues, which are connected later."""

    def __init__(self) -> None:
        self._queues: ChatQueues | None = None

    def connect(self, queues: "ChatQueues") -> None:
        """Connect the queues."""
        self._queues = queues

    def run(self, chat_id: int, work: Work) -> asyncio.Future[bool]:
        """Run `work` in a chat's queue, as `ChatQueues.run_in_queue` does.

        Raises:
            RuntimeError: there are no queues yet.
        """
        if self._queues is None:
            raise RuntimeError("the queues of the chats are not connected")
        return self._queues.run_in_queue(chat_id, work)


@dataclass(slots=True)
class _Job:
    """Work in a chat's queue that isn't an update."""

    work: Work
    done: asyncio.Future[bool]
    log_fields: Mapping[str, Any]
    """The log fields of the work that queued the job."""


@dataclass(slots=True, eq=False)
class _ChatQueue:
    chat_id: int
    jobs: deque[Attempt | _Job] = field(default_factory=deque)
    has_more: bool = False
    """Whether the inbox has updates that aren't in `jobs`. New ones then have to wait there, too."""
    was_added: bool = False
    """Whether an update was added to the inbox since it was last read."""

    task: asyncio.Task[None] | None = None


class ChatQueues:
    """Passes updates to `process`, one at a time for each chat.

    Args:
        store: has the inbox.
        process: handles an update. Any exception counts as a failed attempt. After five attempts within a few seconds,
            the update is dropped. After a crash, `process` can get the same update again.
        clock: the time.
        bot: the bot of the `telegram.Update`s.
        save_chats: saves the states of chats that updates changed, in the transaction that finishes the updates. The
            next update of the chat waits for that.
        max_chats: how many chats are handled at once.
        max_in_memory: how many updates of a chat are kept in memory.
    """

    def __init__(
        self,
        store: Database,
        process: Process,
        clock: Clock,
        bot: Bot | None = None,
        *,
        save_chats: SaveChats | None = None,
        max_chats: int = MAX_CHATS,
        max_in_memory: int = MAX_IN_MEMORY,
    ) -> None:
        self._store = store
        self._attempts = Attempts(store, process, clock, bot, save_chats)
        self._slots = asyncio.Semaphore(max_chats)
        self._max_in_memory = max_in_memory
        self._queues: dict[int, _ChatQueue] = {}
        self._working: set[_ChatQueue] = set()
        self._closing = False

    def submit_updates(self, items: Sequence[InboxItem]) -> None:
        """Queue updates that were just added to the inbox, in their order."""
        for item in () if self._closing else items:
            queue = self._queue(item.chat_id)
            if queue.has_more or len(queue.jobs) >= self._max_in_memory:
                queue.has_more = queue.was_added = True
            else:
                queue.jobs.append(self._attempts.create(item))

    def run_in_queue(self, chat_id: int, work: Work) -> asyncio.Future[bool]:
        """Run `work` after the queued updates of the chat. The result is whether it succeeded.

        It is lost in a restart. Its exceptions are only logged.
        """
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self._closing:
            done.set_result(False)
        else:
            self._queue(chat_id).jobs.append(_Job(work, done, current_fields()))
        return done

    async def replay(self) -> int:
        """Queue the unfinished updates of a former process. Return the number of chats. Call it before receiving."""
        async with self._store.reading() as tx:
            chats = await InboxRepository(tx).find_chats()
        self.reread_inbox(chats)
        return len(chats)

    def reread_inbox(self, chat_ids: Iterable[int]) -> None:
        """Read the inbox again for these chats, because it can have updates that were never submitted."""
        for chat_id in () if self._closing else chat_ids:
            queue = self._queue(chat_id)
            queue.has_more = queue.was_added = True

    async def drain(self, timeout: float = 3.0) -> None:  # noqa: ASYNC109  what isn't finished by then is cancelled
        """Finish the updates that are being handled within `timeout` seconds. All others stay in the inbox."""
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
            log.warning("updates_not_finished")  # harmless: they are handled again

    def _queue(self, chat_id: int) -> _ChatQueue:
        if chat_id not in self._queues:
            self._start(_ChatQueue(chat_id))
        return self._queues[chat_id]

    def _start(self, queue: _ChatQueue) -> None:
        self._queues[queue.chat_id] = queue
        queue.task = asyncio.create_task(
            self._run_queue(queue), name=f"chat-queue-{queue.chat_id}", context=without_fields()
        )
        queue.task.add_done_callback(partial(self._on_queue_ended, queue))

    def _on_queue_ended(self, queue: _ChatQueue, task: asyncio.Task[None]) -> None:
        """Restart a queue that ended with work left. Otherwise its chat would never be answered again."""
        error = None if task.cancelled() else task.exception()
        if self._closing or self._queues.get(queue.chat_id) is not queue:
            return
        log.error("chat_queue_restarted", error=type(error).__name__ if error else "CancelledError")
        job = queue.jobs[0] if queue.jobs else None
        if isinstance(job, Attempt):
            # It may have ended the queue, so its attempts are counted.
            job.is_suspect = True
        elif job is not None:
            queue.jobs.popleft()
            _finish_job(job, succeeded=False)
        self._start(queue)

    async def _run_queue(self, queue: _ChatQueue) -> None:
        while not self._closing:
            async with self._slots:
                await self._fill(queue)
                if not queue.jobs:
                    del self._queues[queue.chat_id]
                    return
                pause = await self._handle(queue, queue.jobs[0])
            if pause is None:
                queue.jobs.popleft()
            else:
                await asyncio.sleep(pause)

    async def _fill(self, queue: _ChatQueue) -> None:
        while queue.has_more and not queue.jobs:
            queue.was_added = False
            found = await retry_forever("read_inbox", lambda: self._read(queue))
            for item in found:
                queue.jobs.append(self._attempts.create(item))
            # An update that was added after the query is in the inbox, too.
            queue.has_more = queue.was_added or len(found) == self._max_in_memory

    async def _read(self, queue: _ChatQueue) -> Sequence[InboxItem]:
        async with self._store.reading() as tx:
            return await InboxRepository(tx).find_unfinished(
                queue.chat_id, known=self._attempts.list_finished(), limit=self._max_in_memory
            )

    async def _handle(self, queue: _ChatQueue, job: Attempt | _Job) -> float | None:
        self._working.add(queue)
        try:
            if isinstance(job, Attempt):
                return await self._attempts.run(job)
            await _run_job(job)
        finally:
            self._working.discard(queue)
        return None


async def _run_job(job: _Job) -> None:
    with bind_fields(**job.log_fields):
        error = await catch_exception(job.work())
        if error is not None:
            log.error("background_task_failed", error=type(error).__name__)
    _finish_job(job, succeeded=error is None)


def _finish_job(job: _Job, *, succeeded: bool) -> None:
    if not job.done.done():
        job.done.set_result(succeeded)


def _cancel(queue: _ChatQueue) -> None:
    if queue.task is not None:
        queue.task.cancel()
    for job in queue.jobs:
        if isinstance(job, _Job):
            _finish_job(job, succeeded=False)
