"""Running calls when the tools' server stops."""

import asyncio

import httpx
import pytest
import uvicorn

from tests.mcp_server.agent_http import CALL_HEADERS, ToolServer, call, open_tool_server
from tests.waiting import TIMEOUT_SECONDS

FOR_EVER = int(10 * TIMEOUT_SECONDS)


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return the event that is set once the closed server waits for calls. Other processes can soon have its port."""
    begun, wait = asyncio.Event(), uvicorn.Server._wait_tasks_to_complete

    async def observed(made: uvicorn.Server) -> None:
        begun.set()
        await wait(made)

    monkeypatch.setattr(uvicorn.Server, "_wait_tasks_to_complete", observed)
    return begun


async def test_a_call_under_way_is_answered_before_the_end(closing: asyncio.Event) -> None:
    async def answers_once_the_end_has_begun(tool_server: ToolServer) -> None:
        await closing.wait()
        tool_server.tools.may_end.set()

    async with asyncio.timeout(TIMEOUT_SECONDS), httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as browser:
        async with open_tool_server(ends_within=FOR_EVER) as tool_server:
            waiting = asyncio.create_task(
                browser.post(f"{tool_server.address}/mcp", json=call("wait"), headers=CALL_HEADERS)
            )
            await tool_server.tools.has_started.wait()
            late = asyncio.create_task(answers_once_the_end_has_begun(tool_server))
        await late
        assert (await waiting).json()["result"]["structuredContent"] == {"result": "late"}


@pytest.mark.parametrize("version", [None, "2026-07-28"])
async def test_a_call_that_the_end_cuts_off_is_told_so(caplog: pytest.LogCaptureFixture, version: str | None) -> None:
    headers = CALL_HEADERS | ({"mcp-protocol-version": version, "mcp-method": "tools/call"} if version else {})
    message = dict(call("wait"))
    if version:
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers["mcp-name"] = "wait"
        message["params"] = message["params"] | {"_meta": meta}
    async with httpx.AsyncClient() as browser:
        async with open_tool_server() as tool_server:
            waiting = asyncio.create_task(browser.post(f"{tool_server.address}/mcp", json=message, headers=headers))
            await asyncio.wait_for(tool_server.tools.has_started.wait(), TIMEOUT_SECONDS)
        answer = await waiting
    assert (answer.status_code, answer.json()) == (503, {"error": "Shutting down"})
    assert "Traceback" not in caplog.text
