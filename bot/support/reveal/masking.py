"""Mask revealed recipients after their minute, or when their agent loses the right to see them.

The table lists what has to be masked. A recipient is never shown and masked at once, so the mask always comes last.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
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
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import StaffChat
from bot.support.reveal.model import SHOWN_FOR, Reveal, RevealScreen
from bot.support.reveal.repository import RevealRepository

log = structlog.get_logger(__name__)

PAUSE_WHILE_SHOWN: Final = 1.0
PAUSE_WHILE_NONE: Final = 30.0
MASK_RETRY: Final = Backoff(first=2.0, longest=900.0)
"""Pauses between attempts to mask. We can't mask anything for an agent who has blocked the bot."""


class MaskingService:
    """Mask revealed recipients. `elapsed` is a monotonic clock. `on_change` wakes the worker that calls `mask_due`."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        screen: RevealScreen,
        elapsed: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._elapsed = elapsed
        self._on_change = on_change
        self._in_progress: set[str] = set()
        self._seen_at: dict[str, float] = {}
        self._retries: dict[str, tuple[float, int]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def wake(self) -> None:
        """Wake the worker, since something was revealed or masked."""
        self._on_change()

    @contextmanager
    def lock(self, reveal: Reveal) -> Iterator[bool]:
        """Lock a reveal, so that only the block shows or masks it. Yield False if it is locked already."""
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
        """Mask a reveal, unless it is locked. After a failure, `mask_due` retries at growing intervals.

        With `is_kept=False`, the row isn't saved as masked.
        """
        with self.lock(reveal) as is_ours:
            if not is_ours:
                return
            async with self._database.reading() as tx:
                order = await OrderRepository(tx).get(reveal.reference)
            outcome = await self._screen.mask(reveal, order)
            if not isinstance(outcome, Sent):
                self._schedule_retry(reveal, outcome)
            elif is_kept:
                async with self._database.transaction() as tx:
                    await RevealRepository(tx).save(replace(reveal, masked_at=self._clock.now()))

    async def mask_due(self) -> float:
        """Start to mask all due reveals, and return the seconds until the next call."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
            deleted = {each.id for each in shown if await _is_user_deleted(tx, each)}
        ids = {each.id for each in shown}
        self._seen_at = {key: at for key, at in self._seen_at.items() if key in ids}
        self._retries = {key: rest for key, rest in self._retries.items() if key in ids}
        for reveal in shown:
            if (self.is_due(reveal) or reveal.id in deleted) and not self._is_waiting_to_retry(reveal):
                self._track(asyncio.create_task(self.mask(reveal), name=f"mask-{reveal.id}"))
        return PAUSE_WHILE_SHOWN if shown else PAUSE_WHILE_NONE

    async def mask_due_of(self, staff_id: int) -> None:
        """Mask the due reveals of one agent. Earlier attempts can have failed."""
        async with self._database.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
        for reveal in shown:
            if reveal.staff_id == staff_id and self.is_due(reveal):
                await self.mask(reveal)

    async def wait_until_idle(self) -> None:
        """Wait until nothing is being masked."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self, within: float) -> None:
        """Mask all reveals before the bot stops, within so many seconds.

        They aren't saved as masked, because an earlier request can still show a recipient. The next start masks them
        again.
        """
        try:
            async with self._database.reading() as tx:
                shown = await RevealRepository(tx).unmasked()
        except StoreDown:
            return
        for reveal in shown:
            self._track(asyncio.create_task(self.mask(reveal, is_kept=False)))
        await finish_tasks(lambda: self._tasks, within)

    def _is_waiting_to_retry(self, reveal: Reveal) -> bool:
        until, _ = self._retries.get(reveal.id, (0.0, 0))
        return self._elapsed() < until

    def _schedule_retry(self, reveal: Reveal, outcome: DeliveryOutcome) -> None:
        _, failures = self._retries.get(reveal.id, (0.0, 0))
        asked = outcome.after if isinstance(outcome, RetryLater) else 0.0
        pause = max(MASK_RETRY.after(failures + 1), asked)
        self._retries[reveal.id] = self._elapsed() + pause, failures + 1
        log.warning("mask_retry_scheduled", reveal=reveal.id, order=reveal.reference, retry_in=pause)

    def _track(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._remove_task)

    def _remove_task(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # The row isn't saved as masked, so the next call finds it again.
            log.error("mask_failed", error=type(error).__name__)


async def _is_user_deleted(tx: Transaction, reveal: Reveal) -> bool:
    """Return whether the order's user or its recipient was deleted."""
    order = await OrderRepository(tx).get(reveal.reference)
    return order is None or not order.has_recipient
