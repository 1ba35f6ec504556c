"""Serves a sandbox application on loopback within a block."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bot.sandbox.wire import Server, server_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def serving(app: Any, port: int = 0) -> AsyncIterator[str]:
    """Serve on `port` (0 for any free one), and yield the address. Early calls wait in the socket."""
    listener = socket.create_server(("127.0.0.1", port))
    port = listener.getsockname()[1]
    server = Server(server_config(app, "127.0.0.1", port))
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.end()
        await task
