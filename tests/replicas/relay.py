"""TCP relays between one replica and its servers, which can stall or cut it off.

A stalled relay keeps its connections open and passes no byte, as when the network between two machines fails. The relay
to PostgreSQL also knows the server's processes (backends) of its replica. The relay to Telegram lists the replica's
calls.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qs

from sqlalchemy import URL, make_url

HOST = "127.0.0.1"
CHUNK = 65_536
POSTGRESQL_PORT = 5432
BACKEND_KEY = re.compile(rb"K\x00\x00\x00\x0c([\s\S]{4})")
"""The message in which PostgreSQL tells a client the id of its process: the kind, the length, and the id."""

LATEST_KEY = 4096
"""Bytes of a connection's first answers in which the message is."""

HEAD = re.compile(rb"POST /bot[^/ ]+/(\w+)[^\r\n]*\r\n([\s\S]*?)\r\n\r\n")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
CHAT_IN_FORM = re.compile(rb'name="chat_id"\r\n(?:[^\r\n]+\r\n)*\r\n(-?\d+)')

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Watch = Callable[[bytes], None]


class Relay:
    """A port on this machine that passes connections to a server."""

    def __init__(self, connect: Callable[[], Awaitable[Streams]]) -> None:
        self._connect = connect
        self._server: asyncio.Server | None = None
        self._passes = asyncio.Event()
        self._passes.set()
        self._refuses = False
        self._open: dict[asyncio.Task[None], tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = {}

    async def start(self) -> int:
        """Listen on a free port, and return it."""
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        self.cut()
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def stall(self) -> None:
        """Pass nothing from now on. Connections stay open, and new ones are accepted."""
        self._passes.clear()

    def resume(self) -> None:
        """Pass everything again, also what was held back."""
        self._refuses = False
        self._passes.set()

    def refuse(self) -> None:
        """Close the connections, and new ones as soon as they are opened, as if the server had ended."""
        self._refuses = True
        self.cut()

    def cut(self) -> None:
        """Close the connections at once. New ones are accepted."""
        for client, server in self._open.values():
            for writer in (client, server):
                writer.transport.abort()

    def watch_requests(self) -> Watch:
        """Return what is called with each part that the replica sends on a new connection."""
        return _ignore

    def watch_answers(self) -> Watch:
        """Return what is called with each part that the server sends on a new connection."""
        return _ignore

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            await self._passes.wait()
            if self._refuses:
                raise ConnectionRefusedError
            there, back = await self._connect()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
            return
        self._open[task] = writer, back
        try:
            await asyncio.gather(
                self._pass(reader, back, self.watch_requests()), self._pass(there, writer, self.watch_answers())
            )
        except asyncio.CancelledError:  # asyncio's server logs a cancelled connection as an error
            pass
        finally:
            del self._open[task]
            for end in (writer, back):
                end.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, watch: Watch) -> None:
        with suppress(OSError):
            while data := await source.read(CHUNK):
                await self._passes.wait()
                watch(data)
                target.write(data)
                await target.drain()
        await self._passes.wait()  # the end of a connection doesn't pass a broken network either
        with suppress(OSError):
            target.close()


class PostgresqlRelay(Relay):
    """A relay to the server of a database, over TCP or over the socket in a folder."""

    def __init__(self, database: str) -> None:
        self._database = make_url(database)
        super().__init__(self._reach)
        self.backends: set[int] = set()
        """The ids of all processes that ever served the replica."""

    def url(self, port: int) -> str:
        """Return the database's URL through the relay."""
        through: URL = self._database.set(host=HOST, port=port).difference_update_query(["host", "port"])
        return through.render_as_string(hide_password=False)

    def watch_answers(self) -> Watch:
        """Find the id of the server's process among the first answers."""
        first = bytearray()

        def watch(data: bytes) -> None:
            if len(first) < LATEST_KEY:
                first.extend(data)
                if key := BACKEND_KEY.search(first):
                    self.backends.add(int.from_bytes(key[1], "big"))
                    first.extend(bytes(LATEST_KEY))

        return watch

    async def _reach(self) -> Streams:
        query = self._database.query
        host = str(query.get("host", self._database.host or HOST))
        port = int(str(query.get("port", self._database.port or POSTGRESQL_PORT)))
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the Bot API to a chat. `at` is in Unix seconds."""

    at: float
    method: str
    chat_id: int


class TelegramRelay(Relay):
    """A relay to the sandbox's Telegram, without TLS."""

    def __init__(self, port: int) -> None:
        super().__init__(lambda: asyncio.open_connection(HOST, port))
        self.calls: list[Call] = []

    def watch_requests(self) -> Watch:
        """List the calls that name a chat."""
        unread = bytearray()

        def watch(data: bytes) -> None:
            unread.extend(data)
            while head := HEAD.search(unread):
                length = LENGTH.search(head[2])
                end = head.end() + int(length[1] if length else 0)
                if len(unread) < end:
                    return
                body = bytes(unread[head.end() : end])
                chat_id = _find_chat_id(body)
                if chat_id is not None:
                    self.calls.append(Call(time.time(), head[1].decode(), chat_id))
                del unread[:end]

        return watch


def _find_chat_id(body: bytes) -> int | None:
    if in_form := CHAT_IN_FORM.search(body):
        return int(in_form[1])
    if body.startswith(b"--"):
        return None
    found = parse_qs(body.decode("latin-1")).get("chat_id", [""])[0]
    return int(found) if found.lstrip("-").isdigit() else None


def _ignore(_: bytes) -> None:
    """Do nothing."""
