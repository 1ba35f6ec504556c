"""Mask revealed recipients after their minute, or when their agent loses the right to see them.

The table lists what has to be masked. The leader looks for it, and adds a job in the agent's chat. The process that has
the chat shows and masks recipients there, one after the other, so the mask always comes last.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.shutdown import finish_tasks
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.jobs.repository import Job, JobHandler
from bot.infra.outbox.model import Sent
from bot.staff.staff_chat import StaffChat
from bot.support.reveal.model import SHOWN_FOR, Reveal, RevealScreen
from bot.support.reveal.repository import RevealRepository
from bot.support.service_orders import find_subject

log = structlog.get_logger(__name__)

MASK: Final = "mask-reveal"
"""The job that masks a recipient in the agent's chat. Its argument is the id of the reveal."""

PAUSE_WHILE_SHOWN: Final = 1.0
PAUSE_WHILE_NONE: Final = 30.0
MASK_RETRY: Final = Backoff(first=2.0, longest=900.0)
"""Pauses between jobs for one recipient. We can't mask anything for an agent who has blocked the bot."""

AddJob = Callable[[int, str, str], Awaitable[None]]
"""Adds a job: its chat, its kind and its argument."""


class MaskingService:
    """Mask revealed recipients.

    `add_job` adds a job in an agent's chat. `elapsed` is a monotonic clock. `on_change` wakes the worker that calls
    `mask_due`.
    """

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        screen: RevealScreen,
        add_job: AddJob,
        elapsed: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._add_job = add_job
        self._elapsed = elapsed
        self._on_change = on_change
        self._in_progress: set[str] = set()
        self._shown_here: set[str] = set()
        self._seen_at: dict[str, float] = {}
        self._jobs: dict[str, tuple[float, int]] = {}
        """When the next job may be added, and how many were."""

        self._tasks: set[asyncio.Task[Any]] = set()

    def jobs(self) -> Mapping[str, JobHandler]:
        """Return what the job does."""
        return {MASK: self.run_job}

    def record_shown(self, reveal: Reveal) -> None:
        """Record that this process shows a recipient, which it masks before it stops. Wake the worker."""
        self._shown_here.add(reveal.id)
        self._on_change()

    async def begin_to_lead(self) -> None:
        """Forget when this process added jobs when it led before."""
        self._seen_at.clear()
        self._jobs.clear()

    @contextmanager
    def lock(self, reveal: Reveal) -> Iterator[bool]:
        """Lock a reveal in this process, so that only the block shows or masks it. Yield False if it is locked."""
        if reveal.id in self._in_progress:
            yield False
            return
        self._in_progress.add(reveal.id)
        try:
            yield True
        finally:
            self._in_progress.discard(reveal.id)

    def is_due(self, reveal: Reveal) -> bool:
        """Return whether a reveal has to be masked. The monotonic clock counts from the first call for a reveal."""
        lasted = self._elapsed() - self._seen_at.setdefault(reveal.id, self._elapsed())
        may_see = reveal.staff_id in self._staff_chat.agent_ids
        is_late = lasted >= SHOWN_FOR.total_seconds() or reveal.is_over(self._clock.now())
        return is_late or not may_see

    async def mask(self, reveal: Reveal, *, is_kept: bool = True) -> None:
        """Mask a reveal, unless it is locked. After a failure, `mask_due` adds a job for it at growing intervals.

        With `is_kept=False`, the row isn't saved as masked.
        """
        with self.lock(reveal) as is_ours:
            if not is_ours:
                return
            async with self._database.reading() as tx:
                order = await find_subject(tx, reveal.reference)
            outcome = await self._screen.mask(reveal, order)
            if not isinstance(outcome, Sent):
                log.warning("mask_retry_scheduled", reveal=reveal.id, order=reveal.reference)
            elif is_kept:
                async with self._database.transaction() as tx:
                    await RevealRepository(tx).save(replace(reveal, masked_at=self._clock.now()))
                self._shown_here.discard(reveal.id)

    async def mask_due(self) -> float:
        """Add a job for each reveal that has to be masked, and return the seconds until the next call."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
            deleted = {each.id for each in shown if await _is_user_deleted(tx, each)}
        ids = {each.id for each in shown}
        self._seen_at = {key: at for key, at in self._seen_at.items() if key in ids}
        self._jobs = {key: added for key, added in self._jobs.items() if key in ids}
        for reveal in shown:
            if self.is_due(reveal) or reveal.id in deleted:
                await self._add_job_for(reveal)
        return PAUSE_WHILE_SHOWN if shown else PAUSE_WHILE_NONE

    async def run_job(self, job: Job) -> None:
        """Mask the reveal of a job, unless it was masked since. If it fails, the worker adds the job again."""
        async with self._database.reading() as tx:
            reveal = await RevealRepository(tx).get(job.argument)
        if reveal is not None and reveal.masked_at is None:
            await self.mask(reveal)

    async def mask_due_of(self, staff_id: int) -> None:
        """Mask the due reveals of one agent. Earlier attempts can have failed."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
        for reveal in shown:
            if reveal.staff_id == staff_id and self.is_due(reveal):
                await self.mask(reveal)

    async def close(self, within: float) -> None:
        """Mask the reveals that this process has shown before it stops, within so many seconds.

        They aren't saved as masked, because an earlier request can still show a recipient. The leader has them masked
        again. It also has those masked that other processes have shown.
        """
        try:
            async with self._database.reading() as tx:
                shown = await RevealRepository(tx).unmasked()
        except StoreDown:
            return
        for reveal in shown:
            if reveal.id in self._shown_here:
                self._track(asyncio.create_task(self.mask(reveal, is_kept=False)))
        await finish_tasks(lambda: self._tasks, within)

    async def _add_job_for(self, reveal: Reveal) -> None:
        due_at, count = self._jobs.get(reveal.id, (0.0, 0))
        if self._elapsed() < due_at:
            return
        self._jobs[reveal.id] = self._elapsed() + MASK_RETRY.after(count + 1), count + 1
        await self._add_job(reveal.staff_id, MASK, reveal.id)

    def _track(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._remove_task)

    def _remove_task(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # The row isn't saved as masked, so the leader finds it.
            log.error("mask_failed", error=type(error).__name__)


async def _is_user_deleted(tx: Transaction, reveal: Reveal) -> bool:
    """Return whether the order's user or its recipient was deleted."""
    order = await find_subject(tx, reveal.reference)
    return order is None or not order.has_recipient
