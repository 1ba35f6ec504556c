"""What becomes of calls when the tools' server ends."""

import asyncio
import logging

import httpx
import pytest

from tests.integration.agent_http import CALL_HEADERS, call, open_house


async def test_a_call_under_way_is_answered_before_the_end() -> None:
    async with httpx.AsyncClient() as browser:
        async with open_house() as house:
            waiting = asyncio.create_task(browser.post(f"{house.address}/mcp", json=call("wait"), headers=CALL_HEADERS))
            await house.tools.asked.wait()
            asyncio.get_running_loop().call_later(0.2, house.tools.held.set)
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
        async with open_house() as house:
            waiting = asyncio.create_task(browser.post(f"{house.address}/mcp", json=message, headers=headers))
            await asyncio.wait_for(house.tools.asked.wait(), 5)
        answer = await waiting
    assert (answer.status_code, answer.json()) == (503, {"error": "Shutting down"})
    assert "Traceback" not in caplog.text


async def test_idle_connections_hold_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with httpx.AsyncClient() as browser:
        async with open_house() as house:
            await browser.get(f"{house.address}/healthz")
            began = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - began < 0.8
    assert caplog.records == []
