"""Jobs of features: work in a chat that must not overtake an answer, whichever process has the chat."""

from typing import TYPE_CHECKING

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.jobs.repository import JobRepository

if TYPE_CHECKING:
    from collections.abc import Callable


class ChatJobs:
    """Adds jobs. The process that has the chat runs them after the chat's waiting updates, and they survive a crash."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.on_added: Callable[[], None] = lambda: None
        """Called when there is a new one. Features are built before the queues of the chats, which it wakes."""

    async def add(self, chat_id: int, kind: str, argument: str = "") -> None:
        """Add a job, unless the same one waits already."""
        async with self._database.transaction() as tx:
            is_new = await JobRepository(tx).add(chat_id, kind, argument, self._clock.now())
        if is_new:
            self.on_added()
