"""After any input over stdio, only JSON-RPC is written, and the next valid call is answered."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from tests.mcp_server.agent_stdio import child, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

NOWHERE = "http://127.0.0.1:9"

LINES: list[tuple[bytes, list[dict[str, Any]]]] = [
    (b"hello", []),
    (b'{"jsonrpc":"2.0","id":9', []),
    (b"\xff\xfe\x00", []),
    (b"[" * 5000, []),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/list"}}', []),
    (b"", []),
    (b"   \t", []),
    (b"null", []),
    (b"42", []),
    (b'"tools/list"', []),
    (b"{}", []),
    (b"[]", []),
    (b'[{"jsonrpc":"2.0","id":9,"method":"tools/list"}]', []),
    (b'{"jsonrpc":"2.0","id":9}', []),
    (b'{"jsonrpc":"1.0","id":9,"method":"tools/list"}', []),
    (b'{"id":"nine","method":"tools/list"}', []),
    (b'{"jsonrpc":"2.0","id":9,"method":5}', []),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}', []),
    (b'{"jsonrpc":"2.0","id":true,"method":5}', []),
    (b'{"jsonrpc":"2.0","id":9,"method":"no/such"}', [{"id": 9, "code": -32601}]),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}', [{"id": 9, "code": -32602}]),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}', [{"id": 9, "code": -32602}]),
    (b'{"jsonrpc":"2.0","method":"no/such"}', []),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}', []),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}', []),
    (b'{"jsonrpc":"2.0","id":9,"result":{}}', []),
]


async def collect_messages(folder: Path, *lines: bytes) -> list[dict[str, Any]]:
    """Return all messages that these lines cause, between the handshake and the answer to a last ping."""
    async with child(environment(NOWHERE, SERVICE_MCP_LOG_LEVEL="error"), folder) as server:
        await server.greets()
        await server.writes(*lines)
        ping = {"jsonrpc": "2.0", "id": "last", "method": "ping"}
        await server.writes(json.dumps(ping).encode())
        messages = []
        while (message := await server.reads()).get("id") != "last":
            messages.append(message)
        assert message["result"] == {}
        code, out, err = await server.leaves()
        assert (code, out) == (0, b"")
        assert "Traceback" not in err
    return messages


async def test_a_line_that_is_no_message_is_left_out_and_a_wrong_call_is_answered(tmp_path: Path) -> None:
    messages = await collect_messages(tmp_path, *(line for line, _ in LINES))
    wanted = [answer for _, answers in LINES for answer in answers]
    errors = [{"id": message["id"], "code": message["error"]["code"]} for message in messages]
    assert sorted(errors, key=repr) == sorted(wanted, key=repr)
    assert all(message["jsonrpc"] == "2.0" for message in messages)


json_values = some.recursive(
    some.none() | some.booleans() | some.integers(-(10**20), 10**20) | some.floats(allow_nan=False) | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
names = some.sampled_from(["tools/call", "tools/list", "initialize", "prompts/get", "resources/read", "ping", "x"])
tools = some.sampled_from(["create_offramp_order", "get_offramp_order", "list_offramp_orders", "x"])
arguments = some.dictionaries(
    some.sampled_from(["orderId", "limit", "idrAmount", "satAmount", "recipientDetails", "partnerBankCode"]),
    json_values,
)
calls = some.fixed_dictionaries({"name": tools | json_values, "arguments": arguments | json_values})
messages = some.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": some.just("2.0") | json_values,
        "id": some.integers(1000, 2000) | json_values,
        "method": names | json_values,
        "params": calls | json_values,
    },
)
lines = some.one_of(
    messages.map(lambda message: json.dumps(message).encode()),
    json_values.map(lambda value: json.dumps(value).encode()),
    some.binary(max_size=200).map(lambda junk: junk.replace(b"\n", b"").replace(b"\r", b"")),
)


# Each example is a process. A failing one is printed as it is, because shrinking it would take an hour.
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(some.lists(lines, min_size=40, max_size=120))
def test_nothing_but_json_rpc_comes_out_whatever_goes_in(tmp_path: Path, junk: list[bytes]) -> None:
    for message in asyncio.run(collect_messages(tmp_path, *junk)):
        assert message["jsonrpc"] == "2.0"
        assert {"result", "error", "method"} & set(message)
        assert "mistake in this server" not in json.dumps(message)
        assert message.get("error", {}).get("code") != -32603
