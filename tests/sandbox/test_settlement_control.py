"""The sandbox's controls: difficult behaviour of the service, and data for tests and benchmarks."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.payments import bolt11
from bot.payments.errors import InvoiceMismatch
from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.sandbox.settlement_system import BCA, ORDERS, START, SettlementSystem


@pytest.mark.parametrize("wrong", ["amount", "network", "expired"])
async def test_a_wrong_invoice_is_well_signed_and_wrong_in_just_that(wrong: str) -> None:
    async with SettlementSystem() as system:
        await system.control("settings", wrongInvoice=wrong)
        made = await system.place()
        invoice = bolt11.decode(made["bolt11"])
        wrongs = {
            "amount": invoice.amount_msat != 1_000 * made["satAmount"],
            "network": invoice.currency != "bcrt",
            "expired": invoice.expires_at <= START,
        }
        assert [name for name, is_wrong in wrongs.items() if is_wrong] == [wrong]
        with pytest.raises(InvoiceMismatch):
            bolt11.check(invoice, sats=made["satAmount"], network="bcrt", now=START)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [("contract", "tokenAddress"), ("chain", "chainId"), ("decimals", "decimals"), ("qr", "qrValue")],
)
async def test_deposit_instructions_can_be_wrong(wrong: str, field: str) -> None:
    async with SettlementSystem() as system:
        right = (await system.place(depositChannel="cbbtc"))["deposit"]
        await system.control("settings", wrongDeposit=wrong)
        assert (await system.place(depositChannel="cbbtc"))["deposit"][field] != right[field]


async def test_the_services_clock_can_be_ahead_in_all_that_it_writes() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", clockSkewSeconds=7200, invoiceExpirySeconds=60)
        made = await system.place()
        order = await system.read(made["orderId"])
        assert order["createdAt"] == "2026-11-21T05:00:00.000Z"
        assert bolt11.decode(made["bolt11"]).timestamp == START + timedelta(hours=2)
        assert (await system.get(ORDERS)).json()["fetchedAt"] == "2026-11-21T05:00:00.000Z"
        system.clock.pass_seconds(59)
        assert (await system.control("pay", bolt11=made["bolt11"]))["order"]["state"] == "LN_INVOICE_PAID"


async def test_speed_can_be_taken_away_and_given_back_while_orders_are_under_way() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        await system.control("pay", bolt11=made["bolt11"])
        await system.control("settings", speedSeconds=None)
        system.clock.pass_seconds(100)
        assert (await system.read(made["orderId"]))["state"] == "LN_INVOICE_PAID"
        await system.control("settings", speedSeconds=0)
        assert (await system.read(made["orderId"]))["state"] == "COMPLETED"


async def test_stuck_orders_stay_where_they_are_at_any_speed_until_the_switch_is_off() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", speedByBank={"014": 0})
        under_way = await system.place()
        await system.control("settings", speedByBank={"014": 10}, stuck=True)
        later = await system.place()
        for made in (under_way, later):
            await system.control("pay", bolt11=made["bolt11"])
        system.clock.pass_seconds(3600)
        assert {(await system.read(made["orderId"]))["state"] for made in (under_way, later)} == {"LN_INVOICE_PAID"}
        assert (await system.control("settings", "GET"))["stuck"] is True
        await system.control("settings", stuck=False)
        system.clock.pass_seconds(60)
        assert {(await system.read(made["orderId"]))["state"] for made in (under_way, later)} == {"COMPLETED"}


async def test_orders_move_by_themselves_also_while_nobody_asks() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        await system.control("pay", bolt11=made["bolt11"])
        system.clock.pass_seconds(3600)
        book = system.app.state.service.book
        assert book.find(made["orderId"]).state == "LN_INVOICE_PAID"
        async with system.app.router.lifespan_context(system.app):
            await asyncio.sleep(0)
            assert book.find(made["orderId"]).state == "COMPLETED"


@pytest.mark.parametrize(
    "change",
    [{"profile": "other"}, {"nonsense": 1}],
)
async def test_a_setting_that_makes_no_sense_is_refused_and_nothing_changes(change: dict[str, object]) -> None:
    async with SettlementSystem() as system:
        before = await system.control("settings", "GET")
        answer = await system.try_control("settings", **{"stuck": True, **change})
        assert answer.status_code == 400
        assert await system.control("settings", "GET") == before


async def test_the_profile_can_be_changed_while_running() -> None:
    async with SettlementSystem() as system:
        assert (await system.control("settings", profile="live"))["profile"] == "live"
        assert (await system.post(idrAmount=150_000, **BCA)).status_code == 200


async def test_invoices_can_be_for_the_real_network() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", network="bc")
        assert (await system.place())["bolt11"].startswith("lnbc93750n1")


async def test_many_orders_are_made_in_any_state_and_moved_together() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", speedSeconds=None)
        ids = (await system.control("bulk", count=130, state="LN_SWAP_PENDING"))["orderIds"]
        assert len(set(ids)) == 130
        order = await system.read(ids[7])
        assert (order["state"], bool(order["invoicePaidAt"]), bool(order["lnSwapId"])) == (
            "LN_SWAP_PENDING",
            True,
            True,
        )
        moved = await system.control("advance", orderIds=ids[:3])
        assert moved["states"] == dict.fromkeys(ids[:3], "USDT_RECEIVED")


async def test_all_orders_are_shown_whole_to_the_sandbox() -> None:
    async with SettlementSystem() as system:
        await system.control("bulk", count=1)
        made = await system.place()
        newest, _ = (await system.control("orders", "GET"))["orders"]
        assert (newest["id"], newest["payoutRecipient"]) == (made["orderId"], "1234567890")
        (found,) = (await system.control("orders", "GET", bolt11=f"lightning:{made['bolt11']}"))["orders"]
        assert found == newest
        assert (await system.try_control("orders", "GET", orderId="nothing")).status_code == 404


async def test_orders_to_one_recipient_can_be_asked_for() -> None:
    async with SettlementSystem() as system:
        ours, _ = await system.place(recipientDetails="1111111111"), await system.place()
        (found,) = (await system.control("orders", "GET", recipient="1111111111"))["orders"]
        assert found["id"] == ours["orderId"]
        assert (await system.control("orders", "GET", recipient="2222222222"))["orders"] == []


async def test_requests_are_counted_by_route_without_order_ids_or_control_calls() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        await system.read(made["orderId"])
        await system.get("/v1/nowhere")
        counted = await system.control("requests", "GET")
        assert counted["routes"] == {f"POST {ORDERS}": 1, f"GET {ORDERS}/{{id}}": 1, "GET /v1/nowhere": 1}
        assert counted["statuses"] == {"201": 1, "200": 1, "404": 1}
        assert [entry["path"] for entry in counted["recent"]] == ["/v1/nowhere", f"{ORDERS}/{made['orderId']}", ORDERS]


async def test_logs_never_hold_a_recipient_a_name_or_a_secret() -> None:
    with capture_logs() as logs:
        async with SettlementSystem() as system:
            made = await system.place(bankAccountName="SARI DEWI")
            await system.post(idrAmount=150_000, **(BCA | {"recipientDetails": "12-34-secret"}))
            await system.states_by_hand(made["orderId"])
    assert {entry["event"] for entry in logs} >= {"order_created"}
    for hidden in ("1234567890", "12-34-secret", "SARI", SANDBOX_API_KEY.partition(".")[2], made["bolt11"]):
        assert hidden not in str(logs)
