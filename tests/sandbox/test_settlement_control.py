"""The sandbox's controls: difficult behaviour of the service, and data for tests and benchmarks."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from bot.payments import bolt11
from bot.payments.errors import InvoiceMismatch
from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.sandbox.settlement_system import BCA, START, SettlementSystem


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


async def test_logs_never_hold_a_recipient_a_name_or_a_secret() -> None:
    with capture_logs() as logs:
        async with SettlementSystem() as system:
            made = await system.place(bankAccountName="SARI DEWI")
            await system.post(idrAmount=150_000, **(BCA | {"recipientDetails": "12-34-secret"}))
            await system.states_by_hand(made["orderId"])
    assert {entry["event"] for entry in logs} >= {"order_created"}
    for hidden in ("1234567890", "12-34-secret", "SARI", SANDBOX_API_KEY.partition(".")[2], made["bolt11"]):
        assert hidden not in str(logs)
