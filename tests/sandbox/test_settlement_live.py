"""The live profile: how the real service behaves where the documents are silent, or differ."""

from __future__ import annotations

import re
from datetime import timedelta

from bot.payments import bolt11
from tests.sandbox.settlement_system import BCA, ORDERS, START, SettlementSystem

LIVE_ROAD = [
    "LN_INVOICE_PAID",
    "LN_SWAP_PENDING",
    "USDT_RECEIVED",
    "USDC_SWAPPED",
    "P2PM_ORDER_PLACED",
    "P2PM_ORDER_CONFIRMED",
    "IDR_QUEUED",
    "IDR_SETTLED",
    "COMPLETED",
]


def live() -> SettlementSystem:
    return SettlementSystem(profile="live")


async def test_a_new_order_is_a_200_shows_its_route_and_no_expiry() -> None:
    async with live() as system:
        answer = await system.post(idrAmount=150_000, **BCA)
        assert answer.status_code == 200
        assert answer.json()["invoiceExpiresAt"] is None
        order = await system.read(answer.json()["orderId"])
        assert (order["state"], order["invoiceExpiresAt"], order["depositChannel"]) == ("ROUTE_SHOWN", None, None)
        assert bolt11.decode(answer.json()["bolt11"]).expires_at == START + timedelta(hours=1)


async def test_a_paid_order_visits_the_merchant_states_and_one_that_nobody_documented() -> None:
    async with live() as system:
        assert await system.states_by_hand((await system.place())["orderId"]) == LIVE_ROAD


async def test_an_unpaid_order_stays_as_it_is_and_a_late_payment_is_taken() -> None:
    async with live() as system:
        made = await system.place()
        system.clock.pass_seconds(86_400)
        assert (await system.read(made["orderId"]))["state"] == "ROUTE_SHOWN"
        assert (await system.try_control("pay", bolt11=made["bolt11"])).status_code == 409
        await system.control("pay", bolt11=made["bolt11"], late=True)
        order = await system.read(made["orderId"])
        assert (order["state"], order["invoicePaidAt"]) == ("LN_INVOICE_PAID", "2026-11-22T03:00:00.000Z")
        system.clock.pass_seconds(24)
        assert (await system.read(made["orderId"]))["state"] == "COMPLETED"


async def test_an_order_made_while_the_database_is_down_is_read_by_id_and_never_listed() -> None:
    async with live() as system:
        before = (await system.place())["orderId"]
        await system.control("settings", databaseDown=True)
        hidden = (await system.place())["orderId"]
        assert re.fullmatch(r"mem_[0-9a-z]{24}", hidden)
        assert (await system.read(hidden))["state"] == "ROUTE_SHOWN"
        assert await system.listed() == []
        assert (await system.get(f"{ORDERS}/{before}")).status_code == 503
        await system.control("settings", databaseDown=False)
        assert [order["id"] for order in await system.listed()] == [before]
        assert (await system.read(hidden))["id"] == hidden


async def test_a_deposit_has_a_plain_qr_value_no_expiry_and_waits_for_an_operator() -> None:
    async with live() as system:
        made = await system.place(depositChannel="btcb")
        assert made["deposit"]["qrValue"] == f"ethereum:{made['deposit']['toAddress']}@56"
        assert made["invoiceExpiresAt"] is None
        paid = await system.control("pay", orderId=made["orderId"])
        assert (paid["order"]["state"], paid["order"]["waitsForOperator"]) == ("ROUTE_SHOWN", True)
        system.clock.pass_seconds(10 * 86_400)
        order = await system.read(made["orderId"])
        assert (order["state"], order["depositChannel"]) == ("ROUTE_SHOWN", "btcb")
        assert (await system.control("advance", orderId=made["orderId"]))["order"]["state"] == "USDT_RECEIVED"
        assert (await system.try_control("expire", orderId=made["orderId"])).status_code == 409
