"""An agent does its main task with the official client, in both of the service's profiles."""

from __future__ import annotations

import asyncio
import base64
import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import ImageContent

from bot.mcp_server.server import INSTRUCTIONS
from bot.payments import bolt11
from bot.payments.tokens import CODES
from tests.mcp_server.agent_system import BCA, ORDERS, AgentSystem, open_agent_system, text_of
from tests.pictures import qr_texts
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DOCUMENTED = {
    "get_btc_idr_quote",
    "list_payout_methods",
    "get_deposit_rails",
    "get_platform_stats",
    "create_offramp_order",
    "get_offramp_order",
    "list_offramp_orders",
}
STATES = ("IDLE", "ROUTE_SHOWN")


@pytest.fixture(params=["documented", "live"])
async def system(request: pytest.FixtureRequest) -> AsyncIterator[AgentSystem]:
    async with open_agent_system(request.param) as made:
        yield made


def picture_in(result: Any) -> str:
    """Return the content of an answer's only QR code."""
    (image,) = [block for block in result.content if isinstance(block, ImageContent)]
    assert image.mime_type == "image/png"
    (text,) = qr_texts(base64.b64decode(image.data))
    return text


async def test_the_tools_are_the_documented_ones_and_waiting(system: AgentSystem) -> None:
    listed = (await system.agent.list_tools()).tools
    assert {tool.name for tool in listed} == DOCUMENTED | {"wait_for_offramp_order"}
    for tool in listed:
        assert tool.title
        assert tool.description
        assert (tool.output_schema or {})["type"] == "object"
        properties = tool.input_schema["properties"]
        assert all(described.get("description") for described in properties.values()), tool.name


async def test_the_server_says_who_it_is_and_how_to_go_on(system: AgentSystem) -> None:
    info = system.agent.server_info
    assert info
    assert (info.name, info.version) == ("kirim", "1.2.3")
    assert system.agent.instructions == INSTRUCTIONS
    steps = ("list_payout_methods", "get_btc_idr_quote", "create_offramp_order", "get_offramp_order")
    positions = [INSTRUCTIONS.index(step) for step in steps]
    assert positions == sorted(positions)


async def test_null_is_what_was_left_out_for_each_optional_argument(system: AgentSystem) -> None:
    tools = (await system.agent.list_tools()).tools
    optional = {
        tool.name: set(tool.input_schema.get("properties", {})) - set(tool.input_schema.get("required", ()))
        for tool in tools
    }
    for tool in tools:
        for name in optional[tool.name]:
            assert {"type": "null"} in tool.input_schema["properties"][name]["anyOf"], (tool.name, name)
    nothing = dict.fromkeys(optional["create_offramp_order"] - {"idrAmount"})
    made = await system.orders(**nothing)
    assert made["bolt11"]
    await system.does("list_offramp_orders", limit=None)
    assert (await system.orders(depositChannel="", payoutMethod="", bankAccountName=""))["bolt11"]
    order = {"orderId": made["orderId"]}
    assert (await system.does("get_offramp_order", **order, includeQr=None))["id"] == made["orderId"]
    assert (await system.does("wait_for_offramp_order", **order, timeoutSeconds=None))["timedOut"]


async def test_looking_tools_tell_what_the_service_says(system: AgentSystem) -> None:
    quote = await system.does("get_btc_idr_quote")
    assert quote["btcIdr"] > 10**6
    assert quote["fetchedAt"] == "2026-11-21T09:00:00Z"
    methods = (await system.does("list_payout_methods"))["methods"]
    assert {method["kind"] for method in methods} == {"bank", "ewallet"}
    bca = {"bankCode": "014", "bankName": "BANK CENTRAL ASIA", "kind": "bank", "maxAmountTransfer": 100_000_000}
    assert bca in methods
    rails = await system.does("get_deposit_rails")
    assert rails["channels"] == list(CODES)
    assert rails["baseCbbtc"]["chainId"] == 8453
    assert "arbitrum" not in json.dumps(rails).lower()
    stats = await system.does("get_platform_stats")
    assert "fetchedAt" in stats
    assert stats["totalOrders"] == 0


async def test_a_lightning_order_goes_from_the_list_to_its_end(system: AgentSystem) -> None:
    made = await system.orders(bankAccountName="Sari Dewi")
    invoice = bolt11.decode(made["bolt11"])
    assert invoice.amount_msat == made["satAmount"] * 1000
    assert (made["idrAmount"], made["deposit"], made["warnings"]) == (150_000, None, [])
    assert made["invoiceExpiresAt"] == "2026-11-21T10:00:00Z"
    order = await system.does("get_offramp_order", orderId=made["orderId"])
    assert (order["id"], order["invoiceBolt11"]) == (made["orderId"], made["bolt11"])
    assert order["state"] in STATES
    await system.pays(made)
    states = []
    while not order["isTerminal"]:
        await system.service.clock.sleep(5)
        order = await system.does("get_offramp_order", orderId=made["orderId"])
        states.append(order["state"])
    assert states[-1] == "COMPLETED"
    assert order["invoiceBolt11"] is None
    assert order["completedAt"]


@pytest.mark.parametrize(("channel", "chain", "units"), [("cbbtc", 8453, 1), ("btcb", 56, 10**10)])
async def test_a_token_deposit_names_exactly_one_transfer(
    system: AgentSystem, channel: str, chain: int, units: int
) -> None:
    result = await system.call("create_offramp_order", **BCA, satAmount=29_412, depositChannel=channel, includeQr=True)
    made = result.structured_content
    deposit = made["deposit"]
    assert made["bolt11"] is None
    assert (deposit["channel"], deposit["chainId"]) == (channel, chain)
    assert deposit["amountUnits"] == str(29_412 * units)
    assert deposit["amount"] == "0.00029412"
    transfer = f"ethereum:{deposit['tokenAddress']}@{chain}/transfer?address={deposit['toAddress']}"
    assert deposit["qrValue"] == made["paymentUri"] == f"{transfer}&uint256={29_412 * units}"
    assert picture_in(result) == deposit["qrValue"]
    assert deposit["toAddress"] in text_of(result)


