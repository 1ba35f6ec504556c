"""The tools over http as a process: its settings, shutdown, a kill, and the log."""

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import MCPError
from mcp_types import CallToolResult

from bot.sandbox.run import SandboxOptions, servers
from tests.e2e.processes.tool_server import TOKEN, ToolServer, running_tool_server, tool_settings
from tests.e2e.programs import ROOT, run_program
from tests.ports import free_port
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEARER = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "accept": "application/json"}
QUOTE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_btc_idr_quote"}}
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA"}
NUMBER, HOLDER = "0987650432", "Wulandari Kusumaningrum"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """Yield the address of a settlement service."""
    state = tmp_path_factory.mktemp("servers")
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0)) as addresses:
        yield addresses.service


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a machine has one loopback address only")
async def test_every_variable_of_http_is_kept_to(tmp_path: Path, service: str) -> None:
    port, other = free_port(), free_port()
    settings = tool_settings(
        service,
        SERVICE_MCP_HOST="127.0.0.2",
        SERVICE_MCP_PORT=str(other),
        PORT=str(port),
        SERVICE_MCP_ALLOWED_HOSTS="tools.example, 127.0.0.2",
        SERVICE_MCP_RATE_LIMIT_PER_MINUTE="2",
        SERVICE_MCP_NAME="Rupiah of a test",
        SERVICE_MCP_LOG_LEVEL="DEBUG",
    )
    async with running_tool_server(tmp_path, settings, host="127.0.0.2", port=port) as tools:
        assert (await tools.browser.get("/healthz")).json()["name"] == "Rupiah of a test"
        assert (await tools.browser.get("/healthz", headers={"host": "tools.example:443"})).status_code == 200
        assert (await tools.browser.get("/healthz", headers={"host": "kirim.example"})).status_code == 403
        asked = [await tools.browser.post("/mcp", json=QUOTE, headers=BEARER) for _ in range(3)]
        assert [answer.status_code for answer in asked] == [200, 200, 429]
        assert 0 < int(asked[-1].headers["retry-after"]) <= 60
        for host, closed in (("127.0.0.1", port), ("127.0.0.2", other)):
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(host, closed)
        assert '"level": "debug"' in tools.program.log.read_text()


async def test_a_quiet_server_says_nothing_of_what_it_refuses(tmp_path: Path, service: str) -> None:
    async with running_tool_server(tmp_path, tool_settings(service, SERVICE_MCP_LOG_LEVEL="warn")) as tools:
        assert (await _soon(tools.browser)).status_code == 401
        await tools.program.ends_on(signal.SIGTERM)
        assert tools.program.log.read_text() == ""


async def test_a_token_that_can_be_guessed_is_warned_of_on_this_machine(tmp_path: Path, service: str) -> None:
    weak = "kirim-secret-token"
    async with running_tool_server(tmp_path, tool_settings(service, SERVICE_MCP_HTTP_TOKEN=weak)) as tools:
        assert (await _soon(tools.browser)).status_code == 401
        said = tools.program.log.read_text()
    assert "bearer_token_weak" in said
    assert "secrets.token_urlsafe(32)" in said
    assert weak not in said


async def _soon(browser: httpx.AsyncClient) -> httpx.Response:
    """Return the answer to a call without a token, as soon as the server answers."""

    async def call_tool() -> httpx.Response | None:
        try:
            return await browser.post("/mcp")
        except httpx.ConnectError:
            return None

    answer = await found(call_tool, lambda got: got is not None, what="an answer")
    assert answer is not None
    return answer


async def test_settings_that_dont_do_end_the_start_and_are_named_at_once(tmp_path: Path, service: str) -> None:
    bad = {
        "SERVICE_MCP_HTTP_TOKEN": "tell nobody",
        "SERVICE_MCP_PORT": "70000",
        "PORT": "http",
        "SERVICE_MCP_ALLOWED_HOSTS": "https://tools.example/",
        "SERVICE_MCP_RATE_LIMIT_PER_MINUTE": "0",
        "SERVICE_MCP_LOG_LEVEL": "loud",
    }
    for ended, named in zip(
        await asyncio.gather(
            run_program(tmp_path, "mcp", environment=tool_settings(service) | bad),
            run_program(
                tmp_path,
                "mcp",
                environment=tool_settings(service, SERVICE_MCP_HTTP_TOKEN="", SERVICE_MCP_ALLOWED_HOSTS=" , "),
            ),
            run_program(tmp_path, "mcp", environment=tool_settings(service, SERVICE_MCP_TRANSPORT="carrier-pigeon")),
        ),
        (set(bad), {"SERVICE_MCP_HTTP_TOKEN", "SERVICE_MCP_ALLOWED_HOSTS"}, {"SERVICE_MCP_TRANSPORT"}),
        strict=True,
    ):
        assert ended.code == 2
        assert {line.partition(":")[0].strip() for line in ended.err.splitlines()[1:]} == named
        assert not any(never in ended.out + ended.err for never in ("Traceback", "tell nobody", TOKEN))


async def test_a_port_that_is_taken_ends_the_start_with_one_line(tmp_path: Path, service: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = await run_program(tmp_path, "mcp", environment=tool_settings(service, PORT=str(port)))
    assert ended.code == 2
    assert ended.err.splitlines()[-1] == (
        "Kirim can't open its port (SERVICE_MCP_HOST, SERVICE_MCP_PORT, PORT): "
        f"127.0.0.1 port {port}: Address already in use"
    )
    assert "Traceback" not in ended.err


async def test_a_host_that_isnt_ours_ends_the_start_likewise(tmp_path: Path, service: str) -> None:
    ended = await run_program(tmp_path, "mcp", environment=tool_settings(service, SERVICE_MCP_HOST="203.0.113.9"))
    assert ended.code == 2
    assert "203.0.113.9 port 3333: " in ended.err
    assert "Traceback" not in ended.err


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


@pytest.mark.parametrize(("hosts", "healthy"), [("", True), ("tools.example, [::1]:3333", True), (None, False)])
async def test_the_health_check_of_the_containers_asks_as_it_must(
    tmp_path: Path, service: str, hosts: str | None, *, healthy: bool
) -> None:
    written = (ROOT / "compose.yaml").read_text(encoding="utf-8").split("kirim-mcp")[1]
    kind, python, *arguments = json.loads(re.findall(r"test: (\[.*\])", written)[0])
    assert (kind, python) == ("CMD", "python")
    settings = tool_settings(service, SERVICE_MCP_PORT=str(free_port()), SERVICE_MCP_ALLOWED_HOSTS=hosts or "")
    async with AsyncExitStack() as stack:
        if hosts is not None:
            await stack.enter_async_context(running_tool_server(tmp_path, settings))
        check = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env=settings, stderr=asyncio.subprocess.DEVNULL
        )
        assert (await check.wait() == 0) is healthy


async def test_a_client_goes_on_after_a_kill_and_a_restart(tmp_path: Path, service: str) -> None:
    port = free_port()
    async with (
        running_tool_server(tmp_path, tool_settings(service), port=port) as tools,
        tools.client("legacy") as client,
    ):
        order = await _order(client)
        await tools.program.ends_on(signal.SIGKILL)
        async with running_tool_server(tmp_path, tool_settings(service), port=port):
            result = await client.call_tool("get_offramp_order", {"orderId": order["orderId"]})
            assert isinstance(result, CallToolResult)
            assert (result.structured_content or {})["id"] == order["orderId"]


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
