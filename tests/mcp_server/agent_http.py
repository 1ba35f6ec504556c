"""The http transport of the agent tool server on a loopback port, with tools that can be delayed, and a test clock."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server.mcpserver import MCPServer

from bot.infra.http import ports
from bot.infra.http import server as web
from bot.mcp_server.http import running_app
from tests.waiting import TIMEOUT_SECONDS

TOKEN = "wG7pXkq2sVd4yB0nTz-3fLr8hJc5mE_aUo1QvSiN6Kw"
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL_HEADERS = {
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


class Tools:
    """A server whose tools answer, wait, or fail."""

    def __init__(self) -> None:
        self.may_end, self.has_started = asyncio.Event(), asyncio.Event()
        self.server: MCPServer[Any] = MCPServer(name="Tools of a test", version="1.2.3")
        for tool in (self.repeat, self.wait):
            self.server.add_tool(tool)

    async def repeat(self, text: str) -> str:
        """Repeat the text."""
        return text

    async def wait(self) -> str:
        """Answer late."""
        self.has_started.set()
        await self.may_end.wait()
        return "late"


@dataclass(slots=True)
class Clock:
    """The clock of the rate limit."""

    now: float = 1000.0

    def seconds(self) -> float:
        return self.now


@dataclass(slots=True)
class ToolServer:
    """The running server and its HTTP client."""

    tools: Tools
    clock: Clock
    address: str
    browser: httpx.AsyncClient

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    async def calls(
        self, body: object = LIST_TOOLS, *, content: bytes | None = None, **headers: str | None
    ) -> httpx.Response:
        """Send POST /mcp as a client does. A header that is None is left out."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        kept = {name: value for name, value in (CALL_HEADERS | given).items() if value is not None}
        return await self.browser.post("/mcp", content=json.dumps(body) if content is None else content, headers=kept)

    async def says(self, raw: bytes) -> bytes:
        """Write exactly these bytes. Return everything until the connection is closed or one answer is complete."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(raw)
            await writer.drain()
            return await asyncio.wait_for(reader.read(65_536), TIMEOUT_SECONDS)
        finally:
            writer.close()


@asynccontextmanager
async def open_tool_server(
    *, allowed: tuple[str, ...] = (), per_minute: int = 1000, ends_within: int = 1
) -> AsyncIterator[ToolServer]:
    """Serve on a free port within the block."""
    tools, clock = Tools(), Clock()
    serving = served(
        tools.server, allowed=allowed, per_minute=per_minute, seconds=clock.seconds, ends_within=ends_within
    )
    async with serving as address, httpx.AsyncClient(base_url=address) as browser:
        yield ToolServer(tools, clock, address, browser)


@asynccontextmanager
async def served(
    server: MCPServer[Any],
    *,
    allowed: tuple[str, ...] = (),
    per_minute: int = 1000,
    seconds: Callable[[], float],
    ends_within: int = 1,
) -> AsyncIterator[str]:
    """Serve these tools on a free port. Yield the server's address."""
    application = running_app(server, token=TOKEN, allowed_hosts=allowed, per_minute=per_minute, seconds=seconds)
    listener = await ports.bind("127.0.0.1", 0)
    opened, stop = asyncio.Event(), asyncio.Event()

    async def serve() -> None:
        async with application as app, web.serve(app, listener, close_seconds=ends_within):
            opened.set()
            await stop.wait()

    # A separate task: a fixture can end in another task than it began in, which the SDK doesn't support.
    serving = asyncio.create_task(serve())
    await opened.wait()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stop.set()
        await serving


def call(tool: str, **arguments: object) -> Mapping[str, Any]:
    """Return the request that calls a tool."""
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
