"""Wake-ups between the processes on one PostgreSQL: who saves work for another process tells it at once.

They are only a matter of speed. Every process also looks for work regularly, so a lost wake-up costs a second.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it has no types
import structlog

from bot.core.backoff import Backoff
from bot.infra.db.address import Address
from bot.infra.db.engine import CONNECT_SECONDS, PROGRAM_NAME, build_connect_args
from bot.infra.db.errors import translate_connection_error

log = structlog.get_logger(__name__)

CHANNEL: Final = "kirim"
PAUSE_SECONDS: Final = 0.05
"""The least time between two notifications of a process. The wake-ups in between are sent together."""

MAX_NAMES: Final = 100
"""How many names one notification has. PostgreSQL allows 8,000 bytes."""

MAX_WAITING: Final = 1_000
"""How many names wait, for example until the connection is back. More are dropped."""

CHECK_SECONDS: Final = 10.0
"""How often the connection is checked."""

RECONNECT: Final = Backoff(first=0.5, longest=10.0)
BROKEN: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, TimeoutError)
"""The errors of a lost connection. asyncpg raises the last but one when the server ends an idle connection."""


class SharedWakeups:
    """Sends the names of wake-ups to the other processes, and calls `wake` with those that arrive.

    Args:
        address: the database.
        owner: the random id of this process, which ignores its own wake-ups.
        wake: called with each name that arrives. It gets "*" after a reconnection, when any could have been missed.
    """

    def __init__(self, address: Address, owner: str, wake: Callable[[str], None]) -> None:
        self._address = address
        self._owner = owner
        self._wake = wake
        self._names: set[str] = set()
        self._has_names = asyncio.Event()

    def send(self, name: str) -> None:
        """Send a wake-up to the other processes soon."""
        if len(self._names) < MAX_WAITING:
            self._names.add(name)
            self._has_names.set()

    async def run(self) -> None:
        """Send and receive until cancelled. Connect again after a loss."""
        failures = 0
        while True:
            try:
                connection = await self._connect()
            except BROKEN as error:
                failures += 1
                log.warning("wakeups_unavailable", error=str(translate_connection_error(error)))
                await asyncio.sleep(RECONNECT.after(failures))
                continue
            failures = 0
            self._wake("*")
            try:
                await self._send_all(connection)
            except BROKEN as error:
                log.warning("wakeups_unavailable", error=str(translate_connection_error(error)))
            finally:
                # This doesn't wait for a server that may be gone.
                connection.terminate()

    async def _connect(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(
            **build_connect_args(self._address, CONNECT_SECONDS, application_name=f"{PROGRAM_NAME} wakeups")
        )
        connection.add_termination_listener(lambda _: self._has_names.set())
        await connection.add_listener(CHANNEL, self._receive)
        return connection

    async def _send_all(self, connection: asyncpg.Connection) -> None:
        while True:
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._has_names.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")
                continue
            self._has_names.clear()
            # The names of loops are short. They come before those of pages and users, of which there can be many.
            names = sorted(self._names, key=lambda name: (len(name), name))[:MAX_NAMES]
            self._names.difference_update(names)
            try:
                await connection.execute(f"SELECT pg_notify('{CHANNEL}', $1)", " ".join((self._owner, *names)))
            except BROKEN:
                self._names.update(names)
                raise
            if self._names:
                self._has_names.set()
            await asyncio.sleep(PAUSE_SECONDS)

    def _receive(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:  # noqa: ANN401  asyncpg has no types
        owner, *names = payload.split()
        for name in names if owner != self._owner else ():
            self._wake(name)
