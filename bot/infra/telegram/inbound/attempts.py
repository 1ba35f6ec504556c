"""Attempts to handle an update or a job. After a failure it is tried again, and after too many it is dropped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from prometheus_client import Counter, Histogram

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.reasons import find_location
from bot.infra.db.database import Database
from bot.infra.db.errors import LASTING, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.leases.chat_leases import ChatLease, Leases
from bot.infra.logging import bind_fields, shared_task_context
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository, JobHandler
from bot.infra.workers import retry_forever

log = structlog.get_logger(__name__)

UPDATES_HANDLED: Final = Counter(
    "kirim_updates_handled",
    "Attempts to handle an update. After `failed` there is another one. `dropped` is the last of five.",
    ["result"],
)
start_at_zero(UPDATES_HANDLED, ("done", "failed", "dropped"))
ANSWER_SECONDS: Final = Histogram(
    "kirim_answer_seconds",
    "From the arrival of an update until it was handled, and answered if it has an answer.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 120),
)

MAX_ATTEMPTS = 5
MAX_OUTAGES = 20
"""Failures of the database that aren't counted as attempts of an update: about a quarter of an hour.

After that the update may be their cause. A job isn't exempt, because it is added again.
"""

BETWEEN_ATTEMPTS = Backoff(first=0.5, longest=60.0)
TIME_LIMIT_SECONDS = 120.0
"""The time limit of an attempt. It is longer than any single wait for a server, so only hanging ones reach it."""

TURN_SECONDS = 5.0
"""How long work that may crash the process waits for other work that may."""

RECEIVED_AT: ContextVar[datetime | None] = ContextVar("received")
"""When the current update was received. None if it is tried again after a crash or a failed attempt."""


@dataclass(slots=True)
class Attempt:
    """An update or a job that is being handled.

    `is_suspect`: it may have crashed the process before, so each attempt is counted before it begins.
    """

    item: InboxItem
    lease: ChatLease
    is_suspect: bool
    attempts: int
    outages: int = 0
    """How often the database has failed meanwhile."""

    chat: ChatState | None = None
    """The state of the user's chat, if this update changed it."""

    on_finish: Callable[[Transaction], Awaitable[None]] | None = None
    """Saves what this update has changed of its user and chat, in the transaction that finishes it."""

    saved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when that transaction is committed."""


CURRENT_ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)
"""The update or the job that is being handled."""


class Attempts:
    """Makes attempts, and counts them in the database, so that a crash can't erase the count.

    `handlers`: the kind of work -> the function that does it. Any exception counts as a failed attempt.
    """

    def __init__(self, database: Database, handlers: Mapping[str, JobHandler], clock: Clock, *, leases: Leases) -> None:
        self._database = database
        self._leases = leases
        self._handlers = handlers
        self._clock = clock
        self._finished: dict[int, Attempt] = {}
        self._finishing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    @staticmethod
    def create(item: InboxItem, lease: ChatLease) -> Attempt:
        """Return an attempt. What waited in a chat that was taken over may have crashed the process that had it."""
        return Attempt(item, lease, item.attempts > 0 or lease.was_left(item.received_at), item.attempts)

    async def run(self, attempt: Attempt) -> float | None:
        """Try once. Return None if it is finished, else the seconds until the next try.

        Work of a kind that this version doesn't know stays as it is.

        Raises:
            LeaseLost: another process goes on with it.
        """
        item = attempt.item
        if item.kind not in self._handlers:
            self._database.record_unknown("inbox", item.id)
            return None
        with bind_fields(**{"update": item.id} if item.is_update else {"job": item.kind}):
            return await self._run(attempt)

    async def _run(self, attempt: Attempt) -> float | None:
        if attempt.attempts < MAX_ATTEMPTS:
            async with self._one_at_a_time(attempt):
                if attempt.is_suspect:
                    await self._count(attempt)
                error = await catch_exception(self._handle(attempt))
            if isinstance(error, LeaseLost):
                raise error
            if error is None:
                _measure(attempt, "done")
                if attempt.item.is_update:
                    waited = self._clock.now() - attempt.item.received_at
                    ANSWER_SECONDS.observe(max(waited.total_seconds(), 0.0))  # two clocks
                await self._finish(attempt)
                return None
            _measure(attempt, "failed")
            if attempt.item.is_update and _is_outage(error) and attempt.outages < MAX_OUTAGES:
                attempt.outages += 1
                if attempt.is_suspect:
                    await self._count(attempt, -1)
                return BETWEEN_ATTEMPTS.after(attempt.outages)
            await self._record_failure(attempt, error)
        if attempt.attempts < MAX_ATTEMPTS:
            return BETWEEN_ATTEMPTS.after(attempt.attempts)
        _measure(attempt, "dropped")
        log.error("chat_work_dropped", attempts=attempt.attempts)
        await self._finish(attempt)
        return None

    @asynccontextmanager
    async def _one_at_a_time(self, attempt: Attempt) -> AsyncIterator[None]:
        """Do work whose attempts a process didn't survive one after another, as long as that doesn't take long.

        It may crash this process, too. What waits isn't counted, so it isn't dropped with it.
        """
        may_crash = attempt.item.attempts > 0 and attempt.lease.was_left(attempt.item.received_at)
        has_turn = may_crash and await self._acquire_turn()
        try:
            yield
        finally:
            if has_turn:
                self._turn.release()

    async def _acquire_turn(self) -> bool:
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            return False  # the other one waits for a server, and crashes nothing
        return True

    def list_finished(self) -> Collection[int]:
        """Return the ids of what is finished here but not yet in the inbox."""
        return self._finished.keys()

    async def wait_until_finished(self) -> None:
        """Wait until all that is finished here is finished in the inbox."""
        while self._finishing is not None:
            await self._finishing

    async def _handle(self, attempt: Attempt) -> None:
        item = attempt.item
        received_token, attempt_token = (
            RECEIVED_AT.set(None if attempt.is_suspect or attempt.outages else item.received_at),
            CURRENT_ATTEMPT.set(attempt),
        )
        try:
            async with asyncio.timeout(TIME_LIMIT_SECONDS):
                await self._handlers[item.kind](item)
        finally:
            CURRENT_ATTEMPT.reset(attempt_token)
            RECEIVED_AT.reset(received_token)

    async def _record_failure(self, attempt: Attempt, error: BaseException) -> None:
        if not attempt.is_suspect:
            attempt.is_suspect = True
            await self._count(attempt)
        log.error(  # without the exception's text, which can quote a user
            "chat_work_failed",
            attempts=attempt.attempts,
            error=type(error).__name__,
            where=find_location(error),
        )

    async def _count(self, attempt: Attempt, by: int = 1) -> None:
        async def count() -> None:
            async with self._database.transaction() as tx:
                await InboxRepository(tx).count_attempt(attempt.item.id, by)

        await retry_forever("count_attempt", count)
        attempt.attempts += by

    async def _finish(self, attempt: Attempt) -> None:
        """Finish soon, together with others in one commit. After a crash it is handled again safely.

        If an update changed its user or chat, wait for the commit: the chat's next update reads them.
        """
        self._finished[attempt.item.id] = attempt
        if self._finishing is None:
            self._finishing = asyncio.create_task(
                self._finish_all(), name="inbox-finish", context=shared_task_context()
            )
        if attempt.on_finish is not None:
            await attempt.saved.wait()

    async def _finish_all(self) -> None:
        """Finish all, one batch after the other. If this task is ended early, the next one finishes its batch, too."""
        try:
            while self._finished:
                batch = tuple(self._finished.values())
                try:
                    await retry_forever("finish_updates", partial(self._finish_some, batch))
                finally:
                    for attempt in batch:
                        attempt.saved.set()
                for attempt in batch:
                    del self._finished[attempt.item.id]
        finally:
            self._finishing = None

    async def _finish_some(self, batch: Collection[Attempt]) -> None:
        async with self._database.transaction() as tx:
            leases = {id(attempt.lease): attempt.lease for attempt in batch}
            # What was done in chats that this process has lost is done again by another one.
            held = {id(lease) for lease in await self._leases.lock(tx, leases.values())}
            attempts = [attempt for attempt in batch if id(attempt.lease) in held]
            await InboxRepository(tx).finish([attempt.item.id for attempt in attempts], self._clock.now())
            for attempt in attempts:
                if attempt.on_finish is not None:
                    await attempt.on_finish(tx)


def _is_outage(error: BaseException) -> bool:
    """Return whether the database failed, and the same can succeed when it is tried again."""
    return isinstance(error, StoreDown) and not isinstance(error, LASTING)


def _measure(attempt: Attempt, result: str) -> None:
    if attempt.item.is_update:
        UPDATES_HANDLED.labels(result).inc()


async def catch_exception(work: Awaitable[None]) -> BaseException | None:
    """Return the exception of `work`, or None. Return a cancellation, too, unless this task itself is cancelled."""
    try:
        await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return error
    except Exception as error:  # noqa: BLE001  after any error the chat must continue
        return error
    return None
