"""The official client against Kirim's tools over http."""

from datetime import timedelta

import pytest

from tests.mcp_server.agents_over_http import BCA, MODES, agent_tools, call_tool, refused

DOCUMENTED = {
    "get_btc_idr_quote",
    "list_payout_methods",
    "get_deposit_rails",
    "get_platform_stats",
    "create_offramp_order",
    "get_offramp_order",
    "list_offramp_orders",
}
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


async def test_a_call_that_brings_nothing_is_told_in_words_and_makes_no_order() -> None:
    async with agent_tools() as tools, tools.client() as client:
        text = await refused(client, "create_offramp_order", **BCA, recipientDetails="12-34", idrAmount=150_000)
        assert "12-34" not in text
        assert await tools.service.orders_made() == 0
