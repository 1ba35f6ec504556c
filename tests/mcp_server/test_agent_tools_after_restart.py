"""A restarted tool server remembers no order. It checks what it can, and says what it can't check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp_server.agent_system import AgentSystem, open_agent_system, restarted, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

QUOTE, METHODS = "/v1/quote/btc-idr", "/v1/payout/methods"


@pytest.fixture
async def system() -> AsyncIterator[AgentSystem]:
    async with open_agent_system("documented") as made:
        yield made


async def everything_shown_of(system: AgentSystem, order_id: str) -> str:
    """Return everything that the tools and the resource say about an order."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_offramp_order", {"orderId": order_id, "includeQr": True}),
        ("list_offramp_orders", {}),
        ("wait_for_offramp_order", {"orderId": order_id, "timeoutSeconds": 5}),
    ]
    results = [await system.call(tool, **arguments) for tool, arguments in calls]
    assert all(block.type == "text" for result in results for block in result.content)
    texts = [f"{text_of(result)}{json.dumps(result.structured_content)}" for result in results]
    return "\n".join([*texts, await system.resource(f"kirim://orders/{order_id}")])


@pytest.mark.parametrize("channel", ["lightning", "btcb"])
@pytest.mark.parametrize(("percent", "expected"), [(25, "worse"), (-25, "better")])
async def test_an_order_withheld_for_its_price_stays_withheld(
    system: AgentSystem, channel: str, percent: int, expected: str
) -> None:
    await system.switches(lockedPricePercent=percent)
    await system.is_refused(depositChannel=channel)
    (made,) = (await system.service.control("GET", "/orders"))["orders"]
    async with restarted(system) as after:
        shown = await after.does("get_offramp_order", orderId=made["id"])
        everything = await everything_shown_of(after, made["id"])
    assert f"{expected} than the current quote" in shown["paymentWithheld"]
    names = ("bolt11", "invoiceBolt11", "depositToAddress")
    secrets = [str(made[name]) for name in names if made.get(name)]
    assert secrets
    assert not [secret for secret in secrets if secret in everything]


async def test_an_order_that_nobody_remembers_is_shown_with_what_to_compare(system: AgentSystem) -> None:
    made = await system.orders()
    remembered = await system.does("get_offramp_order", orderId=made["orderId"])
    assert remembered["paymentWarnings"] == []
    await system.service.clock.sleep(2)
    async with restarted(system) as after:
        for tool in ("get_offramp_order", "wait_for_offramp_order"):
            result = await after.call(
                tool, orderId=made["orderId"], **({"timeoutSeconds": 5} if "wait" in tool else {})
            )
            shown = result.structured_content
            assert shown["invoiceBolt11"] == made["bolt11"]
            (warning,) = shown["paymentWarnings"]
            assert "Pay it only if the amount and the destination" in warning
            assert warning in text_of(result)
        (listed,) = (await after.does("list_offramp_orders"))["orders"]
        assert listed["paymentWarnings"] == [warning]


async def test_without_a_rate_a_price_that_nobody_remembers_is_not_shown(system: AgentSystem) -> None:
    made = await system.orders()
    await system.service.fault("500_before", method="GET", path=QUOTE, times=None)
    async with restarted(system) as after:
        shown = await after.does("get_offramp_order", orderId=made["orderId"])
        assert "isn't available right now" in shown["paymentWithheld"]
        assert made["bolt11"] not in await everything_shown_of(after, made["orderId"])
    await system.service.clock.sleep(2)
    # The process that created the order has compared its price.
    assert (await system.does("get_offramp_order", orderId=made["orderId"]))["invoiceBolt11"] == made["bolt11"]


@pytest.mark.parametrize("channel", ["lightning", "btcb"])
@pytest.mark.parametrize("is_read", [True, False])
async def test_an_order_above_a_cap_that_was_lowered_meanwhile_is_not_shown(
    system: AgentSystem,
    channel: str,
    is_read: bool,  # noqa: FBT001
) -> None:
    made = await system.orders(idrAmount=1_000_000, depositChannel=channel)
    await changes_cap(system, 999_999)
    if not is_read:
        await system.service.fault("500_before", method="GET", path=METHODS, times=None)
    async with restarted(system) as after:
        # This process hasn't read the list of destinations.
        shown = await after.does("get_offramp_order", orderId=made["orderId"])
        everything = await everything_shown_of(after, made["orderId"])
    assert ("more than the destination accepts" if is_read else "isn't available right now") in shown["paymentWithheld"]
    secret = made["bolt11"] or made["deposit"]["toAddress"]
    assert secret not in everything


async def changes_cap(system: AgentSystem, cap: int) -> None:
    """Set BCA's cap for one transfer, in rupiah."""
    methods = (await system.service.control("GET", "/methods"))["methods"]
    for method in methods:
        if method["bankCode"] == "014":
            method["maxAmountTransfer"] = cap
    await system.switches(methodsCacheSeconds=0)
    await system.service.control("POST", "/methods", methods=methods)
    await system.service.clock.sleep(600)
