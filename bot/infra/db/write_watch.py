"""Ends a process whose writes PostgreSQL no longer takes, although it takes those of a new session.

`engine.py` replaces sessions at errors that it knows. This is for all others, also for another driver.
"""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.metrics import UNWRITABLE_SECONDS

TRY_SECONDS: Final = 5.0
STUCK_SECONDS: Final = 60.0


class WriteWatch:
    """Tries a write every few seconds. Times are those of the monotonic clock.

    Args:
        database: the PostgreSQL of this process.
        has_unsaved: whether an answer of the service waits to be saved. It would be lost with the process.
    """

    def __init__(self, database: Database, has_unsaved: Callable[[], bool]) -> None:
        self._database = database
        self._has_unsaved = has_unsaved
        self._failing_since = math.inf
        UNWRITABLE_SECONDS.set_function(lambda: max(self._failing_seconds, 0.0))

    @property
    def _failing_seconds(self) -> float:
        return time.monotonic() - self._failing_since

    def can_write(self) -> bool:
        """Return whether the last write was taken."""
        return self._failing_since == math.inf

    async def run(self) -> None:
        """Watch until cancelled.

        Raises:
            StoreDown: nothing of this process was written for a minute, a new session can write, and nothing would be
                lost. The process has to end.
        """
        while True:
            await asyncio.sleep(TRY_SECONDS)
            began = time.monotonic()
            self._failing_since = math.inf if await self._database.can_write() else min(began, self._failing_since)
            if self._failing_seconds < STUCK_SECONDS or not await self._database.can_write(in_new_session=True):
                continue
            if not self._has_unsaved():
                raise StoreDown("it takes the writes of new sessions, but not those of this process")
