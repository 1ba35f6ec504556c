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
"""How long the bot keeps a notification after it was sent or given up."""

LONGEST_WAIT: Final = 5.0
LONGEST_WAIT_SHARED: Final = 0.5
"""How long to wait at most if other processes work on the database: one of them can die, and leave a notification."""

SHORTEST_WAIT: Final = 0.05

EVERY_SECONDS: Final = 60.0
FAR_AHEAD: Final = timedelta(days=1)
"""Every notification is tried again much sooner than that."""


class OutboxWorker:
    """Sends notifications as soon as they are due. Each `tick` starts all that are due.

    `longest_wait` is the time in seconds until the next tick at most.
    """

    def __init__(self, delivery: OutboxDelivery, clock: Clock, longest_wait: float = LONGEST_WAIT) -> None:
        self._delivery = delivery
        self._clock = clock
        self._longest_wait = longest_wait

    async def tick(self) -> float:
        """Start to send what is due. Return the seconds until the next tick."""
        await self._delivery.start_due()
        due = self._delivery.next_due
        if due is None:
            return self._longest_wait
        return min(max((due - self._clock.now()).total_seconds(), SHORTEST_WAIT), self._longest_wait)


class OutboxCleanupWorker:
    """Deletes old notifications, and repeats interrupted ones. Each `tick` does both.

    Args:
        database: has the outbox.
        clock: the time.
        deliveries: repeat requests that a crash or a lost database interrupted.
        keep: the rows that features still need.
        on_recovered: called when there are interrupted notifications.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        deliveries: Sequence[OutboxDelivery],
        *,
        keep: Sequence[ColumnElement[bool]],
        on_recovered: Callable[[], None],
    ) -> None:
        self._database = database
        self._clock = clock
        self._deliveries = deliveries
        self._keep = keep
        self._on_recovered = on_recovered

    async def tick(self) -> float:
        """Delete and repeat once. Return the seconds until the next tick."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await OutboxRepository(tx).delete_old(now - KEEP_SENT, self._keep)
        async with self._database.reading() as tx:
            # SQLite compares times as text, so a malformed time can sort after all others. Its row would never be due
            # and would block the queue of its chat. Reading it here records it, so that it is given up.
            await OutboxRepository(tx).find_due_after(now + FAR_AHEAD)
        if sum([await delivery.recover() for delivery in self._deliveries]):
            self._on_recovered()
        return EVERY_SECONDS
