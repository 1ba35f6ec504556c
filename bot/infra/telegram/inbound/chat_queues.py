"""A queue for each chat: one update or job of a chat at a time, many chats at once. A flood delays only its own chat.

A queue has a limited number of its chat's updates in memory. The others stay in the inbox and are read later. Only
the first update of a queue counts towards the limit of chats at once.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from types import MappingProxyType

import structlog
from telegram import Bot

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.db.retry import retry_forever
from bot.infra.jobs.repository import Job, JobHandler, JobRepository
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.log_context import bind_fields, shared_task_context
from bot.infra.telegram.inbound.attempts import Attempt, Attempts, Process, catch_exception
from bot.infra.telegram.inbound.model import InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

log = structlog.get_logger(__name__)

MAX_CHATS = 256
"""Chats that are handled at once. They mostly wait for a server, so this limits memory, not work: 200 users whose steps
each wait 0.3 s are answered within 0.35 s (with 64 it was 1.2 s). It equals the connections of `TelegramRequest`."""

MAX_IN_MEMORY = 30
"""Updates of one chat that are kept in memory."""

CLAIMED_AT_ONCE = 32
"""How many chats are claimed in one transaction. Other processes that are less busy claim the next ones meanwhile."""

FINISH_SECONDS = 1.0

LOOK_SECONDS = 0.5
"""How often a process looks for work that others have left, or that arrived without a wake-up."""

LOOK_ALONE_SECONDS = 5.0
"""The same for a process that is alone. It hears of all work at once."""

AFTER_FAILURE_SECONDS = 1.0
MAX_JOB_ATTEMPTS = 5
AVOIDED_SECONDS = 5.0
"""How long this process doesn't take a chat in which it couldn't read a row, so that another process takes it."""

LEFT_SECONDS = 60.0
"""When this process tries again what it has left."""

LEFT_FOR = timedelta(days=30)
"""How old a job can become of which nobody knows the kind. Then it is dropped."""


@dataclass(slots=True)
class _LeftWork:
    """What this process leaves in a chat, because only others can read it, until it tries again."""

    until: float
    updates: set[int] = field(default_factory=set)
    jobs: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        return len(self.updates) + len(self.jobs)


@dataclass(slots=True, eq=False)
class _ChatQueue:
    chat_id: int
    lease: ChatLease
    work: deque[Attempt | Job] = field(default_factory=deque)
    has_more: bool = False
    """Whether the database has updates or jobs that aren't in `work`. New ones then have to wait there, too."""
    was_added: bool = False
    """Whether something was added to the database since it was last read."""

    task: asyncio.Task[None] | None = None


