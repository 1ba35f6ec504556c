"""One update's way through: understood, processed, finished; or tried again, and in the end set aside."""

import asyncio
import json
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog
from telegram import Bot, Update

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.retry import retry_forever
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.model import ChatState, InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository

log = structlog.get_logger(__name__)

MAX_ATTEMPTS = 5
BETWEEN_ATTEMPTS = Backoff(first=0.5)
TIME_LIMIT_SECONDS = 120.0
"""What one update may take. Longer than any single wait for a server, so it only ever ends what hangs."""

Process = Callable[[Update], Awaitable[None]]
SaveChats = Callable[[Transaction, Sequence[ChatState]], Awaitable[None]]

RECEIVED_AT: ContextVar[datetime | None] = ContextVar("received")
"""When the update in hand has come in; None where it is taken up again, after a crash or a failed attempt."""


@dataclass(slots=True)
class Attempt:
    """An update in hand. A `suspect` may have ended the process before, so its attempts are counted beforehand."""

    item: InboxItem
    suspect: bool
    attempts: int
    chat: ChatState | None = None
    """The state of the user's chat, where this update has changed it. It is saved when the update is finished."""


CURRENT_ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)
"""The update in hand."""


class Attempts:
    """Makes attempts, and keeps count of them where a crash can't erase it."""

    def __init__(
        self, store: Database, process: Process, clock: Clock, bot: Bot | None, save_chats: SaveChats | None = None
    ) -> None:
        self._store = store
        self._process = process
        self._save_chats = save_chats
        self._clock = clock
        self._bot = bot
        self._since = clock.now()
        self._done: dict[int, ChatState | None] = {}
        self._being_finished: dict[int, ChatState | None] = {}
        self._saved = asyncio.Event()
        self._finishing: asyncio.Task[None] | None = None

    def of(self, item: InboxItem) -> Attempt:
        """Take an update in hand; what was received before this process began may be what ended the last one."""
        return Attempt(item, item.attempts > 0 or item.received_at < self._since, item.attempts)

    async def make(self, attempt: Attempt) -> float | None:
        """Try once. None when the update is dealt with, else the seconds until the next try."""
        if attempt.attempts < MAX_ATTEMPTS:
            if attempt.suspect:
                await self._count(attempt)
            error = await caught(self._process_in_time(attempt))
            if error is None:
                await self._finish(attempt)
                return None
            await self._note(attempt, error)
        if attempt.attempts < MAX_ATTEMPTS:
            return BETWEEN_ATTEMPTS.after(attempt.attempts)
        log.error("update_dropped", update=attempt.item.update_id, attempts=attempt.attempts)
        await self._finish(attempt)
        return None

    def done(self) -> frozenset[int]:
        """Return the updates that are dealt with and still unfinished in the inbox."""
        return frozenset((*self._done, *self._being_finished))

    async def wait_until_finished(self) -> None:
        """Wait until all that is dealt with is also finished in the inbox."""
        while self._finishing is not None:
            await self._finishing

    async def _process_in_time(self, attempt: Attempt) -> None:
        item = attempt.item
        received, in_hand = RECEIVED_AT.set(None if attempt.suspect else item.received_at), CURRENT_ATTEMPT.set(attempt)
        try:
            async with asyncio.timeout(TIME_LIMIT_SECONDS):
                await self._process(Update.de_json(json.loads(item.body), self._bot))
        finally:
            CURRENT_ATTEMPT.reset(in_hand)
            RECEIVED_AT.reset(received)

    async def _note(self, attempt: Attempt, error: BaseException) -> None:
        if not attempt.suspect:
            attempt.suspect = True
            await self._count(attempt)
        log.error(  # without the exception's text: it may quote what a user wrote
            "update_attempt_failed",
            update=attempt.item.update_id,
            attempts=attempt.attempts,
            error=type(error).__name__,
            where=_where(error),
        )

    async def _count(self, attempt: Attempt) -> None:
        async def count() -> None:
            async with self._store.transaction() as tx:
                await InboxRepository(tx).count_attempt([attempt.item.update_id])

        await retry_forever("count_attempt", count)
        attempt.attempts += 1

    async def _finish(self, attempt: Attempt) -> None:
        """Finish soon. Many are finished by one commit, which is safe: processing again does no harm.

        Where the update has changed its chat, wait for that: the chat's next update reads it.
        """
        self._done[attempt.item.update_id] = attempt.chat
        if self._finishing is None:
            self._finishing = asyncio.create_task(self._finish_all(), name="inbox-finish")
        if attempt.chat is not None:
            await self._saved.wait()

    async def _finish_all(self) -> None:
        try:
            while self._done:
                self._being_finished, self._done = self._done, {}
                saved, self._saved = self._saved, asyncio.Event()
                try:
                    await retry_forever("finish_updates", self._finish_some)
                    self._being_finished = {}
                finally:
                    saved.set()
        finally:
            # Where something else has ended this, the next one finishes them too.
            self._done |= self._being_finished
            self._being_finished = {}
            self._finishing = None

    async def _finish_some(self) -> None:
        async with self._store.transaction() as tx:
            await InboxRepository(tx).finish(self._being_finished, self._clock.now())
            chats = [chat for chat in self._being_finished.values() if chat is not None]
            if chats and self._save_chats is not None:
                await self._save_chats(tx, chats)


async def caught(work: Awaitable[None]) -> BaseException | None:
    """Return what `work` raised, if anything: a cancellation too, where it isn't the one of the task that waits."""
    try:
        await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return error
    except Exception as error:  # noqa: BLE001  whatever it is, the chat must go on
        return error
    return None


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
