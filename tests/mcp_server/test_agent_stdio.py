"""The agent tool server as clients start it: a child process that writes JSON-RPC to stdout and nothing else."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from bot.payments import bolt11
from tests.mcp_server.agent_stdio import COMMAND, child, environment, sandbox
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA", "recipientDetails": "1234567890"}
NUMBER, HOLDER = "7391826450", "Sri Wahyuningsih"
PRIVATE = (NUMBER, HOLDER, "Wahyuningsih", "nobody-knows-this")


async def test_the_official_client_orders_and_waits_over_stdio(tmp_path: Path) -> None:
    reports: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        reports.append(message)

    command, *arguments = COMMAND
    with tempfile.TemporaryFile("w", dir=tmp_path) as log:
        async with sandbox() as service:
            await service.control("settings", speedSeconds=0.2)
            env = environment(service.url, SERVICE_MCP_NAME="Rupiah for everybody")
            program = StdioServerParameters(command=command, args=arguments, env=env, cwd=tmp_path)
            async with Client(stdio_client(program, errlog=log)) as agent:
                assert agent.server_info
                assert agent.server_info.name == "Rupiah for everybody"
                assert len((await agent.list_tools()).tools) == 8
                made = (await agent.call_tool("create_offramp_order", {**BCA, "idrAmount": 150_000})).structured_content
                assert made
                assert bolt11.decode(made["bolt11"]).amount_msat == made["satAmount"] * 1000
                await service.control("pay", orderId=made["orderId"])
                ended = await agent.call_tool(
                    "wait_for_offramp_order", {"orderId": made["orderId"], "timeoutSeconds": 30}, progress_callback=note
                )
    assert ended.structured_content
    assert ended.structured_content["state"] == "COMPLETED"
    assert str(reports[-1]).startswith("COMPLETED")


@pytest.mark.parametrize(
    ("level", "said", "unsaid"),
    [
        ("debug", ("debug", "warning"), ()),
        ("warn", ("warning",), ("debug", "info")),
    ],
)
async def test_the_log_is_as_talkative_as_it_is_told(
    tmp_path: Path, level: str, said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    async with (
        sandbox() as service,
        child(environment(service.url, SERVICE_MCP_LOG_LEVEL=level), tmp_path) as server,
    ):
        await server.greets()
        await server.answers(await server.calls("get_btc_idr_quote"))
        await server.answers(await server.calls("get_offramp_order", orderId="made-up"))
        _, _, err = await server.leaves()
    levels = {json.loads(line)["level"] for line in err.splitlines()}
    assert levels >= set(said)
    assert not levels & set(unsaid)


async def test_calls_under_way_are_answered_after_the_last_line(tmp_path: Path) -> None:
    async with sandbox() as service, child(environment(service.url), tmp_path) as server:
        await server.greets()
        await service.control("faults", fault="delay", seconds=0.5, path="/v1/offramp", method="POST")
        asked = await server.calls("create_offramp_order", **BCA, idrAmount=150_000)
        code, out, _ = await server.leaves()
        (answer,) = [json.loads(line) for line in out.splitlines()]
        assert (code, answer["id"]) == (0, asked)
        assert answer["result"]["structuredContent"]["bolt11"]


async def test_waiting_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    async with sandbox() as service, child(environment(service.url), tmp_path) as server:
        await server.greets()
        made = await server.answers(await server.calls("create_offramp_order", **BCA, idrAmount=150_000))
        order_id = made["result"]["structuredContent"]["orderId"]
        await server.calls("wait_for_offramp_order", orderId=order_id, timeoutSeconds=600)
        code, _, err = await server.leaves()  # the wait itself would take longer than the test's timeout
        assert code == 0
        assert "Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_at_once_and_silently(tmp_path: Path, number: signal.Signals) -> None:
    async with child(environment("http://127.0.0.1:9"), tmp_path) as server:
        await server.greets()
        server.process.send_signal(number)
        assert await asyncio.wait_for(server.process.wait(), TIMEOUT_SECONDS) == -number
        assert "Traceback" not in server.log.read_text()


async def test_recipient_and_name_are_in_no_log_at_any_level(tmp_path: Path) -> None:
    """Check successes and failures, at the most detailed log level."""
    request: dict[str, Any] = {**BCA, "recipientDetails": NUMBER, "bankAccountName": HOLDER, "idrAmount": 150_000}
    calls: list[dict[str, Any]] = [
        request,
        request | {"recipientDetails": int(NUMBER)},
        request | {"recipientDetails": f"{NUMBER}-{NUMBER}"},
        request | {"recipientDetails": [NUMBER]},
        request | {"bankAccountName": {"first": HOLDER}},
        request | {"bankAccountName": f"{HOLDER}\n{HOLDER}"},
        request | {NUMBER: HOLDER},
        request | {"idrAmount": NUMBER + HOLDER},
        request | {"partnerBankName": HOLDER},
        {"recipientDetails": NUMBER},
    ]
    faults = ("400_before", "500_after", "html", "drop_after")
    env = {"SERVICE_MCP_LOG_LEVEL": "debug", "SERVICE_API_KEY": "pk_live_sandbox.nobody-knows-this"}
    async with sandbox() as service:
        debugging = environment(service.url) | {"SERVICE_MCP_LOG_LEVEL": "debug"}
        async with child(debugging, tmp_path) as server:
            await server.greets()
            for arguments in calls:
                await server.answers(await server.calls("create_offramp_order", **arguments))
            for amount, fault in enumerate(faults, start=50_000):
                await service.control("faults", fault=fault, method="POST", times=1, error=f"{NUMBER} of {HOLDER}")
                await server.answers(await server.calls("create_offramp_order", **(request | {"idrAmount": amount})))
            for tool in ("list_offramp_orders", NUMBER, HOLDER):
                await server.answers(await server.calls(tool, recipient=NUMBER, holder=HOLDER))
            for fault in ("503", "404", "drop_before"):
                await service.control("faults", fault=fault, method="GET", times=1)
                for private in (NUMBER, HOLDER):
                    # A different id each time: the same one can be read only once a second.
                    await server.answers(await server.calls("get_offramp_order", orderId=f"{private}-{fault}"))
                    waiting = {"orderId": f"{fault}-{private}", "timeoutSeconds": 1}
                    await server.answers(await server.calls("wait_for_offramp_order", **waiting))
                    uri = f"kirim://orders/{private}{fault}"
                    await server.answers(await server.asks("resources/read", {"uri": uri}))
            await server.answers(await server.asks("prompts/get", {"name": HOLDER, "arguments": {"amount": NUMBER}}))
            await server.answers(await server.asks("resources/read", {"uri": f"kirim://{NUMBER}/{HOLDER}"}))
            await server.answers(await server.asks(HOLDER, {NUMBER: NUMBER}))
            await server.writes(NUMBER.encode(), f'{{"jsonrpc":"2.0","method":"{HOLDER}"}}'.encode(), HOLDER.encode())
            code, _, err = await server.leaves()
        assert code == 0
        assert "order_created" in err
        assert "settlement_request_answered" in err
        async with child(environment(service.url) | env, tmp_path) as server:
            await server.greets()
            refused = await server.answers(await server.calls("create_offramp_order", **request))
            assert "status 401" in json.dumps(refused)
            err += (await server.leaves())[2]
    assert [found for found in PRIVATE if found in err] == []
