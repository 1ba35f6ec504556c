"""A queue for each chat: one update or job of a chat at a time, many chats at once. A flood delays only its own chat.

An update of an idle chat is handled at once. While the chat is busy, new ones only wait in the inbox, and are read from
it when those before them are done: updates first, then jobs.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from types import MappingProxyType

import structlog
from telegram import Bot, Update

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.logging import shared_task_context
from bot.infra.telegram.inbound.attempts import Attempt, Attempts
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository, JobHandler
from bot.infra.telegram.inbound.tables import UPDATE
from bot.infra.workers import retry_forever

log = structlog.get_logger(__name__)

MAX_CHATS = 256
"""Chats that are handled at once. They mostly wait for a server, so this limits memory, not work: 200 users whose steps
each wait 0.3 s are answered within 0.35 s (with 64 it was 1.2 s). It equals the connections of `TelegramRequest`."""

READ_AT_ONCE = 30
"""How much of a chat is read from the inbox at once."""

CLAIMED_AT_ONCE = 32
"""How many chats are claimed in one transaction. Other processes that are less busy claim the next ones meanwhile."""

FINISH_SECONDS = 1.0

AFTER_FAILURE_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class _ChatQueue:
    lease: ChatLease
    work: deque[Attempt] = field(default_factory=deque)
    has_more: bool = True
    """Whether the inbox can have updates or jobs that aren't in `work`."""

    is_working: bool = False
    task: asyncio.Task[None] = field(init=False)

    @property
    def has_to_read(self) -> bool:
        """Whether the inbox has to be read before the next work. No job goes before an update that waits there."""
        return self.has_more and not (self.work and self.work[0].item.is_update)


