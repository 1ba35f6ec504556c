"""The balancer before the replicas: it passes each connection to a replica that is ready.

It works on connections, and knows nothing of HTTP, as in front of real replicas.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

HOST: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 1.0
WAIT_SECONDS: Final = 10.0
"""How long a connection waits for a replica, such as while all of them are restarted."""
PAUSE_SECONDS: Final = 0.25
_PART: Final = 65_536

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Balancer:
    """Accepts connections, and passes each one to a port.

    Args:
        find_ports: returns the ports of the replicas that are ready, in the order in which to try them.
    """

    def __init__(self, find_ports: Callable[[], Awaitable[list[int]]]) -> None:
        self._find_ports = find_ports
        self._connected: set[tuple[int, asyncio.StreamWriter]] = set()
        self._passing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serve(self, port: int) -> AsyncIterator[int]:
        """Serve on `port` (0 for any free one) in the block, and yield the port. Then close all connections."""
        server = await asyncio.start_server(self._accept, HOST, port)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in self._passing:
                task.cancel()
            await asyncio.gather(*self._passing, return_exceptions=True)

    def cut(self, port: int) -> None:
        """Close the connections to `port`. A frozen replica doesn't answer, and its callers try again elsewhere."""
        for connected, writer in tuple(self._connected):
            if connected == port:
                writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass((reader, writer)))
        self._passing.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._passing.discard(task)
            writer.transport.abort()

    async def _pass(self, caller: Streams) -> None:
        found = await self._connect()
        if found is None:
            return
        port, replica = found
        entry = (port, replica[1])
        self._connected.add(entry)
        asking = asyncio.create_task(_copy(caller[0], replica[1]))
        try:
            # A replica that ends the connection, or is killed, ends it for the caller.
            await _copy(replica[0], caller[1])
        finally:
            asking.cancel()
            self._connected.discard(entry)
            replica[1].transport.abort()

    async def _connect(self) -> tuple[int, Streams] | None:
        """Connect to the first ready replica that accepts. Return None if there is none for `WAIT_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                while True:
                    for port in await self._find_ports():
                        with suppress(OSError, TimeoutError):
                            async with asyncio.timeout(CONNECT_SECONDS):
                                return port, await asyncio.open_connection(HOST, port)
                    await asyncio.sleep(PAUSE_SECONDS)
        return None


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copy until the source ends, then end the target. A lost connection ends it, too."""
    with suppress(ConnectionError):
        while part := await source.read(_PART):
            target.write(part)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
