"""The worker that deletes old updates from the inbox."""

from datetime import timedelta
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.telegram.inbound.repository import InboxRepository

KEEP_FINISHED: Final = timedelta(hours=48)
"""How long the bot keeps the ids of finished updates. Telegram sends updates again for up to 24 hours."""

EVERY_SECONDS: Final = 60.0


class InboxCleanupWorker:
    """Deletes updates that were finished long ago."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def tick(self) -> float:
        """Delete once, and return the seconds until the next tick."""
        async with self._database.transaction() as tx:
            await InboxRepository(tx).delete_finished(self._clock.now() - KEEP_FINISHED)
        return EVERY_SECONDS