class ChatQueues:
    """Passes updates to `process`, one at a time for each chat, and does the chat's jobs between them.

    It works in chats that this process holds. It claims a chat when there is work in it.

    Args:
        database: has the inbox.
        process: handles an update. Any exception counts as a failed attempt. After five attempts within a few seconds,
            the update is dropped. After a crash, `process` can get the same update again.
        clock: the time.
        bot: the bot of the `telegram.Update`s.
        jobs: kind of job -> the function that does it. One that fails is tried again when the inbox is read again.
        leases: grants chats to this process.
        on_waiting: called when `claim_waiting` has something to do.
        on_elsewhere: called when there is work for other processes.
        max_chats: how many chats are handled at once.
    """

    def __init__(
        self,
        database: Database,
        process: Callable[[Update], Awaitable[None]],
        clock: Clock,
        bot: Bot | None = None,
        *,
        jobs: Mapping[str, JobHandler] = MappingProxyType({}),
        leases: Leases | None = None,
        on_waiting: Callable[[], None] = lambda: None,
        on_elsewhere: Callable[[], None] = lambda: None,
        max_chats: int = MAX_CHATS,
    ) -> None:
        async def handle_update(item: InboxItem) -> None:
            await process(Update.de_json(json.loads(item.body), bot))

        self._database = database
        self._leases = leases or UnsharedLeases()
        self._attempts = Attempts(database, {UPDATE: handle_update, **jobs}, clock, leases=self._leases)
        self._on_waiting = on_waiting
        self._on_elsewhere = on_elsewhere
        self._slots = asyncio.Semaphore(max_chats)
        self._max_chats = max_chats
        self._queues: dict[int, _ChatQueue] = {}
        self._unclaimed: dict[int, None] = {}
        self._expected: set[int] = set()
        self._look_at = float("-inf")
        self._closing = False

    @contextmanager
    def expecting(self, update_ids: Collection[int]) -> Iterator[None]:
        """Leave out these updates when the inbox is read within the block, because they are submitted at its end.

        Their commit can be visible before this process goes on with them, and they would be handled twice.
        """
        self._expected.update(update_ids)
        try:
            yield
        finally:
            self._expected.difference_update(update_ids)

    def submit_updates(self, items: Sequence[InboxItem], new_ids: Collection[int]) -> None:
        """Handle updates that were just added to the inbox, in their order.

        Those that aren't new may have been added without reaching their queue, so the inbox is read for them.
        """
        for item in items:
            lease = None if item.chat_id in self._queues else self._leases.get(item.chat_id)
            if item.id in new_ids and lease is not None and not self._closing:
                self._start(_ChatQueue(lease, deque([self._attempts.create(item, lease)]), has_more=False))
            else:
                self._note(item.chat_id)

    def look_soon(self) -> None:
        """Look in the database for work that this process doesn't know of."""
        self._look_at = float("-inf")
        self._on_waiting()

    def _note(self, chat_id: int) -> None:
        """Note that the inbox has work of a chat. Claim the chat if it isn't busy here."""
        queue = self._queues.get(chat_id)
        if queue is not None:
            queue.has_more = True
        elif not self._closing:
            self._unclaimed[chat_id] = None
            self._on_waiting()

    async def claim_waiting(self) -> float:
        """Claim chats with work, as many as can be handled at once. Return the seconds until the next call."""
        moment = asyncio.get_running_loop().time()
        try:
            if moment >= self._look_at:
                self._look_at = moment + self._leases.look_seconds
                await self._look()
            await self._claim()
        except StoreDown as error:
            log.warning("chats_not_claimed", error=type(error).__name__)
            self._look_at = float("-inf")
            return AFTER_FAILURE_SECONDS
        return max(self._look_at - asyncio.get_running_loop().time(), 0.0)

    async def _look(self) -> None:
        """Find chats with more work than this process knows of."""
        async with self._database.reading() as tx:
            waiting = await InboxRepository(tx).find_waiting(
                self._leases.owner, 2 * self._max_chats, left=self._database.list_unknown("inbox")
            )
        for chat_id, count in waiting.items():
            queue = self._queues.get(chat_id)
            if queue is None or count > len(queue.work):
                self._note(chat_id)

    async def _claim(self) -> None:
        free = self._max_chats - len(self._queues)
        if not self._unclaimed or self._closing:
            return
        wanted = list(islice(self._unclaimed, max(min(free, CLAIMED_AT_ONCE), 0)))
        leases = await self._leases.claim(wanted)
        if len(leases) < len(self._unclaimed):
            # Another process holds the others, or has room for them.
            self._on_elsewhere()
        for chat_id in wanted:
            self._unclaimed.pop(chat_id, None)
        for lease in leases:
            if (queue := self._queues.get(lease.chat_id)) is not None:
                queue.has_more = True
            elif not self._closing:
                self._start(_ChatQueue(lease))
        if self._unclaimed and wanted:
            self._on_waiting()

    async def drain(self, timeout: float = 3.0) -> None:  # noqa: ASYNC109  what isn't finished by then is cancelled
        """Finish the updates that are being handled within `timeout` seconds. All others stay in the inbox."""
        self._closing = True
        queues = list(self._queues.values())
        for queue in queues:
            if not queue.is_working:
                queue.task.cancel()
        if queues:
            await asyncio.wait([queue.task for queue in queues], timeout=timeout)
        for queue in queues:
            queue.task.cancel()
        await asyncio.gather(*(queue.task for queue in queues), return_exceptions=True)
        try:
            await asyncio.wait_for(self._attempts.wait_until_finished(), FINISH_SECONDS)
        except TimeoutError:
            log.warning("updates_not_finished")  # harmless: they are handled again

    def _start(self, queue: _ChatQueue) -> None:
        chat_id = queue.lease.chat_id
        self._queues[chat_id] = queue
        queue.task = asyncio.create_task(
            self._run_queue(queue), name=f"chat-queue-{chat_id}", context=shared_task_context()
        )
        queue.task.add_done_callback(partial(self._on_queue_ended, queue))

    def _on_queue_ended(self, queue: _ChatQueue, task: asyncio.Task[None]) -> None:
        """Restart a queue that ended with work left. Otherwise its chat would never be answered again."""
        chat_id, error = queue.lease.chat_id, None if task.cancelled() else task.exception()
        if self._closing or self._queues.get(chat_id) is not queue:
            return
        if isinstance(error, LeaseLost) or not queue.lease.is_held:
            del self._queues[chat_id]
            if not queue.lease.is_held:
                self._note(chat_id)  # perhaps nobody else has taken the chat
            return
        log.error("chat_queue_restarted", error=type(error).__name__ if error else "CancelledError")
        queue.has_more, queue.is_working = True, False
        if queue.work:
            queue.work[0].is_suspect = True  # it may have ended the queue, so its attempts are counted
        self._start(queue)

    async def _run_queue(self, queue: _ChatQueue) -> None:
        with self._leases.work_in(queue.lease):
            while not self._closing and queue.lease.is_held:
                async with self._slots:
                    while queue.has_to_read:
                        await self._read(queue)
                    if not queue.work:
                        del self._queues[queue.lease.chat_id]
                        break
                    queue.is_working = True
                    pause = await self._attempts.run(queue.work[0])
                    queue.is_working = False
                if pause is None or not queue.work[0].item.is_update:
                    queue.work.popleft()  # a job that failed waits for the next look, and no update waits for it
                else:
                    await asyncio.sleep(pause)
        if self._unclaimed:
            self._on_waiting()

    async def _read(self, queue: _ChatQueue) -> None:
        queue.has_more = False  # what is added after the query is noted again
        items = await retry_forever("read_inbox", lambda: self._find_unfinished(queue.lease.chat_id))
        queue.work = deque(self._attempts.create(item, queue.lease) for item in items)
        # Jobs come last, and more of them are found at the next look.
        queue.has_more |= len(items) == READ_AT_ONCE and items[-1].is_update

    async def _find_unfinished(self, chat_id: int) -> Sequence[InboxItem]:
        known = {*self._attempts.list_finished(), *self._expected, *self._database.list_unknown("inbox")}
        async with self._database.reading() as tx:
            return await InboxRepository(tx).find_unfinished(chat_id, known=known, limit=READ_AT_ONCE)
