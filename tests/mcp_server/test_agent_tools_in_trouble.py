"""The service fails, or its answer must not be paid: the agent gets what happened and what to do next."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.payments.tokens import TOKENS
from bot.sandbox.settlement import SANDBOX_API_KEY
from bot.settlement.client import SettlementClient
from tests.mcp_server.agent_system import BCA, ORDERS, AgentSystem, open_agent_system, restarted, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from bot.settlement.model import NewestOrders


@pytest.fixture
async def system() -> AsyncIterator[AgentSystem]:
    async with open_agent_system("documented") as made:
        yield made


async def test_a_refused_key_is_the_operators_business() -> None:
    async with open_agent_system("documented", api_key="pk_live_nobody.knows-it") as system:
        said = await system.fails("get_btc_idr_quote")
        assert "status 401" in said
        assert "SERVICE_API_KEY" in said
        assert "knows-it" not in said
        assert "status 401" in await system.is_refused()


@pytest.mark.parametrize("fault", ["500_after", "502_after", "503_after", "drop_after", "html", "truncated"])
async def test_an_order_made_in_silence_is_told_as_unknown_and_is_on_the_list(system: AgentSystem, fault: str) -> None:
    await system.service.fault(fault)
    said = await system.is_refused()
    assert "OUTCOME IS UNKNOWN" in said
    assert "Do not call create_offramp_order" in said
    assert "Rp150,000 to BANK CENTRAL ASIA" in said
    assert "call again" not in said.lower()
    (order,) = (await system.does("list_offramp_orders"))["orders"]
    assert (order["idrAmount"], order["partnerPayoutBankName"]) == (150_000, "BANK CENTRAL ASIA")
    assert order["invoiceBolt11"]
    assert await system.posts() == 1


async def test_after_an_unknown_outcome_the_same_wish_is_not_sent_before_somebody_looked(system: AgentSystem) -> None:
    await system.service.fault("500_after")
    await system.is_refused()
    again = await system.is_refused()
    assert "requested before" in again
    assert "OUTCOME IS UNKNOWN" in again
    assert await system.posts() == 1
    assert (await system.orders(idrAmount=160_000))["idrAmount"] == 160_000
    await system.service.clock.sleep(60)
    assert (await system.does("list_offramp_orders"))["warnings"] == []
    assert (await system.orders())["idrAmount"] == 150_000
    assert await system.posts() == 3


async def test_the_list_of_destinations_is_read_before_each_order() -> None:
    # The live service keeps its own list for ten minutes.
    async with open_agent_system("documented") as system:
        await system.does("list_payout_methods")
        await system.orders()
        listed = (await system.service.control("GET", "/methods"))["methods"]
        others = [method for method in listed if method["bankName"] != BCA["partnerBankName"]]
        await system.service.control("POST", "/methods", methods=others)
        said = await system.is_refused(idrAmount=160_000)
        assert "aren't a matching pair in the live list" in said
        assert "No order was created." in said
        capped = [{**method, "maxAmountTransfer": 155_000} for method in listed]
        await system.service.control("POST", "/methods", methods=capped)
        assert "at most Rp155,000" in await system.is_refused(idrAmount=160_000)
        await system.service.fault("500_before", method="GET", path="/v1/payout/methods", times=1)
        assert "No order was created." in await system.is_refused(idrAmount=151_000)
        assert await system.posts() == 1


async def test_a_created_order_is_not_created_again_before_somebody_looked(system: AgentSystem) -> None:
    made = await system.orders()
    said = await system.is_refused(bankAccountName="BUDI SANTOSO")
    assert made["orderId"] in said
    assert "no other one" in said
    assert await system.posts() == 1
    await system.does("list_offramp_orders")
    assert (await system.orders())["orderId"] != made["orderId"]


async def test_without_any_rate_no_order_is_created_and_with_an_old_one_its_price_is_checked(
    system: AgentSystem,
) -> None:
    await system.service.fault("500_before", method="GET", path="/v1/quote/btc-idr", times=None)
    await system.fails("create_offramp_order", **BCA, idrAmount=150_000)
    assert await system.posts() == 0
    await system.service.control("DELETE", "/faults")
    await system.does("get_btc_idr_quote")
    await system.service.clock.sleep(60)
    await system.service.fault("500_before", method="GET", path="/v1/quote/btc-idr", times=None)
    await system.switches(lockedPricePercent=900)
    assert "% worse" in await system.is_refused()


async def test_a_call_that_was_cancelled_half_way_is_in_doubt_like_any_other(system: AgentSystem) -> None:
    await system.does("list_payout_methods")
    await system.service.fault("delay_after", seconds=600)
    hurried = asyncio.create_task(system.call("create_offramp_order", **BCA, idrAmount=150_000))
    while not await system.service.orders_made():  # noqa: ASYNC110  the service rings no bell
        await asyncio.sleep(0)
    hurried.cancel()
    await asyncio.wait({hurried})
    assert "OUTCOME IS UNKNOWN" in await system.is_refused()
    assert await system.service.orders_made() == 1


async def test_the_services_own_validation_is_passed_on(system: AgentSystem) -> None:
    await system.switches(dailyCapIdr=100_000)
    said = await system.is_refused()
    assert "status 400" in said
    assert "daily cap" in said
    assert "No order was created. Correct this" in said


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({"wrongInvoice": "amount"}, {}),
        ({"wrongInvoice": "network"}, {}),
        ({"wrongInvoice": "expired"}, {}),
        ({"wrongDeposit": "contract"}, {"depositChannel": "btcb"}),
        ({"wrongDeposit": "chain"}, {"depositChannel": "btcb"}),
        ({"wrongDeposit": "decimals"}, {"depositChannel": "btcb"}),
        ({"lockedPricePercent": 25}, {}),
        ({"lockedPricePercent": -25}, {}),
        ({"lockedPricePercent": -90}, {"depositChannel": "btcb"}),
    ],
)
async def test_what_was_not_agreed_is_never_handed_out(
    system: AgentSystem, settings: dict[str, Any], changes: dict[str, Any]
) -> None:
    await system.does("get_btc_idr_quote")
    await system.switches(**settings)
    said = await system.is_refused(**changes)
    assert "isn't what was agreed" in said
    assert "Don't pay" in said
    (made,) = (await system.service.control("GET", "/orders"))["orders"]
    secrets = [
        value for value in (made.get("bolt11"), made.get("invoiceBolt11"), made.get("depositToAddress")) if value
    ]
    assert secrets
    shown = await system.call("get_offramp_order", orderId=made["id"], includeQr=True)
    listed = await system.call("list_offramp_orders")
    resource = await system.resource(f"kirim://orders/{made['id']}")
    everything = "\n".join(
        [
            said,
            *(f"{text_of(result)}{json.dumps(result.structured_content)}" for result in (shown, listed)),
            resource,
        ]
    )
    assert [block.type for block in shown.content] == ["text"]
    for secret in secrets:
        assert secret not in everything
    assert shown.structured_content["paymentWithheld"]


@pytest.mark.parametrize("channel", TOKENS)
async def test_a_second_deposit_of_the_same_amount_is_not_handed_out_until_the_first_is_done(
    system: AgentSystem, channel: str
) -> None:
    same = {"idrAmount": None, "satAmount": 25_000, "depositChannel": channel}
    first = await system.orders(**same)
    said = await system.is_refused(**same, recipientDetails="9876543210")
    assert f"order {first['orderId']} waits for a deposit of the same amount" in said
    second = (await system.service.control("GET", "/orders"))["orders"][0]["id"]
    assert second != first["orderId"]
    async with restarted(system) as after:
        for process in (system, after):
            shown = await process.does("get_offramp_order", orderId=second, includeQr=True)
            assert first["orderId"] in shown["paymentWithheld"]
            assert shown["depositToAddress"] is None
            assert (await process.does("get_offramp_order", orderId=first["orderId"]))["depositToAddress"]
            await system.service.clock.sleep(2)
    assert (await system.orders(**{**same, "satAmount": 25_001}))["deposit"]
    await system.pays(first)
    await system.service.control("POST", "/advance", orderId=first["orderId"], state="COMPLETED")
    await system.service.clock.sleep(60)
    async with restarted(system) as after:
        for process in (system, after):
            shown = await process.does("get_offramp_order", orderId=second)
            assert shown["depositToAddress"], shown["paymentWithheld"]
            await system.service.clock.sleep(2)


@pytest.mark.parametrize("fault", ["500_before", "empty_list"])
async def test_a_deposit_is_handed_out_only_once_the_list_of_orders_has_it(system: AgentSystem, fault: str) -> None:
    await system.does("get_deposit_rails")
    if fault == "500_before":
        first = await system.tools.newest()
        system.tools.newest = _once(first, system.tools.newest)  # type: ignore[method-assign]  # before the order exists
    await system.service.fault(fault, method="GET", path=ORDERS, times=None)
    said = await system.is_refused(depositChannel="btcb")
    (made,) = (await system.service.control("GET", "/orders"))["orders"]
    assert f"Order {made['id']} was created" in said
    assert made["depositToAddress"] not in said
    if fault == "empty_list":
        why = (await system.does("get_offramp_order", orderId=made["id"]))["paymentWithheld"]
        assert "the list of orders doesn't have it" in why
    await system.service.control("DELETE", "/faults")
    await system.service.clock.sleep(60)
    assert (await system.does("get_offramp_order", orderId=made["id"]))["depositToAddress"] == made["depositToAddress"]


def _once(
    first: NewestOrders, then: Callable[[], Coroutine[Any, Any, NewestOrders]]
) -> Callable[[], Coroutine[Any, Any, NewestOrders]]:
    """Return a read of the newest orders that answers `first` once, and goes on as `then`."""
    answers = [first]

    async def newest() -> NewestOrders:
        return answers.pop() if answers else await then()

    return newest


A_WEEK_AND_TWO_DAYS = 9 * 86_400


async def test_no_deposit_is_ordered_if_the_list_is_too_short_to_compare_it(system: AgentSystem) -> None:
    token = {"depositChannel": "cbbtc", "idrAmount": None, "satAmount": 25_000}
    await system.service.control("POST", "/bulk", count=98)
    made = await system.orders(**token)
    assert made["deposit"]
    await system.service.control("POST", "/bulk", count=1)
    said = await system.is_refused(**token, recipientDetails="9876543210")
    assert "doesn't show every deposit that can still be paid" in said
    assert "Send depositChannel lightning instead" in said
    assert "No order was created." in said
    assert (await system.orders(idrAmount=160_000))["bolt11"]
    async with restarted(system) as after:
        # This process doesn't know the order, so it can't compare it with older ones.
        shown = await after.does("get_offramp_order", orderId=made["orderId"])
        assert shown["depositToAddress"] is None
        assert "depositChannel lightning" in shown["paymentWithheld"]
    await system.service.clock.sleep(A_WEEK_AND_TWO_DAYS)
    assert (await system.orders(**token, recipientDetails="9876543210"))["deposit"]


async def test_a_row_that_cannot_be_read_may_be_a_deposit_of_the_same_amount(system: AgentSystem) -> None:
    class HalfRead(SettlementClient):
        async def newest(self, limit: int = 100, *, retry: bool = False) -> NewestOrders:
            return replace(await super().newest(limit, retry=retry), skipped=1)

    async with HalfRead(system.service.url, SANDBOX_API_KEY) as client:
        system.tools._client = client
        said = await system.is_refused(depositChannel="btcb")
        assert "doesn't show every deposit" in said
        assert await system.posts() == 0


async def test_a_list_that_is_older_than_the_order_hands_no_deposit_out(system: AgentSystem) -> None:
    await system.orders()
    before = await system.tools.newest()
    assert before.reports

    async def newest() -> NewestOrders:
        return before

    system.tools.newest = newest  # type: ignore[method-assign]  # as a copy that lags behind answers
    said = await system.is_refused(depositChannel="btcb")
    assert "the list of orders doesn't have it right now" in said


async def test_an_invoice_that_another_order_has_is_not_handed_out(system: AgentSystem) -> None:
    invoices = system.tools._invoices
    first = await system.orders()
    (payment_hash,) = invoices
    assert invoices[payment_hash] == first["orderId"]
    system.tools.claim_invoice = lambda *_: first["orderId"]  # type: ignore[method-assign]  # as if it came again
    said = await system.is_refused(recipientDetails="9876543210")
    assert f"its invoice is that of order {first['orderId']}" in said


async def test_a_mistake_of_ours_after_the_post_does_not_hide_the_order(
    system: AgentSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError(BCA["recipientDetails"])

    monkeypatch.setattr("bot.mcp_server.order_creation.check_new_payment", breaks)
    said = await system.is_refused()
    assert "An order may exist" in said
    assert BCA["recipientDetails"] not in said
