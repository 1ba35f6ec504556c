"""Ends a process whose event loop hangs, so that the service manager starts it again.

A blocked loop can neither answer nor keep a lease, and can't be stopped from within. So a thread watches it.
"""

import asyncio
import faulthandler
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

log = structlog.get_logger(__name__)

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
