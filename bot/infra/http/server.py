"""The web server's life: it takes its port at the start, serves beside the workers, and lets go of it quickly."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

TRY_EVERY = 0.25
WAITING_CONNECTIONS = 512
ENDS_WITHIN_SECONDS = 1
IDLE_SECONDS = 15
MOST_CONNECTIONS = 700
"""The bot's own connections share the process's limit of open files, often 1,024, and must never want for one."""


class PortTaken(Exception):
    """The web server can't listen where it was told to; the message says why, for whoever runs the bot."""


async def bind(host: str, port: int, *, patience: float = 0) -> socket.socket:
    """Take the port, trying for `patience` seconds: a process that gives up its lead may hold it a moment longer.

    Raises:
        PortTaken: it can't be had.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    while True:
        try:
            return await _bound(host, port)
        except OSError as error:
            if loop.time() >= until:
                raise PortTaken(f"{host} port {port}: {error.strerror or error}") from None
        await asyncio.sleep(TRY_EVERY)


async def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = (
        await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    )[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.setblocking(False)  # noqa: FBT003  the name of it
    except OSError:
        made.close()
        raise
    return made


@asynccontextmanager
async def serving(
    app: ASGIApp, listener: socket.socket, *, ends_within: int = ENDS_WITHIN_SECONDS
) -> AsyncIterator[asyncio.Task[None]]:
    """Serve within the block, in the task that is its value.

    At the block's end answers under way get `ends_within` seconds, and idle connections none.
    """
    server = _Server(_config(app, ends_within))
    # Whoever comes from now on waits for the moment that the server takes to start.
    listener.listen(WAITING_CONNECTIONS)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="web")
    try:
        yield task
    finally:
        server.should_exit = True
        # How it ended is for whoever watches the task: its failure must not hide that of the block.
        await asyncio.wait({task})


def _config(app: ASGIApp, ends_within: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,  # ours removes secrets
        log_level="warning",
        access_log=False,  # addresses of pages are secrets
        proxy_headers=False,
        server_header=False,
        backlog=WAITING_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=ends_within,
    )


class _Server(uvicorn.Server):
    """uvicorn, leaving the signals to the bot."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


class _Connection(H11Protocol):
    """HTTP/1.1 that takes no more connections than can be spared, and none that says nothing, or too little."""

    _head_due: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        # An answer goes out in two pieces, and Nagle's algorithm would hold the second back for 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout_keep_alive_task = self.loop.call_later(IDLE_SECONDS, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Take it in. A request's head has to be whole as soon after its first byte as an idle connection is closed."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_due = None
            return
        self._unset_keepalive_if_required()
        self._head_due = self._head_due or self.loop.time() + IDLE_SECONDS
        self.timeout_keep_alive_task = self.loop.call_at(self._head_due, self.timeout_keep_alive_handler)