async def test_an_expired_invoice_is_not_handed_out_any_more(system: AgentSystem) -> None:
    made = await system.orders()
    await system.service.clock.sleep(3601)
    order = await system.does("get_offramp_order", orderId=made["orderId"])
    assert order["invoiceBolt11"] is None
    # The live service never changes such an order. By the documents it fails.
    assert ("the invoice expired" in order["paymentWithheld"]) is (order["state"] == "ROUTE_SHOWN")
    output = text_of(await system.call("get_offramp_order", orderId=made["orderId"]))
    assert ("Nothing to pay" in output) is (order["state"] == "ROUTE_SHOWN")
    assert made["bolt11"] not in output


async def test_waiting_tells_the_progress_and_ends_with_the_order(system: AgentSystem) -> None:
    made = await system.orders()
    await system.pays(made)
    reports: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    result = await system.agent.call_tool(
        "wait_for_offramp_order", {"orderId": made["orderId"], "timeoutSeconds": 300}, progress_callback=note
    )
    assert result.structured_content["state"] == "COMPLETED"
    assert result.structured_content["timedOut"] is False
    assert len(reports) >= 2
    assert [progress for progress, _, _ in reports] == sorted(progress for progress, _, _ in reports)
    assert {total for _, total, _ in reports} == {300}
    assert str(reports[-1][2]).startswith("COMPLETED: sent to the bank")


async def test_waiting_can_be_cancelled(system: AgentSystem) -> None:
    made = await system.orders()
    ended = asyncio.Event()
    began = asyncio.Event()

    async def for_ever(_: float) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    system.tools.sleep = for_ever
    waiting = asyncio.create_task(system.call("wait_for_offramp_order", orderId=made["orderId"], timeoutSeconds=300))
    await asyncio.wait_for(began.wait(), TIMEOUT_SECONDS)
    waiting.cancel()
    await asyncio.wait_for(ended.wait(), TIMEOUT_SECONDS)
    asked = len(await system.service.list_requests("GET", f"{ORDERS}/{made['orderId']}"))
    assert (await system.does("get_btc_idr_quote"))["btcIdr"]
    assert len(await system.service.list_requests("GET", f"{ORDERS}/{made['orderId']}")) == asked


async def test_waiting_ends_once_its_caller_has_hung_up(system: AgentSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await system.orders()
    gone, pauses, sleep = asyncio.Event(), asyncio.Event(), system.tools.sleep

    async def pause(_: float) -> None:
        gone.set()
        await pauses.wait()

    monkeypatch.setattr("bot.mcp_server.orders.HUNG_UP", ContextVar("hung_up", default=gone))
    monkeypatch.setattr(system.tools, "sleep", pause)
    said = await system.fails("wait_for_offramp_order", orderId=made["orderId"], timeoutSeconds=300)
    assert "hung up" in said, "it ends in the middle of a pause"
    assert len(await system.service.list_requests("GET", f"{ORDERS}/{made['orderId']}")) == 1
    monkeypatch.setattr(system.tools, "sleep", sleep)


async def test_the_list_and_an_order_can_be_read_as_resources(system: AgentSystem) -> None:
    made = await system.orders()
    listed = (await system.agent.list_resources()).resources
    templates = (await system.agent.list_resource_templates()).resource_templates
    assert [str(resource.uri) for resource in listed] == ["kirim://payout-methods"]
    assert [template.uri_template for template in templates] == ["kirim://orders/{orderId}"]
    assert json.loads(await system.resource("kirim://payout-methods")) == await system.does("list_payout_methods")
    order = json.loads(await system.resource(f"kirim://orders/{made['orderId']}"))
    assert order == await system.does("get_offramp_order", orderId=made["orderId"])


async def test_the_prompt_begins_the_main_job(system: AgentSystem) -> None:
    (prompt,) = (await system.agent.list_prompts()).prompts
    assert prompt.name == "send_rupiah"
    assert [(argument.name, argument.required) for argument in prompt.arguments or []] == [
        ("amount", False),
        ("destination", False),
    ]
    output = await system.prompt(amount="150000 rupiah", destination="BCA")
    assert output.startswith("Send 150000 rupiah to BCA.")
    assert output.index("list_payout_methods") < output.index("create_offramp_order") < output.index("wait_for")
    assert (await system.prompt()).startswith("Send rupiah. Go")


async def test_an_invoice_of_weeks_is_shown_with_a_deadline_of_an_hour(system: AgentSystem) -> None:
    await system.switches(invoiceExpirySeconds=21 * 24 * 3600)
    made = await system.orders()
    assert made["invoiceExpiresAt"].startswith("2026-11-21T10:00:00")
    order = await system.does("get_offramp_order", orderId=made["orderId"])
    assert order["invoiceExpiresAt"].startswith("2026-11-21T10:00:00")
    assert order["invoiceBolt11"] == made["bolt11"]
    await system.service.clock.sleep(3600)
    over = await system.does("get_offramp_order", orderId=made["orderId"])
    assert (over["invoiceExpiresAt"], over["invoiceBolt11"]) == (None, None)
    assert over["paymentWithheld"] == "the time to pay it ended at 2026-11-21 10:00:00 UTC"
    await system.pays(made)
    await system.service.clock.sleep(5)
    assert (await system.does("get_offramp_order", orderId=made["orderId"]))["invoicePaidAt"]
