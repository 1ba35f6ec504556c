"""Delete updates that can't come again."""

from datetime import timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.telegram.inbound.repository import InboxRepository

KEEP_FINISHED: Final = timedelta(hours=48)
"""Telegram keeps updates for 24 hours; an id older than twice that can't come again."""

EVERY_SECONDS: Final = 60.0


class InboxCleanupWorker:
    """Delete what was handled long ago."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def tick(self) -> float:
        """Do it once, and return the seconds until the next time."""
        async with self._store.transaction() as tx:
            await InboxRepository(tx).forget_finished(self._clock.now() - KEEP_FINISHED)
        return EVERY_SECONDS
