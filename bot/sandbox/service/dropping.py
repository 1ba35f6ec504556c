"""How a connection is closed without an answer: ASGI has no word for it, so the server lends its transport.

Raising would make a 500 of it, and cutting a body short would still be an answer. Here the client sees what it sees
when a line goes dead: nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.sandbox.service.errors import ConnectionDropped

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope

_LENT: Final = "transport"


class DroppingProtocol(H11Protocol):
    """uvicorn's protocol, which puts the connection's transport into `scope["state"]`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Lend the transport to all requests of this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _LENT: transport}


def server_config(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """How to serve the sandbox so that drops are drops; its own request log replaces the access log.

    Args:
        app: of `create_app`.
        host: where to listen.
        port: 0 for any that is free.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=DroppingProtocol,
        lifespan="on",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=2,
    )


async def drop(scope: Scope, receive: Receive) -> None:
    """Close the request's connection, now and without a word.

    Raises:
        ConnectionDropped: the app was called without a server of `server_config`.
    """
    transport = scope.get("state", {}).get(_LENT)
    if not isinstance(transport, asyncio.Transport):
        raise ConnectionDropped("the sandbox dropped the connection on purpose")
    transport.abort()
    # Only once uvicorn knows that the line is dead will it not make a 500 of the missing answer.
    while (await receive())["type"] != "http.disconnect":
        pass
