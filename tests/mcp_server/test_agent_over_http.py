"""The official client against Kirim's tools over http."""

import asyncio
import base64
from datetime import timedelta

import httpx
import pytest
from mcp import MCPError

from bot.mcp_server.server import ICON_FILE, TITLE
from bot.settlement.transport import MAX_CONNECTIONS
from tests.mcp_server.agent_http import CALL_HEADERS, LIST_TOOLS
from tests.mcp_server.agents_over_http import BCA, MODES, agent_tools, call_tool, refused
from tests.waiting import TIMEOUT_SECONDS

DOCUMENTED = {
    "get_btc_idr_quote",
    "list_payout_methods",
    "get_deposit_rails",
    "get_platform_stats",
    "create_offramp_order",
    "get_offramp_order",
    "list_offramp_orders",
}
MANY = MAX_CONNECTIONS + 10
"""Calls at once, of which some wait for a connection to the service."""
A_MINUTE = timedelta(seconds=60)


@pytest.mark.parametrize("mode", MODES)
async def test_the_documented_flow_in_every_era_of_the_protocol(mode: str) -> None:
    async with agent_tools() as tools, tools.client(mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= DOCUMENTED
        methods = (await call_tool(client, "list_payout_methods"))["methods"]
        assert {"bankCode": "014", "bankName": "BANK CENTRAL ASIA", "kind": "bank"}.items() <= methods[0].items()
        order = await call_tool(client, "create_offramp_order", **BCA, recipientDetails="0123456789", idrAmount=150_000)
        assert order["bolt11"].startswith("lnbcrt")
        assert (await call_tool(client, "get_offramp_order", orderId=order["orderId"]))["isTerminal"] is False
        await tools.service.control("POST", "/pay", orderId=order["orderId"])
        tools.service.clock.now += A_MINUTE
        assert (await call_tool(client, "get_offramp_order", orderId=order["orderId"]))["state"] == "COMPLETED"
        assert [row["id"] for row in (await call_tool(client, "list_offramp_orders"))["orders"]] == [order["orderId"]]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_is_told_whom_it_talks_to(mode: str) -> None:
    async with agent_tools() as tools, tools.client(mode) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("kirim", "1.2.3")
        assert "list_payout_methods first" in (client.instructions or "")
        assert client.server_info.title == TITLE
        [icon] = client.server_info.icons or []
        assert base64.b64decode(icon.src.removeprefix("data:image/svg+xml;base64,")) == ICON_FILE.read_bytes()


async def test_a_call_that_brings_nothing_is_told_in_words_and_makes_no_order() -> None:
    async with agent_tools() as tools, tools.client() as client:
        text = await refused(client, "create_offramp_order", **BCA, recipientDetails="12-34", idrAmount=150_000)
        assert "12-34" not in text
        assert await tools.service.orders_made() == 0


async def test_what_is_asked_for_and_not_there_is_the_clients_mistake() -> None:
    async with agent_tools() as tools, tools.client() as client:
        for arguments in ({}, {"wish": "x"}):
            with pytest.raises(MCPError) as raised:
                await client.get_prompt("no_such_prompt", arguments)
            assert raised.value.error.code == -32602
        with pytest.raises(MCPError) as raised:
            await client.read_resource("kirim://nothing")
        assert raised.value.error.code == -32602


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_without_the_bearer_doesnt_get_in(mode: str) -> None:
    async with agent_tools() as tools:
        with pytest.raises((MCPError, httpx.HTTPError, ExceptionGroup)):
            async with tools.client(mode, token="wrong") as client:
                await client.list_tools()
        assert await tools.service.list_requests("GET", "/v1/payout/methods") == []


async def test_a_client_that_asks_too_often_is_told_and_can_go_on_later() -> None:
    async with agent_tools(per_minute=4) as tools, tools.client("2026-07-28") as client:
        for _ in range(4):
            await client.list_tools()
        with pytest.raises(MCPError):
            await client.list_tools()
        tools.service.clock.now += A_MINUTE
        await client.list_tools()


async def test_more_calls_than_connections_wait_for_a_slow_service_and_nobody_else_does() -> None:
    async with agent_tools() as tools, tools.client() as client:
        await call_tool(client, "list_payout_methods")
        await tools.service.fault("delay", method="GET", path="/v1/offramp/orders", seconds=1, times=None)
        calls = [asyncio.create_task(call_tool(client, "list_offramp_orders", limit=1)) for _ in range(MANY)]
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            httpx.AsyncClient(base_url=tools.address, timeout=TIMEOUT_SECONDS) as browser,
        ):
            assert (await browser.get("/healthz")).json()["ok"] is True
            assert (await browser.post("/mcp", json=LIST_TOOLS, headers=CALL_HEADERS)).status_code == 200
            await call_tool(client, "list_payout_methods")
        assert not any(call.done() for call in calls)
        tools.go_on.set()
        assert await asyncio.gather(*calls) == [{"orders": [], "warnings": []}] * MANY
