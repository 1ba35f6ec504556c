"""A caller who hangs up is noticed, and calls that only read end then."""

import asyncio
import json
import time

from mcp.server.mcpserver import MCPServer

from bot.mcp_server.orders import has_hung_up
from tests.mcp_server.agent_http import TOKEN, served
from tests.waiting import TIMEOUT_SECONDS


def call_of(tool: str) -> bytes:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    ).encode()
    head = (
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


async def test_a_tool_knows_whether_its_caller_has_hung_up() -> None:
    server: MCPServer = MCPServer(name="probe")
    began, hung_up = asyncio.Event(), asyncio.Event()
    seen: list[bool] = []

    async def probe() -> str:
        seen.append(has_hung_up())
        began.set()
        while not has_hung_up():  # noqa: ASYNC110  what is tested is the answer itself
            await asyncio.sleep(0.01)
        seen.append(has_hung_up())
        hung_up.set()
        return "done"

    server.add_tool(probe)
    async with served(server, per_minute=100, seconds=time.monotonic) as address:
        host, port = address.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(call_of("probe"))
        await writer.drain()
        await asyncio.wait_for(began.wait(), TIMEOUT_SECONDS)
        writer.close()
        await asyncio.wait_for(hung_up.wait(), TIMEOUT_SECONDS)
    assert seen == [False, True]


def test_over_stdio_nobody_hangs_up() -> None:
    assert not has_hung_up()
