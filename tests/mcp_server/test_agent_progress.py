"""Progress of a waiting call over http: events of the call's own answer."""

import asyncio
import json
import time
from typing import Any

import httpx
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult

from tests.mcp_server.agent_http import CALL_HEADERS, call, served
from tests.mcp_server.agents_over_http import BCA, MODES, agent_tools, call_tool
from tests.waiting import TIMEOUT_SECONDS

WAIT = "wait_for_offramp_order"


async def _order(client: Any) -> str:
    order = await call_tool(client, "create_offramp_order", **BCA, recipientDetails="0123456789", idrAmount=150_000)
    return str(order["orderId"])


def _wanting_progress(tool: str, **arguments: object) -> dict[str, Any]:
    message = dict(call(tool, **arguments))
    return message | {"params": message["params"] | {"_meta": {"progressToken": "p1"}}}


@pytest.mark.parametrize("mode", MODES)
async def test_a_waiting_client_sees_each_state_over_http(mode: str) -> None:
    reports: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is not None
        assert 0 <= progress <= total
        reports.append(str(message))

    async with agent_tools() as tools, tools.client(mode) as client:
        order_id = await _order(client)
        await tools.service.control("POST", "/pay", orderId=order_id)
        ended = await client.call_tool(WAIT, {"orderId": order_id, "timeoutSeconds": 60}, progress_callback=note)
        assert isinstance(ended, CallToolResult)
        assert (ended.structured_content or {})["state"] == "COMPLETED"
    assert reports[-1].startswith("COMPLETED")
    assert len(reports) > 1


class _Waiting:
    """A tool of the waiting tool's name, which reports progress and then waits for ever."""

    def __init__(self) -> None:
        self.server: MCPServer[Any] = MCPServer(name="probe")
        self.ended = asyncio.Event()
        self.server.add_tool(self.wait, name=WAIT)

    async def wait(self, ctx: Context) -> str:
        await ctx.report_progress(1, 2, "begun")
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"


def _headers(version: str | None) -> dict[str, str]:
    modern = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": WAIT} if version else {}
    return CALL_HEADERS | modern


def _message(version: str | None) -> dict[str, Any]:
    message = _wanting_progress(WAIT)
    if version:
        prefix = "io.modelcontextprotocol/"
        message["params"]["_meta"] |= {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}
    return message


@pytest.mark.parametrize("version", [None, "2026-07-28"])
async def test_a_stream_ends_with_its_caller(version: str | None) -> None:
    tool = _Waiting()
    async with served(tool.server, seconds=time.monotonic) as address, httpx.AsyncClient(base_url=address) as browser:
        request = browser.stream("POST", "/mcp", json=_message(version), headers=_headers(version))
        async with request as answer:
            assert "begun" in await anext(answer.aiter_text())
            assert not tool.ended.is_set()
        await asyncio.wait_for(tool.ended.wait(), TIMEOUT_SECONDS)


@pytest.mark.parametrize("version", [None, "2026-07-28"])
async def test_a_stream_that_the_shutdown_cuts_off_ends_with_an_error(
    caplog: pytest.LogCaptureFixture, version: str | None
) -> None:
    tool = _Waiting()
    begun = asyncio.Event()
    read: list[str] = []

    async def wait(address: str) -> None:
        async with (
            httpx.AsyncClient(base_url=address, timeout=TIMEOUT_SECONDS) as browser,
            browser.stream("POST", "/mcp", json=_message(version), headers=_headers(version)) as answer,
        ):
            async for text in answer.aiter_text():
                read.append(text)
                begun.set()

    async with served(tool.server, seconds=time.monotonic) as address:
        waiting = asyncio.create_task(wait(address))
        await asyncio.wait_for(begun.wait(), TIMEOUT_SECONDS)
    await asyncio.wait_for(waiting, TIMEOUT_SECONDS)
    last = _events("".join(read))[-1]
    assert (last["id"], last["error"]["message"]) == (7, "Shutting down")
    assert tool.ended.is_set()
    assert "Traceback" not in caplog.text


def _events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
