"""A server made of bare sockets, so that tests can produce every possible answer of a network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived, and the number of its connection."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int


Behaviour = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def answers(status: int, body: bytes | str | object = b"", **headers: str) -> Behaviour:
    """Send a whole HTTP answer. A body that isn't bytes or text is sent as JSON. Header names have _ for -."""
    content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return sends("\r\n".join([*lines, "", ""]).encode() + content)


def sends(data: bytes, *, close: bool = False) -> Behaviour:
    """Send exactly these bytes."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return behave


def closes() -> Behaviour:
    """Close the connection in an orderly way, without an answer."""
    return sends(b"", close=True)


def resets(beginning: bytes = b"") -> Behaviour:
    """Reset the connection, after the beginning of an answer."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await asyncio.sleep(0.05 if beginning else 0)  # what was sent can be read before the reset
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def hangs() -> Behaviour:
    """Never answer."""

    async def behave(_: Request, __: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return behave


def dribbles(beginning: bytes) -> Behaviour:
    """Send a byte every few milliseconds forever: never silent, never done."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.005)

    return behave


@dataclass(slots=True)
class RawServer:
    """Answer requests with the scripted behaviours, one each. The last one repeats. `tls` has its certificate."""

    script: list[Behaviour]
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    was_requested: asyncio.Event = field(default_factory=asyncio.Event)
    connections: int = 0
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Return the base address."""
        return f"https://localhost:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"

    def seen(self, method: str) -> list[Request]:
        """Return the requests of one method, in order."""
        return [request for request in self.requests if request.method == method]

    def close_connections(self) -> None:
        """Close every connection, with what may have arrived on it unread."""
        for writer in self._writers:
            writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._writers.append(writer)
        self.connections += 1
        number = self.connections
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                request = await _read_request(reader, number)
                self.requests.append(request)
                self.was_requested.set()
                behave = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                await behave(request, writer)
        writer.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body, connection)


@contextlib.asynccontextmanager
async def raw_server(*script: Behaviour, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """Yield a running server."""
    async with RawServer(list(script), tls) as server:
        yield server
