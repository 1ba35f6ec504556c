"""Ends a process whose writes PostgreSQL no longer takes, although it takes those of a new session.

`engine.py` replaces sessions at errors that it knows. This is for all others, also for another driver.
"""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final

from prometheus_client import Gauge

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.process_state import ProcessState

TRY_SECONDS: Final = 5.0
STUCK_SECONDS: Final = 60.0

UNWRITABLE_SECONDS: Final = Gauge(
    "kirim_database_unwritable_seconds", "For how long PostgreSQL has taken no write of this process. 0 while it does."
)


async def watch_writes(database: Database, state: ProcessState, has_unsaved: Callable[[], bool]) -> None:
    """Try a write every few seconds until cancelled, and set in `state` whether PostgreSQL took it.

    `has_unsaved` returns whether an answer of the service waits to be saved. It would be lost with the process.

    Raises:
        StoreDown: nothing of this process was written for a minute, a new session can write, and nothing would be lost.
            The process has to end.
    """
    failing_since = math.inf
    while True:
        await asyncio.sleep(TRY_SECONDS)
        began = time.monotonic()
        failing_since = math.inf if await database.can_write() else min(began, failing_since)
        UNWRITABLE_SECONDS.set(max(time.monotonic() - failing_since, 0.0))
        state.can_write = failing_since == math.inf
        is_stuck = time.monotonic() - failing_since >= STUCK_SECONDS
        if is_stuck and await database.can_write(in_new_session=True) and not has_unsaved():
            raise StoreDown("it takes the writes of new sessions, but not those of this process")