class ChatQueues:
    """Passes updates to `process`, one at a time for each chat, and runs the chat's jobs between them.

    It works in chats that this process holds. It claims a chat when there is work in it.

    Args:
        database: has the inbox and the jobs.
        process: handles an update. Any exception counts as a failed attempt. After five attempts within a few seconds,
            the update is dropped. After a crash, `process` can get the same update again.
        clock: the time.
        bot: the bot of the `telegram.Update`s.
        jobs: kind of job -> the function that does it.
        leases: grants chats to this process.
        on_waiting: called when `claim_waiting` has something to do.
        on_elsewhere: called when there is work for other processes.
        max_chats: how many chats are handled at once.
        max_in_memory: how many updates of a chat are kept in memory.
    """

    def __init__(
        self,
        database: Database,
        process: Process,
        clock: Clock,
        bot: Bot | None = None,
        *,
        jobs: Mapping[str, JobHandler] = MappingProxyType({}),
        leases: Leases | None = None,
        on_waiting: Callable[[], None] = lambda: None,
        on_elsewhere: Callable[[], None] = lambda: None,
        max_chats: int = MAX_CHATS,
        max_in_memory: int = MAX_IN_MEMORY,
    ) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases or UnsharedLeases()
        self._attempts = Attempts(database, process, clock, bot, leases=self._leases)
        self._jobs = jobs
        self._on_waiting = on_waiting
        self._on_elsewhere = on_elsewhere
        self._slots = asyncio.Semaphore(max_chats)
        self._max_chats = max_chats
        self._max_in_memory = max_in_memory
        self._queues: dict[int, _ChatQueue] = {}
        self._working: set[_ChatQueue] = set()
        self._unclaimed: dict[int, None] = {}
        self._expected: Counter[int] = Counter()
        self._left: dict[int, _LeftWork] = {}
        self._avoided: dict[int, float] = {}
        self._must_look = True
        self._look_at = 0.0
        self._closing = False

    def submit_updates(self, items: Sequence[InboxItem]) -> None:
        """Queue updates that were just added to the inbox, in their order. Claim their chats if necessary."""
        for item in () if self._closing else items:
            queue = self._find_queue(item.chat_id)
            if queue is None:
                self._unclaimed[item.chat_id] = None
            elif queue.has_more or len(queue.work) >= self._max_in_memory:
                queue.has_more = queue.was_added = True
            else:
                queue.work.append(self._create_attempt(item, queue))
        if self._unclaimed:
            self._on_waiting()

    @contextmanager
    def expecting(self, update_ids: Collection[int]) -> Iterator[None]:
        """Leave out these updates when the inbox is read within the block, because they are submitted at its end.

        Their commit can be visible before this process goes on with them, and they would be handled twice.
        """
        self._expected.update(update_ids)
        try:
            yield
        finally:
            self._expected.subtract(update_ids)
            self._expected = +self._expected  # without those that nobody expects

    def look_soon(self) -> None:
        """Look in the database for work that this process doesn't know of."""
        self._must_look = True
        self._on_waiting()

    def reread_inbox(self, chat_ids: Iterable[int]) -> None:
        """Read the inbox again for these chats, because it can have updates that were never submitted."""
        for chat_id in () if self._closing else chat_ids:
            self._read_again(chat_id)
        if self._unclaimed:
            self._on_waiting()

    async def claim_waiting(self) -> float:
        """Claim chats with work, as many as can be handled at once. Return the seconds until the next call."""
        moment = asyncio.get_running_loop().time()
        try:
            if self._must_look or moment >= self._look_at:
                self._must_look = False
                self._look_at = moment + (LOOK_ALONE_SECONDS if self._leases.is_alone else LOOK_SECONDS)
                await self._look()
            await self._claim()
        except StoreDown as error:
            log.warning("chats_not_claimed", error=type(error).__name__)
            self._must_look = True
            return AFTER_FAILURE_SECONDS
        return max(self._look_at - asyncio.get_running_loop().time(), 0.0)

    async def _look(self) -> None:
        """Find chats with more work than this process knows of."""
        self._forget_left()
        owner, limit = self._leases.owner, 2 * self._max_chats
        async with self._database.reading() as tx:
            updates = await InboxRepository(tx).find_waiting(owner, limit)
            jobs = await JobRepository(tx).find_waiting(owner, limit)
        for chat_id in dict.fromkeys((*updates, *jobs)):
            queue, left = self._queues.get(chat_id), self._left.get(chat_id)
            known = (len(queue.work) if queue else 0) + (left.count if left else 0)
            if updates.get(chat_id, 0) + jobs.get(chat_id, 0) > known:
                self._read_again(chat_id)

    def _read_again(self, chat_id: int) -> None:
        queue = self._find_queue(chat_id)
        if queue is None:
            self._unclaimed[chat_id] = None
        else:
            queue.has_more = queue.was_added = True

    async def _claim(self) -> None:
        free, moment = self._max_chats - len(self._queues), asyncio.get_running_loop().time()
        for chat_id, left_at in self._avoided.items():
            if moment - left_at < AVOIDED_SECONDS:
                self._unclaimed.pop(chat_id, None)  # it is found again when that time is over
        if not self._unclaimed or self._closing:
            return
        wanted = list(islice(self._unclaimed, max(min(free, CLAIMED_AT_ONCE), 0)))
        leases = await self._leases.claim(wanted)
        if len(leases) < len(self._unclaimed):
            # Another process holds the others, or has room for them.
            self._on_elsewhere()
        for lease in leases:
            if lease.chat_id not in self._queues and not self._closing:
                self._start(_ChatQueue(lease.chat_id, lease, has_more=True, was_added=True))
        for chat_id in wanted:
            self._unclaimed.pop(chat_id, None)
        if self._unclaimed and wanted:
            self._on_waiting()

    def abandon(self, lease: ChatLease) -> None:
        """End the work in a chat whose lease was lost. Another process goes on with it."""
        queue = self._queues.get(lease.chat_id)
        if queue is not None and queue.lease is lease and queue.task is not None:
            queue.task.cancel()

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

    def _find_queue(self, chat_id: int) -> _ChatQueue | None:
        """Return the queue of a chat. Start it if this process holds the chat, else return None."""
        if chat_id not in self._queues:
            lease = self._leases.get(chat_id)
            if lease is None or chat_id in self._avoided:
                return None
            self._start(_ChatQueue(chat_id, lease))
        return self._queues[chat_id]

    def _start(self, queue: _ChatQueue) -> None:
        self._queues[queue.chat_id] = queue
        queue.task = asyncio.create_task(
            self._run_queue(queue), name=f"chat-queue-{queue.chat_id}", context=shared_task_context()
        )
        queue.task.add_done_callback(partial(self._on_queue_ended, queue))

    def _on_queue_ended(self, queue: _ChatQueue, task: asyncio.Task[None]) -> None:
        """Restart a queue that ended with work left. Otherwise its chat would never be answered again."""
        error = None if task.cancelled() else task.exception()
        if self._closing or self._queues.get(queue.chat_id) is not queue:
            return
        if not queue.lease.is_held:
            del self._queues[queue.chat_id]
            self._unclaimed[queue.chat_id] = None  # perhaps nobody else has taken the chat
            self._on_waiting()
            return
        log.error("chat_queue_restarted", error=type(error).__name__ if error else "CancelledError")
        first = queue.work[0] if queue.work else None
        if isinstance(first, Attempt):
            # It may have ended the queue, so its attempts are counted.
            first.is_suspect = True
        elif first is not None:
            queue.work.popleft()  # its row is found again at the next look
        self._start(queue)

    async def _run_queue(self, queue: _ChatQueue) -> None:
        with self._leases.work_in(queue.lease):
            while not self._closing and queue.lease.is_held:
                async with self._slots:
                    await self._fill(queue)
                    if not queue.work:
                        del self._queues[queue.chat_id]
                        break
                    try:
                        pause = await self._handle(queue, queue.work[0])
                    except RowUnreadable:
                        if self._leave_chat(queue, queue.work[0]):
                            break
                        pause = None
                if pause is None:
                    queue.work.popleft()
                else:
                    await asyncio.sleep(pause)
        if queue.chat_id in self._left:
            queue.lease.is_wanted = True
        if self._unclaimed:
            self._on_waiting()

    def _create_attempt(self, item: InboxItem, queue: _ChatQueue) -> Attempt:
        attempt = self._attempts.create(item, queue.lease)
        attempt.may_be_left = not self._leases.is_alone and queue.chat_id not in self._avoided
        return attempt

    def _leave_chat(self, queue: _ChatQueue, work: Attempt | Job) -> bool:
        """Leave the chat to another process for a while, or else only this work. Return whether the chat is left."""
        if isinstance(work, Attempt) and work.may_be_left:
            self._avoided[queue.chat_id] = asyncio.get_running_loop().time()
            queue.lease.is_wanted = True
            del self._queues[queue.chat_id]
            log.warning("chat_left_to_others")
            return True
        self._leave(queue.chat_id, work)
        return False

    def _leave(self, chat_id: int, work: Attempt | Job) -> None:
        """Leave work as it is, because only others know what to do. It doesn't hold up the rest of its chat."""
        left = self._get_left(chat_id)
        if isinstance(work, Attempt):
            left.updates.add(work.item.update_id)
            log.warning("update_left_to_others")
        else:
            left.jobs.add(work.id)
            self._database.record_left("jobs", work.id)
            log.warning("job_left_to_others")

    def _get_left(self, chat_id: int) -> _LeftWork:
        until = asyncio.get_running_loop().time() + LEFT_SECONDS
        return self._left.setdefault(chat_id, _LeftWork(until))

    def _forget_left(self) -> None:
        """Forget what can be tried again."""
        moment = asyncio.get_running_loop().time()
        self._left = {chat_id: left for chat_id, left in self._left.items() if moment < left.until}
        self._avoided = {chat_id: at for chat_id, at in self._avoided.items() if moment - at < LEFT_SECONDS}

    async def _fill(self, queue: _ChatQueue) -> None:
        while queue.has_more and not queue.work:
            queue.was_added = False
            updates, left, jobs = await retry_forever("read_inbox", lambda: self._read(queue))
            queue.work.extend(self._create_attempt(item, queue) for item in updates)
            if left:
                self._get_left(queue.chat_id).updates.update(left)
            # What was added after the query is in the database, too.
            queue.has_more = queue.was_added or len(updates) + len(left) == self._max_in_memory
            if not queue.has_more:
                queue.work.extend(jobs)

    async def _read(self, queue: _ChatQueue) -> tuple[Sequence[InboxItem], Collection[int], Sequence[Job]]:
        """Return updates of the chat, the ids of those that only others can read, and the chat's jobs."""
        before = self._left.get(queue.chat_id) or _LeftWork(0)
        async with self._database.reading() as tx:
            inbox = InboxRepository(tx)
            updates = await inbox.find_unfinished(
                queue.chat_id,
                known=self._attempts.list_finished().union(self._expected, before.updates),
                limit=self._max_in_memory,
            )
            return updates, inbox.left, await JobRepository(tx).find_of_chat(queue.chat_id, before.jobs)

    async def _handle(self, queue: _ChatQueue, work: Attempt | Job) -> float | None:
        """Do the first work of a queue. Return None if it is done, else the seconds until the next attempt."""
        self._working.add(queue)
        try:
            if isinstance(work, Attempt):
                return await self._attempts.run(work)
            with bind_fields(job=work.kind):
                return await self._run_job(work, queue.lease)
        finally:
            self._working.discard(queue)

    async def _run_job(self, job: Job, lease: ChatLease) -> float | None:
        handler = self._jobs.get(job.kind)
        if handler is None and self._clock.now() - job.created_at < LEFT_FOR:
            self._leave(job.chat_id, job)  # a later version has added it
            return None
        if handler is None or job.attempts >= MAX_JOB_ATTEMPTS:
            log.error("job_dropped", attempts=job.attempts)
            await self._finish_job(job)
            return None
        if job.attempts or lease.was_left(job.created_at):
            # It may have crashed the process that had the chat, so its attempts are counted before they begin.
            await retry_forever("count_attempt", lambda: self._count_job_attempt(job))
        error = await catch_exception(handler(job))
        if isinstance(error, LeaseLost) or (isinstance(error, RowUnreadable) and error.is_for_others):
            raise error  # another process does the job
        if isinstance(error, StoreDown):
            return AFTER_FAILURE_SECONDS
        if error is not None:
            # Whoever added the job adds it again as long as it is due.
            log.error("background_task_failed", error=type(error).__name__)
        await self._finish_job(job)
        return None

    async def _count_job_attempt(self, job: Job) -> None:
        async with self._database.transaction() as tx:
            await JobRepository(tx).count_attempt(job.id)

    async def _finish_job(self, job: Job) -> None:
        async def finish() -> None:
            async with self._database.transaction() as tx:
                await job.finish(tx)

        await retry_forever("finish_job", finish)


def _cancel(queue: _ChatQueue) -> None:
    if queue.task is not None:
        queue.task.cancel()
