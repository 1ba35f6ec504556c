"""The workers of the outbox: one sends notifications, and one cleans up after it."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.repository import OutboxRepository

KEEP_SENT: Final = timedelta(days=30)
"""How long the bot keeps a notification that was sent or given up."""

LONGEST_WAIT: Final = 5.0
SHORTEST_WAIT: Final = 0.05

EVERY_SECONDS: Final = 60.0
FAR_AHEAD: Final = timedelta(days=1)
"""A notification is tried again much sooner than that."""


class OutboxWorker:
    """One `tick` starts everything that is due."""

    def __init__(self, delivery: OutboxDelivery, clock: Clock) -> None:
        self._delivery = delivery
        self._clock = clock

    async def tick(self) -> float:
        """Start what is due; how long until the next piece falls due."""
        await self._delivery.start_due()
        due = await self._delivery.next_due()
        if due is None:
            return LONGEST_WAIT
        return min(max((due - self._clock.now()).total_seconds(), SHORTEST_WAIT), LONGEST_WAIT)


class OutboxCleanupWorker:
    """One `tick` does it all.

    Args:
        store: has the outbox.
        clock: the time.
        delivery: sends again what a crash or a lost database left in the middle of a request.
        keep: the rows that features still need.
        on_recovered: called when there is something to send again.
    """

    def __init__(
        self,
        store: Database,
        clock: Clock,
        delivery: OutboxDelivery,
        *,
        keep: Sequence[ColumnElement[bool]],
        on_recovered: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._delivery = delivery
        self._keep = keep
        self._on_recovered = on_recovered

    async def tick(self) -> float:
        """Do it once, and return the seconds until the next time."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            await OutboxRepository(tx).delete_sent(now - KEEP_SENT, self._keep)
        async with self._store.reading() as tx:
            # SQLite compares times as text, so a malformed one can come after all others. Nobody would ever read its
            # row, and a chat's queue would wait behind it. Once read it is noted, and treated as any unreadable row.
            await OutboxRepository(tx).due_after(now + FAR_AHEAD)
        if await self._delivery.recover():
            self._on_recovered()
        return EVERY_SECONDS
