"""Attempts to handle an update. After a failure it is tried again, and after too many it is dropped."""

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog
from prometheus_client import Counter, Histogram
from telegram import Bot, Update

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.fence import LeaseLost
from bot.infra.db.retry import retry_forever
from bot.infra.db.transaction import Transaction
from bot.infra.leases.chat_leases import ChatLease, Leases
from bot.infra.log_context import bind_fields, shared_task_context
from bot.infra.metrics import start_at_zero
from bot.infra.telegram.inbound.model import ChatState, InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

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
BETWEEN_ATTEMPTS = Backoff(first=0.5)
TIME_LIMIT_SECONDS = 120.0
"""The time limit of an update. It is longer than any single wait for a server, so only hanging updates reach it."""

TURN_SECONDS = 5.0
"""How long an update that may crash the process waits for another one that may."""

Process = Callable[[Update], Awaitable[None]]

RECEIVED_AT: ContextVar[datetime | None] = ContextVar("received")
"""When the current update was received. None if it is tried again after a crash or a failed attempt."""


@dataclass(slots=True)
class Attempt:
    """An update that is being handled.

    `is_suspect`: it may have crashed the process before, so each attempt is counted before it begins.
    """

    item: InboxItem
    lease: ChatLease
    is_suspect: bool
    attempts: int
    chat: ChatState | None = None
    """The state of the user's chat, if this update changed it."""

    on_finish: Callable[[Transaction], Awaitable[None]] | None = None
    """Saves what this update has changed of its user and chat, in the transaction that finishes it."""

    may_be_left: bool = False
    """Whether another process gets the update if this one can't read a row that it needs."""


CURRENT_ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)
"""The update that is being handled."""


class Attempts:
    """Makes attempts, and counts them in the database, so that a crash can't erase the count."""

    def __init__(
        self,
        database: Database,
        process: Process,
        clock: Clock,
        bot: Bot | None,
        *,
        leases: Leases,
    ) -> None:
        self._database = database
        self._leases = leases
        self._process = process
        self._clock = clock
        self._bot = bot
        self._finished: dict[int, Attempt] = {}
        self._saving: dict[int, Attempt] = {}
        self._saved = asyncio.Event()
        self._finishing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    @staticmethod
    def create(item: InboxItem, lease: ChatLease) -> Attempt:
        """Return an attempt. An update in a chat that was taken over may have crashed the process that had it."""
        return Attempt(item, lease, item.attempts > 0 or lease.was_left(item.received_at), item.attempts)

    async def run(self, attempt: Attempt) -> float | None:
        """Try once. Return None if the update is finished, else the seconds until the next try."""
        with bind_fields(update=attempt.item.update_id):
            return await self._run(attempt)

    async def _run(self, attempt: Attempt) -> float | None:
        if attempt.attempts < MAX_ATTEMPTS:
            async with self._one_at_a_time(attempt):
                if attempt.is_suspect:
                    await self._count(attempt)
                error = await catch_exception(self._process_with_timeout(attempt))
            if error is None:
                UPDATES_HANDLED.labels("done").inc()
                waited = self._clock.now() - attempt.item.received_at
                ANSWER_SECONDS.observe(max(waited.total_seconds(), 0.0))  # two clocks
                await self._finish(attempt)
                return None
            if isinstance(error, LeaseLost) or (isinstance(error, RowUnreadable) and error.is_for_others):
                raise error  # another process handles the update
            UPDATES_HANDLED.labels("failed").inc()
            await self._record_failure(attempt, error)
        if attempt.attempts < MAX_ATTEMPTS:
            return BETWEEN_ATTEMPTS.after(attempt.attempts)
        UPDATES_HANDLED.labels("dropped").inc()
        log.error("update_dropped", attempts=attempt.attempts)
        await self._finish(attempt)
        return None

    @asynccontextmanager
    async def _one_at_a_time(self, attempt: Attempt) -> AsyncIterator[None]:
        """Handle updates whose attempts a process didn't survive one after another, as long as that doesn't take long.

        One of them may crash this process, too. Those that wait aren't counted, so they aren't dropped with it.
        """
        is_alone = attempt.item.attempts > 0 and await self._acquire_turn()
        try:
            yield
        finally:
            if is_alone:
                self._turn.release()

    async def _acquire_turn(self) -> bool:
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            return False  # the other one waits for a server, and crashes nothing
        return True

    def list_finished(self) -> frozenset[int]:
        """Return the updates that are finished here but not yet in the inbox."""
        return frozenset((*self._finished, *self._saving))

    async def wait_until_finished(self) -> None:
        """Wait until all finished updates are marked as finished in the inbox."""
        while self._finishing is not None:
            await self._finishing

    async def _process_with_timeout(self, attempt: Attempt) -> None:
        item = attempt.item
        received_token, attempt_token = (
            RECEIVED_AT.set(None if attempt.is_suspect else item.received_at),
            CURRENT_ATTEMPT.set(attempt),
        )
        try:
            async with asyncio.timeout(TIME_LIMIT_SECONDS):
                await self._process(Update.de_json(json.loads(item.body), self._bot))
        finally:
            CURRENT_ATTEMPT.reset(attempt_token)
            RECEIVED_AT.reset(received_token)

    async def _record_failure(self, attempt: Attempt, error: BaseException) -> None:
        if not attempt.is_suspect:
            attempt.is_suspect = True
            await self._count(attempt)
        log.error(  # without the exception's text, which can quote a user
            "update_attempt_failed",
            attempts=attempt.attempts,
            error=type(error).__name__,
            where=_locate(error),
        )

    async def _count(self, attempt: Attempt) -> None:
        async def count() -> None:
            async with self._database.transaction() as tx:
                await InboxRepository(tx).count_attempt([attempt.item.update_id])

        await retry_forever("count_attempt", count)
        attempt.attempts += 1

    async def _finish(self, attempt: Attempt) -> None:
        """Finish the update soon, together with others in one commit. After a crash it is handled again safely.

        If the update changed its user or chat, wait for the commit: the chat's next update reads them.
        """
        self._finished[attempt.item.update_id] = attempt
        if self._finishing is None:
            self._finishing = asyncio.create_task(
                self._finish_all(), name="inbox-finish", context=shared_task_context()
            )
        if attempt.on_finish is not None:
            await self._saved.wait()

    async def _finish_all(self) -> None:
        try:
            while self._finished:
                self._saving, self._finished = self._finished, {}
                saved, self._saved = self._saved, asyncio.Event()
                try:
                    await retry_forever("finish_updates", self._finish_some)
                    self._saving = {}
                finally:
                    saved.set()
        finally:
            # If this task was ended early, the next one finishes these updates, too.
            self._finished |= self._saving
            self._saving = {}
            self._finishing = None

    async def _finish_some(self) -> None:
        async with self._database.transaction() as tx:
            leases = {id(attempt.lease): attempt.lease for attempt in self._saving.values()}
            # Updates of chats that this process has lost are handled again by another one.
            held = {id(lease) for lease in await self._leases.lock(tx, leases.values())}
            attempts = [attempt for attempt in self._saving.values() if id(attempt.lease) in held]
            await InboxRepository(tx).finish([attempt.item.update_id for attempt in attempts], self._clock.now())
            for attempt in attempts:
                if attempt.on_finish is not None:
                    await attempt.on_finish(tx)


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


def _locate(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
