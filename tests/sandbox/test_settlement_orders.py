"""An order's life in the documented service (settlement API, 2.6, 2.7, 3 and 4.5)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.payments import bolt11
from tests.sandbox.settlement_system import GOPAY, START, SettlementSystem

if TYPE_CHECKING:
    from pathlib import Path

LIGHTNING_ROAD = ["LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "USDC_SWAPPED", "IDR_SETTLED", "COMPLETED"]
DEPOSIT_ROAD = ["USDT_RECEIVED", "USDC_SWAPPED", "IDR_SETTLED", "COMPLETED"]
POPULATED = {
    "IDLE": {"invoiceBolt11", "invoiceExpiresAt"},
    "LN_INVOICE_PAID": {"invoicePaidAt", "invoiceLnId"},
    "LN_SWAP_PENDING": {"lnSwapId", "lnSwapInvoice"},
    "USDT_RECEIVED": {"lnSwapTxHash"},
    "USDC_SWAPPED": {"swapTxHash"},
    "IDR_SETTLED": {"partnerBurnTxHash", "partnerRedeemId", "partnerAmountIdr"},
    "COMPLETED": {"completedAt"},
}


async def test_a_lightning_order_comes_with_a_signed_invoice_for_exactly_its_sats() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        invoice = bolt11.decode(made["bolt11"])
        assert (made["satAmount"], made["idrAmount"], made["btcIdr"]) == (9375, 150_000, 1_600_000_000)
        assert (invoice.amount_msat, invoice.currency) == (9_375_000, "bcrt")
        assert invoice.expires_at == START + timedelta(hours=1)
        assert made["invoiceExpiresAt"] == "2026-11-21T04:00:00.000Z"
        assert "deposit" not in made
        memo = invoice.description or ""
        assert "Rp150,000" in memo
        assert made["orderId"] in memo
        assert "1234567890" not in memo


async def test_invoices_can_be_without_an_expiry_of_their_own_and_be_let_expire() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", invoiceExpirySeconds=None)
        made = await system.place()
        assert made["invoiceExpiresAt"] is None
        assert bolt11.decode(made["bolt11"]).expires_at == START + timedelta(hours=1)
        system.clock.pass_seconds(7200)
        assert (await system.read(made["orderId"]))["state"] == "IDLE"
        await system.control("expire", orderId=made["orderId"])
        assert (await system.read(made["orderId"]))["state"] == "FAILED"


@pytest.mark.parametrize(
    ("channel", "chain", "token", "decimals", "units"),
    [
        ("cbbtc", 8453, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8, "9375"),
        ("btcb", 56, "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18, "93750000000000"),
    ],
)
async def test_a_deposit_order_says_what_to_send_where(
    channel: str,
    chain: int,
    token: str,
    decimals: int,
    units: str,
) -> None:
    async with SettlementSystem() as system:
        made = await system.place(depositChannel=channel)
        assert made["bolt11"] is None
        deposit_instructions = made["deposit"]
        assert (
            deposit_instructions["channel"],
            deposit_instructions["chainId"],
            deposit_instructions["tokenAddress"],
            deposit_instructions["decimals"],
        ) == (
            channel,
            chain,
            token,
            decimals,
        )
        assert (
            deposit_instructions["qrValue"]
            == f"ethereum:{token}@{chain}/transfer?address={deposit_instructions['toAddress']}&uint256={units}"
        )
        order = await system.read(made["orderId"])
        kept = (
            order["depositChannel"],
            order["depositChainId"],
            order["depositTokenAddress"],
            order["depositToAddress"],
        )
        assert kept == (channel, chain, token, deposit_instructions["toAddress"])
        assert await system.states_by_hand(made["orderId"]) == DEPOSIT_ROAD
        order = await system.read(made["orderId"])
        assert (order["invoicePaidAt"], order["lnSwapTxHash"], order["invoiceBolt11"]) == (None, None, None)


async def test_each_state_populates_its_fields_and_none_before() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        await system.control("settings", speedSeconds=None)
        shown: set[str] = set()
        for state, fields in POPULATED.items():
            if state == "LN_INVOICE_PAID":
                await system.control("pay", bolt11=made["bolt11"])
            elif state != "IDLE":
                await system.control("advance", orderId=made["orderId"])
            order = await system.read(made["orderId"])
            shown |= fields
            assert order["state"] == state
            assert {name for names in POPULATED.values() for name in names if order[name] is not None} == shown
        assert order["invoiceLnId"] == bolt11.decode(made["bolt11"]).payment_hash


async def test_a_paid_order_moves_by_itself_at_the_set_speed() -> None:
    async with SettlementSystem() as system:
        made = await system.place()
        await system.control("settings", speedSeconds=10)
        await system.control("pay", bolt11=f"LIGHTNING:{made['bolt11'].upper()}")
        seen = []
        for _ in LIGHTNING_ROAD:
            seen.append((await system.read(made["orderId"]))["state"])
            system.clock.pass_seconds(10)
        assert seen == LIGHTNING_ROAD
        order = await system.read(made["orderId"])
        assert order["completedAt"] == order["updatedAt"] == "2026-11-21T03:00:50.000Z"


@pytest.mark.parametrize("channel", ["lightning", "cbbtc"])
async def test_an_unpaid_order_fails_at_its_expiry_and_takes_no_payment(channel: str) -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place(depositChannel=channel))["orderId"]
        system.clock.pass_seconds(3599)
        assert (await system.read(order_id))["state"] == "IDLE"
        system.clock.pass_seconds(1)
        assert (await system.read(order_id))["state"] == "FAILED"
        refused = await system.try_control("pay", orderId=order_id)
        assert (refused.status_code, "expired" in refused.json()["error"]) == (409, True)


@pytest.mark.parametrize("stage", ["IDLE", *LIGHTNING_ROAD[:-1]])
async def test_an_order_can_fail_at_every_stage(stage: str) -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place())["orderId"]
        await system.control("fail", orderId=order_id, stage=stage)
        if stage == "IDLE":
            assert (await system.read(order_id))["state"] == "FAILED"
        else:
            way = LIGHTNING_ROAD[: LIGHTNING_ROAD.index(stage) + 1]
            assert await system.states_by_hand(order_id) == [*way, "FAILED"]
        assert (await system.try_control("advance", orderId=order_id)).status_code == 409
        assert (await system.try_control("fail", orderId=order_id)).status_code == 409


async def test_orders_outlive_the_service_and_missed_steps_happen_when_it_returns(tmp_path: Path) -> None:
    system = SettlementSystem(state_path=tmp_path / "service.db")
    await system.control("settings", speedSeconds=3)
    made, unpaid = await system.place(**GOPAY), await system.place()
    await system.control("pay", bolt11=made["bolt11"])
    before = await system.read(made["orderId"])
    system.stop()
    system.clock.pass_seconds(1000)
    system.start()
    async with system:
        after = await system.read(made["orderId"])
        assert after["state"] == "LN_SWAP_PENDING"
        told = {"state", "updatedAt", "lnSwapId", "lnSwapInvoice"}
        assert {name: after[name] for name in after if name not in told} == {
            name: before[name] for name in before if name not in told
        }
        system.clock.pass_seconds(12)
        assert (await system.read(made["orderId"]))["state"] == "COMPLETED"
        assert [order["id"] for order in await system.listed()] == [unpaid["orderId"], made["orderId"]]
        payees = {bolt11.decode(text).payee for text in (made["bolt11"], (await system.place())["bolt11"])}
        assert len(payees) == 1
