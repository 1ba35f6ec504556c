"""The tools over http as a process: its settings, shutdown, a kill, and the log."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import MCPError

from bot.sandbox.run import SandboxOptions, servers
from tests.e2e.processes.tool_server import TOKEN, ToolServer, running_tool_server, tool_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEARER = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "accept": "application/json"}
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA"}
NUMBER, HOLDER = "0987650432", "Wulandari Kusumaningrum"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """Yield the address of a settlement service."""
    state = tmp_path_factory.mktemp("servers")
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0)) as addresses:
        yield addresses.service


async def test_it_ends_within_seconds_whoever_is_connected_or_waits(tmp_path: Path, service: str) -> None:
    started = running_tool_server(tmp_path, tool_settings(service), cold=True)
    async with started as tools, tools.client("legacy") as client, AsyncExitStack() as connected:
        order = await _order(client)
        _, silent = await asyncio.open_connection("127.0.0.1", int(tools.address.rpartition(":")[2]))
        connected.callback(silent.close)
        waiting = asyncio.create_task(client.call_tool("wait_for_offramp_order", {"orderId": order["orderId"]}))
        await tools.browser.get("/healthz")
        assert await tools.program.ends_on(signal.SIGTERM) == 0
        with pytest.raises(MCPError):
            await waiting
        said = tools.program.log.read_text()
        assert '"event": "server_stopped"' in said
        assert "Traceback" not in said


async def _order(client: Any, amount: int = 123_456) -> dict[str, Any]:
    order_input = BCA | {"recipientDetails": NUMBER, "bankAccountName": HOLDER, "idrAmount": amount}
    result = await client.call_tool("create_offramp_order", order_input)
    assert not result.is_error, result.content
    made: dict[str, Any] = result.structured_content
    return made


async def test_no_log_names_a_recipient_whatever_went_wrong(tmp_path: Path, service: str) -> None:
    settings = tool_settings(service, SERVICE_MCP_LOG_LEVEL="debug", SERVICE_MCP_RATE_LIMIT_PER_MINUTE="1000")
    async with running_tool_server(tmp_path, settings) as tools:
        # Different amounts in each mode: the tools reject the same order a second time.
        for mode, amount in (("legacy", 123_456), ("2026-07-28", 123_457)):
            async with tools.client(mode) as client:
                order = await _order(client, amount)
                await _everything_goes_wrong(tools, client, service, amount * 2)
        await tools.program.ends_on(signal.SIGTERM)
        said = tools.program.log.read_text()
    personal = [NUMBER, *HOLDER.split(), order["bolt11"], "123456", "123457"]
    secrets = [TOKEN, settings["SERVICE_API_KEY"].partition(".")[2]]
    assert [found for found in personal + secrets if found.lower() in said.lower()] == []
    events = {json.loads(line)["event"] for line in said.splitlines()}
    assert {
        "server_started",
        "request_rejected",
        "order_created",
        "settlement_request_failed",
        "server_stopped",
    } <= events


async def _everything_goes_wrong(tools: ToolServer, client: Any, service: str, amount: int) -> None:
    """Send number and name wherever a model or its client might put them."""
    order_input = BCA | {"recipientDetails": NUMBER, "bankAccountName": HOLDER, "idrAmount": 123_456}
    async with httpx.AsyncClient(base_url=service) as control_client:
        for number, fault in enumerate(("500_after", "truncated", "400"), start=1):
            given = {"fault": fault, "method": "POST", "times": 1, "error": f"no {NUMBER} of {HOLDER}"}
            (await control_client.post("/control/faults", json=given)).raise_for_status()
            await client.call_tool("create_offramp_order", order_input | {"idrAmount": amount + 10 * number})
        (await control_client.delete("/control/faults")).raise_for_status()
    for tool, arguments in (
        ("create_offramp_order", order_input | {"recipientDetails": int(NUMBER), "idrAmount": "123456.5"}),
        ("create_offramp_order", order_input | {HOLDER: NUMBER}),
        ("create_offramp_order", {NUMBER: HOLDER}),
        ("get_offramp_order", {"orderId": NUMBER}),
        ("get_offramp_order", {"orderId": HOLDER}),
        ("wait_for_offramp_order", {"orderId": f"{HOLDER}/{NUMBER}", "timeoutSeconds": 1}),
        ("list_offramp_orders", {"limit": HOLDER}),
        (f"{HOLDER} {NUMBER}", order_input),
    ):
        await client.call_tool(tool, arguments)
    for asking in (
        client.get_prompt("send_rupiah", {HOLDER: NUMBER, "amount": NUMBER}),
        client.get_prompt(HOLDER, {}),
        client.read_resource(f"kirim://orders/{NUMBER}"),
        client.read_resource(f"kirim://{NUMBER}"),
    ):
        try:
            await asking
        except MCPError:
            continue
    for body in (f'{{"{HOLDER}": "{NUMBER}"', json.dumps({"jsonrpc": "2.0", "id": NUMBER, "method": HOLDER})):
        await tools.browser.post("/mcp", content=body, headers=BEARER)
        await tools.browser.post("/mcp", content=body, headers=BEARER | {"mcp-method": HOLDER, "mcp-name": NUMBER})
        await tools.browser.post(f"/mcp/{NUMBER}", content=body, headers={"authorization": f"Bearer {NUMBER}"})
        await tools.browser.post("/mcp", content=body, headers=BEARER | {"origin": f"https://{NUMBER}.example"})
    notification = {"jsonrpc": "2.0", "method": HOLDER, "params": {"requestId": NUMBER}}
    await tools.browser.post("/mcp", json=notification, headers=BEARER)
