"""The web server. It opens its port at the start, runs with the workers, and closes quickly."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

WAITING_CONNECTIONS = 512
CLOSE_SECONDS = 1
IDLE_SECONDS = 15
MAX_CONNECTIONS = 700
"""The bot's own connections share the process's limit of open files, often 1,024, and must always get one."""


class ReplaceableApp:
    """An ASGI application that can be replaced while it is served."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the current application answer."""
        await self.app(scope, receive, send)


@asynccontextmanager
async def serve(
    app: ASGIApp, listener: socket.socket, *, close_seconds: int = CLOSE_SECONDS, name: str = "web"
) -> AsyncIterator[asyncio.Task[None]]:
    """Serve within the block. Yield the server's task, which has this name.

    At the end of the block, running requests get `close_seconds` seconds and idle connections are closed.
    """
    server = _Server(_config(app, close_seconds))
    # Connections from now on wait in the backlog until the server has started.
    listener.listen(WAITING_CONNECTIONS)
    task = asyncio.create_task(server.serve(sockets=[listener]), name=name)
    try:
        yield task
    finally:
        server.should_exit = True
        # The caller that watches the task handles its failure. It must not replace an exception of the block.
        await asyncio.wait({task})


def _config(app: ASGIApp, close_seconds: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,  # the bot's own logging removes secrets
        log_level="warning",
        access_log=False,  # the pages' addresses are secret
        proxy_headers=False,
        server_header=False,
        backlog=WAITING_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=close_seconds,
    )


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the bot handles signals."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


class _Connection(H11Protocol):
    """HTTP/1.1 with a limit of connections. Connections that send nothing, or too slowly, are closed."""

    _head_due: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        # An answer is sent in two pieces. Nagle's algorithm would delay the second by 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout_keep_alive_task = self.loop.call_later(IDLE_SECONDS, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Receive data. A request's head must be complete within the idle time after its first byte."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_due = None
            return
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        self._head_due = self._head_due or self.loop.time() + IDLE_SECONDS
        self.timeout_keep_alive_task = self.loop.call_at(self._head_due, self.timeout_keep_alive_handler)
