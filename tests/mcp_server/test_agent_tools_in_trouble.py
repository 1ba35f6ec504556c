"""The service fails, or its answer must not be paid: the agent gets what happened and what to do next."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError

from bot.payments.tokens import TOKENS
from bot.sandbox.settlement import SANDBOX_API_KEY
from bot.settlement.client import SettlementClient
from bot.settlement.http import Timeouts
from tests.mcp_server.agent_system import BCA, ORDERS, AgentSystem, open_agent_system, restarted, text_of
from tests.ports import closed_port
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from bot.settlement.model import NewestOrders


@pytest.fixture(params=["documented", "live"])
async def system(request: pytest.FixtureRequest) -> AsyncIterator[AgentSystem]:
    async with open_agent_system(request.param) as made:
        yield made


LOOKS = ("get_btc_idr_quote", "list_payout_methods", "get_deposit_rails", "get_platform_stats", "list_offramp_orders")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"fault": "500", "error": "the cat sat on it"}, ("status 500", "“the cat sat on it”", "Nothing was changed")),
        ({"fault": "503", "error": "back soon"}, ("status 503", "“back soon”", "Call again in 5 seconds")),
        ({"fault": "429", "retryAfter": 17}, ("status 429", "Wait 17 seconds")),
        ({"fault": "html", "status": 200}, ("status 200", "Nothing was changed")),
        ({"fault": "truncated"}, ("status 200", "Nothing was changed")),
        ({"fault": "drop_before"}, ("no answer in time", "Nothing was changed")),
    ],
)
async def test_a_failed_look_says_why_and_that_nothing_changed(
    system: AgentSystem, fault: dict[str, Any], expected: tuple[str, ...]
) -> None:
    order_id = (await system.orders())["orderId"]
    await system.service.clock.sleep(120)  # the caches have expired
    await system.service.control("POST", "/faults", method="GET", **fault)
    for tool, arguments in [*((tool, {}) for tool in LOOKS), ("get_offramp_order", {"orderId": order_id})]:
        said = await system.fails(tool, **arguments)
        for words in expected:
            assert words in said, tool
    # Waiting survives temporary failures.
    said = await system.fails("wait_for_offramp_order", orderId=order_id, timeoutSeconds=5)
    assert "Nothing was changed. Call again" in said


async def test_an_unknown_order_is_named_so(system: AgentSystem) -> None:
    for tool in ("get_offramp_order", "wait_for_offramp_order"):
        said = await system.fails(tool, orderId="made-up")
        assert "status 404" in said
        assert "list_offramp_orders" in said
    with pytest.raises(MCPError, match="no order with this id") as missing:
        await system.agent.read_resource("kirim://orders/made-up")
    assert missing.value.error.code == -32602


async def test_a_refused_key_is_the_operators_business() -> None:
    async with open_agent_system("documented", api_key="pk_live_nobody.knows-it") as system:
        said = await system.fails("get_btc_idr_quote")
        assert "status 401" in said
        assert "SERVICE_API_KEY" in said
        assert "knows-it" not in said
        assert "status 401" in await system.is_refused()


async def test_a_service_out_of_reach_made_no_order(system: AgentSystem) -> None:
    await system.does("get_btc_idr_quote")
    async with SettlementClient(f"http://127.0.0.1:{closed_port()}", "pk_live_a.b") as nobody:
        system.tools.create = nobody.place  # type: ignore[method-assign]  # it went away after the checks
        said = await system.is_refused()
        assert "can't be reached. No order was created." in said
        system.tools._client = nobody
        said = await system.is_refused()
    assert "can't be reached." in said
    assert "No order was created." in said


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


async def test_an_answer_that_comes_too_late_is_told_as_unknown(system: AgentSystem) -> None:
    await system.does("list_payout_methods")
    await system.service.fault("delay_after", seconds=600)
    # The timeout starts after the request was sent, so the moment doesn't matter.
    async with system.service.client(
        timeouts=Timeouts(TIMEOUT_SECONDS, 0.2, TIMEOUT_SECONDS, TIMEOUT_SECONDS)
    ) as hasty:
        system.tools._client = hasty
        said = await system.is_refused()
    assert "no answer in time" in said
    assert "OUTCOME IS UNKNOWN" in said


async def test_the_services_own_words_come_with_an_unknown_outcome(system: AgentSystem) -> None:
    await system.service.fault("500_before", error="recipientDetails must start with 08")
    said = await system.is_refused()
    assert "status 500: “recipientDetails must start with 08”" in said
    assert "OUTCOME IS UNKNOWN" in said


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


async def test_a_list_that_cannot_show_the_lost_order_leaves_the_doubt_and_says_so(system: AgentSystem) -> None:
    await system.service.control("POST", "/bulk", count=3)
    await system.service.clock.sleep(60)
    await system.service.fault("500_after")
    await system.is_refused()
    (early,) = (await system.does("list_offramp_orders"))["warnings"]
    assert "Rp150,000 to BANK CENTRAL ASIA" in early
    assert "40 seconds or more" in early
    assert BCA["recipientDetails"] not in early
    await system.service.clock.sleep(60)
    await system.service.control("POST", "/bulk", count=2)
    await system.service.clock.sleep(1)
    for limit in (1, 2):
        result = await system.call("list_offramp_orders", limit=limit)
        (warning,) = result.structured_content["warnings"]
        assert "with limit 100" in warning
        assert warning in text_of(result)
        assert "requested before" in await system.is_refused()
    assert (await system.does("list_offramp_orders", limit=4))["warnings"] == []
    await system.orders()
    assert await system.posts() == 2


async def test_a_full_list_of_later_orders_never_ends_a_doubt(system: AgentSystem) -> None:
    await system.service.fault("500_after")
    await system.is_refused()
    await system.service.control("POST", "/bulk", count=100)
    await system.service.clock.sleep(3600)
    assert "operator" in (await system.does("list_offramp_orders", limit=100))["warnings"][0]
    assert "requested before" in await system.is_refused()


async def test_a_list_that_reached_nobody_ends_no_doubt(system: AgentSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    await system.service.fault("500_after")
    await system.is_refused()
    await system.service.clock.sleep(60)
    with monkeypatch.context() as hung_up:
        hung_up.setattr("bot.mcp_server.orders.has_hung_up", lambda: True)
        await system.does("list_offramp_orders")
    assert "requested before" in await system.is_refused()
    with monkeypatch.context() as broken:
        broken.setattr("bot.mcp_server.orders.order_line", lambda _order: 1 / 0)
        await system.fails("list_offramp_orders")
    assert "requested before" in await system.is_refused()
    await system.does("list_offramp_orders")
    await system.orders()


async def test_too_many_doubts_end_the_creation_of_orders(system: AgentSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.mcp_server.unresolved_orders.REMEMBERED", 2)
    for amount in (160_000, 170_000):
        await system.service.fault("500_after")
        await system.is_refused(idrAmount=amount)
    said = await system.is_refused()
    assert "Too many orders have an unknown outcome" in said
    assert "No order was created." in said
    assert await system.posts() == 2


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


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429])
async def test_a_refusal_by_the_service_comes_with_its_words_and_made_no_order(
    system: AgentSystem, status: int
) -> None:
    await system.service.fault(f"{status}_before", error="the moon is full")
    said = await system.is_refused()
    assert f"status {status}: “the moon is full”" in said
    assert "No order was created." in said
    assert (await system.orders())["idrAmount"] == 150_000


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


async def test_what_has_become_too_little_while_the_price_was_locked_is_not_handed_out(system: AgentSystem) -> None:
    rate = (await system.does("get_btc_idr_quote"))["btcIdr"]
    await system.switches(lockedPricePercent=0.9)
    said = await system.is_refused(idrAmount=None, satAmount=round(20_050 / rate * 10**8))
    assert "less than the smallest order" in said
    assert "Don't pay" in said


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


async def test_no_deposit_is_ordered_while_the_list_of_orders_cannot_be_read(system: AgentSystem) -> None:
    await system.service.fault("500_before", method="GET", path=ORDERS, times=None)
    said = await system.is_refused(depositChannel="btcb")
    assert "No order was created." in said
    assert await system.posts() == 0
    assert (await system.orders())["bolt11"]


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


async def test_a_deposit_is_not_handed_out_if_the_list_has_filled_up_meanwhile(system: AgentSystem) -> None:
    await system.service.control("POST", "/bulk", count=99)
    said = await system.is_refused(depositChannel="btcb")
    (made, *_) = (await system.service.control("GET", "/orders"))["orders"]
    assert f"Order {made['id']} was created, but how to pay it isn't shown" in said
    assert "Send depositChannel lightning instead" in said
    assert made["depositToAddress"] not in said


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


async def test_a_somewhat_worse_price_is_pointed_out(system: AgentSystem) -> None:
    await system.does("get_btc_idr_quote")
    await system.switches(lockedPricePercent=3)
    made = await system.orders()
    assert "% worse" in made["warnings"][0]
    assert made["bolt11"]


async def test_an_order_whose_record_is_missing_is_still_read_by_its_id(system: AgentSystem) -> None:
    await system.service.fault("empty_list", method="GET", path=ORDERS)
    result = await system.call("list_offramp_orders")
    assert result.structured_content == {"orders": [], "warnings": []}
    assert "proves nothing" in text_of(result)


async def test_a_mistake_of_ours_after_the_post_does_not_hide_the_order(
    system: AgentSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError(BCA["recipientDetails"])

    monkeypatch.setattr("bot.mcp_server.order_creation.check_new_payment", breaks)
    said = await system.is_refused()
    assert "An order may exist" in said
    assert BCA["recipientDetails"] not in said
