"""What watches this process from within, and ends it so that the service manager starts it again.

- A blocked event loop can neither answer nor keep a lease, and can't be stopped from within. So a thread watches it.
- PostgreSQL can take the writes of a new session, but no longer those of this process. `infra/db/engine.py` replaces
  sessions at errors that it knows. `watch_writes` is for all others, also for another driver.

The pages by which others watch the process (`infra/http/health.py`) show its `ProcessState`.
"""

import asyncio
import faulthandler
import math
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog
from prometheus_client import Gauge

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ProcessState:
    """The state of this process. `bot/process.py` changes it."""

    are_workers_alive: Callable[[], bool] = lambda: False
    """Returns whether every worker runs. On SQLite they start when no other process has the database."""

    waits_for: str = ""
    """Why this process doesn't work yet, although nothing is wrong with it. Empty if it works."""

    are_leases_kept: Callable[[], bool] = lambda: False
    """Returns whether the leases of chats were kept in time."""

    can_write: bool = True
    """Whether PostgreSQL took the last write that this process tried."""

    is_stopping: bool = False
    """Whether the process was asked to stop, and only finishes its work."""


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


HANG_SECONDS: Final = 30
"""How long the event loop may stand still. The longest wait within it is measured in milliseconds."""

TICK_SECONDS: Final = 1.0
HUNG: Final = 70
"""The exit code. It isn't one of those that mean a wrong setting, so a service manager starts the bot again."""


def end_process() -> None:
    """Write the stacks of all threads to the log's stream, and end the process at once."""
    log.error("event_loop_hung", seconds=HANG_SECONDS)
    faulthandler.dump_traceback(sys.stderr, all_threads=True)
    sys.stderr.flush()
    os._exit(HUNG)


class Watchdog:
    """Calls `on_hang` once the event loop has stood still while this thread ran `hang_seconds` ticks of a second.

    Ticks are counted, not the time: after a pause of the whole process, or of the machine, the thread has missed them,
    too.
    """

    def __init__(
        self,
        on_hang: Callable[[], None] = end_process,
        *,
        hang_seconds: float = HANG_SECONDS,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._on_hang = on_hang
        self._allowed = round(hang_seconds / tick_seconds)
        self._tick_seconds = tick_seconds
        self._stopped = threading.Event()
        self._missed = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch the event loop within the block."""
        thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        thread.start()
        beat = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            self._stopped.set()
            beat.cancel()
            await asyncio.wait({beat})

    async def _beat(self) -> None:
        while True:
            self._missed = 0
            tell_service_manager("WATCHDOG=1")
            await asyncio.sleep(self._tick_seconds)

    def _watch(self) -> None:
        while not self._stopped.wait(self._tick_seconds):
            self._missed += 1
            if self._missed > self._allowed:
                self._on_hang()
                return


def tell_service_manager(state: str) -> None:
    """Send a state to systemd (sd_notify), if it started this process and asks for it. Never waits.

    If it can't be sent, systemd notices that by the time, and ends the process as if it hung.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            # A name that begins with @ is in no folder. Python writes it with a zero byte.
            sender.sendto(state.encode(), socket.MSG_DONTWAIT, "\0" + address[1:] if address[0] == "@" else address)
        except OSError as error:
            log.warning("service_manager_not_told", error=type(error).__name__)
