"""Access to the connection itself, which ASGI doesn't offer.

A client must survive a server that closes the connection without an answer, so the sandboxes have to be able to do
that. ASGI can't: if an application sends nothing, the server answers for it. `DroppableProtocol` gives each request its
transport, and `drop_connection` closes it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from starlette.types import ASGIApp, Scope

TRANSPORT = "kirim.sandbox.transport"
GRACE_SECONDS = 0.25
TICK_SECONDS = 1.0
"""How often the date of answers is renewed."""


class Server(uvicorn.Server):
    """uvicorn without its signal handlers: the sandbox stops its servers itself, by `end`.

    uvicorn's own looks ten times a second whether it should end. That is most of what an idle sandbox does.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Let the server end at once."""
        self.should_exit = True
        self._ended.set()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to the sandbox."""
        return nullcontext()

    async def main_loop(self) -> None:
        """Renew the date of answers until the end."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._ended.wait()


class DroppableProtocol(H11Protocol):
    """HTTP/1.1 that adds the transport to each request, and ends waiting requests when the server stops."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  handed on unread
        super().__init__(*args, **kwargs)
        self.app = self._with_transport(self.app)

    def _with_transport(self, app: Any) -> Any:  # noqa: ANN401  uvicorn's and Starlette's types of an app differ
        async def call(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401
            scope.setdefault("extensions", {})[TRANSPORT] = self.transport
            await app(scope, receive, send)

        return call

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Send small answers at once.

        An answer is sent in two pieces. asyncio turns Nagle's algorithm off only for sockets that name their protocol,
        which those of `uvicorn.Config.bind_socket` don't. Each call would take 40 ms.
        """
        connected = transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)

    def shutdown(self) -> None:
        """Stop, and close waiting connections after a moment. Otherwise a long poll would keep the server open."""
        super().shutdown()
        self.loop.call_later(GRACE_SECONDS, self.transport.abort)


async def drop_connection(scope: Scope) -> None:
    """Close the connection of this request without an answer. Anything sent afterwards is lost.

    Raises:
        RuntimeError: the server wasn't configured by `server_config`.
    """
    transport = scope.get("extensions", {}).get(TRANSPORT)
    if transport is None:
        raise RuntimeError("this server can't drop connections: start it with bot.sandbox.wire.server_config")
    transport.abort()
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def server_config(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """Configure uvicorn for a sandbox: quiet, quick to stop, able to drop connections. Port 0 is any free port."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=DroppableProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
        server_header=False,
        lifespan="on",
    )
