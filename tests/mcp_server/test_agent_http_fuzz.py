"""Any input to the tools over http, well-formed or not, is answered, costs nothing and breaks nothing."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.mcp_server.agent_http import CALL_HEADERS, LIST_TOOLS
from tests.mcp_server.agents_over_http import Tools, agent_tools

NUMBER = "081234567890"
CODES = {-32700, -32600, -32601, -32602, -32020, -32022}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
METHODS = (
    *("initialize", "ping", "tools/list", "tools/call", "prompts/get", "resources/read", "completion/complete"),
    *("server/discover", "subscriptions/listen", "logging/setLevel", "notifications/cancelled", "no/such", ""),
)
TOOLS = ("create_offramp_order", "get_offramp_order", "list_offramp_orders", "list_payout_methods", "no_such")

atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(NUMBER)
names = st.sampled_from(["id", "name", "arguments", "_meta", "uri", "orderId", "limit", "recipientDetails", "x"])
values = st.recursive(
    atoms, lambda more: st.lists(more, max_size=3) | st.dictionaries(names, more, max_size=4), max_leaves=12
)
metas = st.just(MODERN) | values
parameters = values | st.fixed_dictionaries(
    {"name": st.sampled_from(TOOLS)},
    optional={"arguments": values, "_meta": metas, "uri": st.sampled_from(["kirim://orders/x", "kirim://", ""])},
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | atoms,
        "id": st.integers(0, 9) | values,
        "method": st.sampled_from(METHODS) | atoms,
        "params": parameters,
        "result": values,
    },
)
calls = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(0, 9), "method": st.sampled_from(METHODS), "params": parameters}
)
bodies = st.binary(max_size=60) | (calls | messages | values | st.lists(calls, max_size=2)).map(
    lambda value: json.dumps(value).encode()
)
versions = st.sampled_from([None, "2026-07-28", "2025-11-25", "2025-06-18", "2099-01-01", "x"])
odd_headers = st.fixed_dictionaries(
    {"mcp-protocol-version": versions},
    optional={
        "accept": st.sampled_from(["*/*", "text/event-stream", "text/html", ""]),
        "content-type": st.sampled_from(["text/plain", "application/json; charset=utf-16", ""]),
        "mcp-method": st.sampled_from(METHODS),
        "mcp-name": st.sampled_from([*TOOLS, "=?base64?x?=", ""]),
        "mcp-session-id": st.sampled_from(["x", NUMBER]),
    },
)


class Wire:
    """One connection to the tools, for tests that aren't coroutines."""

    def __init__(self, runner: asyncio.Runner, browser: httpx.AsyncClient, tools: Tools) -> None:
        self.runner, self.browser, self.tools = runner, browser, tools

    def says(self, body: bytes, headers: dict[str, str | None] | None = None) -> httpx.Response:
        kept = {name: value for name, value in (CALL_HEADERS | (headers or {})).items() if value is not None}
        return self.runner.run(self.browser.post("/mcp", content=body, headers=kept))


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    async def opened() -> Wire:
        tools = await stack.enter_async_context(agent_tools(per_minute=10**6))
        browser = await stack.enter_async_context(httpx.AsyncClient(base_url=tools.address))
        return Wire(runner, browser, tools)

    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        wire = runner.run(opened())
        yield wire
        # After all of these:
        assert wire.says(json.dumps(LIST_TOOLS).encode()).status_code == 200
        assert runner.run(wire.tools.service.orders_made()) == 0
        runner.run(stack.aclose())


@settings(max_examples=examples(75), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies, odd_headers)
@example(b'{"jsonrpc":"2.0","method":""}', {"mcp-protocol-version": None})
def test_whatever_is_sent_is_answered(wire: Wire, body: bytes, headers: dict[str, str | None]) -> None:
    answer = wire.says(body, headers)
    assert answer.status_code in {200, 202, 400, 404, 406, 415}
    if answer.status_code == 202:
        assert answer.content == b""  # the answer to a notification: the SDK labels even that as JSON
    elif answer.status_code != 415 and answer.headers.get("content-type") == "application/json":
        reply = answer.json()
        assert "error" not in reply or reply["error"]["code"] in CODES, reply
