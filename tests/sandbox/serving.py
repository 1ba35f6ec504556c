"""Serves an application of the sandbox's kind on loopback, for as long as a block lasts."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from bot.sandbox.wire import server_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def serving(app: Any, port: int = 0) -> AsyncIterator[str]:
    """Serve on `port` (0: a free one); yields the address. Calls that come before it is up wait in the socket."""
    listener = socket.create_server(("127.0.0.1", port))
    port = listener.getsockname()[1]
    server = uvicorn.Server(server_config(app, "127.0.0.1", port))
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task
