"""Masking again what was revealed: by the clock, by the time that has passed, and by whoever may not see it any more.

What is to be masked stands in rows; this only looks at them. What shows a recipient and what masks it never are under
way together, so that the mask always comes last.
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
from bot.staff.roles import StaffChat
from bot.support.reveal.model import Reveal, RevealScreen
from bot.support.reveal.repository import RevealRepository
from bot.support.reveal.rules import SHOWN_FOR, is_over

log = structlog.get_logger(__name__)

EVERY_SECOND: Final = 1.0
NONE_SHOWN: Final = 30.0
MASK_AGAIN: Final = Backoff(first=2.0, longest=900.0)
"""Between tries to mask what couldn't be: somebody who has blocked the bot keeps what they saw till then."""


class Masking:
    """`elapsed` is a clock that nobody can set; `on_change` wakes whoever calls `mask_due`."""

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        room: StaffChat,
        screen: RevealScreen,
        elapsed: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._clock, self._room, self._screen = store, clock, room, screen
        self._elapsed = elapsed
        self._on_change = on_change
        self._in_hand: set[str] = set()
        self._seen_at: dict[str, float] = {}
        self._rests: dict[str, tuple[float, int]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def wake(self) -> None:
        """There is something to look after."""
        self._on_change()

    @contextmanager
    def hold(self, reveal: Reveal) -> Iterator[bool]:
        """Keep others from showing or masking it within the block; whether nobody is at it already."""
        if reveal.id in self._in_hand:
            yield False
            return
        self._in_hand.add(reveal.id)
        try:
            yield True
        finally:
            self._in_hand.discard(reveal.id)

    def is_due(self, reveal: Reveal) -> bool:
        """Whether it may be seen no longer. What is asked about for the first time is timed from now on."""
        lasted = self._elapsed() - self._seen_at.setdefault(reveal.id, self._elapsed())
        may_see = reveal.staff_id in self._room.supporters
        is_late = lasted >= SHOWN_FOR.total_seconds() or is_over(reveal.at, reveal.until, self._clock.now())
        return is_late or not may_see

    async def mask(self, reveal: Reveal, *, is_kept: bool = True) -> None:
        """Mask one now, unless somebody else is at it; where that fails, it is tried again, later and later."""
        with self.hold(reveal) as is_ours:
            if not is_ours:
                return
            async with self._store.reading() as tx:
                order = await OrderRepository(tx).get(reveal.reference)
            outcome = await self._screen.mask(reveal, order)
            if not isinstance(outcome, Sent):
                self._rest(reveal, outcome)
            elif is_kept:
                async with self._store.transaction() as tx:
                    await RevealRepository(tx).save(replace(reveal, masked_at=self._clock.now()))

    async def mask_due(self) -> float:
        """Begin to mask all whose time is over; in how many seconds to look again."""
        async with self._store.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
            forgotten = {each.id for each in shown if await _is_forgotten(tx, each)}
        ids = {each.id for each in shown}
        self._seen_at = {key: at for key, at in self._seen_at.items() if key in ids}
        self._rests = {key: rest for key, rest in self._rests.items() if key in ids}
        for reveal in shown:
            if (self.is_due(reveal) or reveal.id in forgotten) and not self._is_resting(reveal):
                self._track(asyncio.create_task(self.mask(reveal), name=f"mask-{reveal.id}"))
        return EVERY_SECOND if shown else NONE_SHOWN

    async def mask_due_of(self, staff_id: int) -> None:
        """Mask what one member of staff may see no longer, now that they are here: perhaps it couldn't be before."""
        async with self._store.reading() as tx:
            shown = await RevealRepository(tx).unmasked()
        for reveal in shown:
            if reveal.staff_id == staff_id and self.is_due(reveal):
                await self.mask(reveal)

    async def settle(self) -> None:
        """Wait until nothing is being masked."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self, within: float) -> None:
        """Mask all there is before the bot goes: nobody would when the minute is over.

        It isn't kept that they are: what was on its way when the bot was told to end may yet arrive after this, and
        the next start looks at them again.
        """
        try:
            async with self._store.reading() as tx:
                shown = await RevealRepository(tx).unmasked()
        except StoreDown:
            return
        for reveal in shown:
            self._track(asyncio.create_task(self.mask(reveal, is_kept=False)))
        await finish_tasks(lambda: self._tasks, within)

    def _is_resting(self, reveal: Reveal) -> bool:
        until, _ = self._rests.get(reveal.id, (0.0, 0))
        return self._elapsed() < until

    def _rest(self, reveal: Reveal, outcome: DeliveryOutcome) -> None:
        _, failures = self._rests.get(reveal.id, (0.0, 0))
        asked = outcome.after if isinstance(outcome, RetryLater) else 0.0
        pause = max(MASK_AGAIN.after(failures + 1), asked)
        self._rests[reveal.id] = self._elapsed() + pause, failures + 1
        log.warning("mask_retry_scheduled", reveal=reveal.id, order=reveal.reference, retry_in=pause)

    def _track(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # The row says that it is to be masked, and the next look finds it.
            log.error("mask_failed", error=type(error).__name__)


async def _is_forgotten(tx: Transaction, reveal: Reveal) -> bool:
    """Whether its order's person wished to be forgotten meanwhile."""
    order = await OrderRepository(tx).get(reveal.reference)
    return order is None or not order.has_recipient
