"""An agent's invalid requests are rejected before the service is called, and each error says what to send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.mcp_server.answers import join_words
from bot.payments.tokens import CODES
from tests.mcp_server.agent_system import BCA, AgentSystem, open_agent_system, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NUMBER = "98765432109876543210123"
"""No part of it may be repeated."""


@pytest.fixture
async def system() -> AsyncIterator[AgentSystem]:
    async with open_agent_system("documented") as made:
        yield made


INVALID_ORDERS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"satAmount": 10_000}, ("Both", "exactly one")),
    ({"idrAmount": None}, ("Neither", "exactly one")),
    ({"idrAmount": 0}, ("idrAmount", "greater than 0")),
    ({"idrAmount": -150_000}, ("idrAmount", "greater than 0")),
    ({"idrAmount": 150_000.5}, ("idrAmount", "whole JSON number")),
    ({"idrAmount": "150.000"}, ("idrAmount", "without separators")),
    ({"idrAmount": "150,000"}, ("idrAmount", "without separators")),
    ({"idrAmount": "1e5"}, ("idrAmount", "without separators")),
    ({"idrAmount": True}, ("idrAmount", "whole JSON number")),
    ({"idrAmount": 10**13}, ("idrAmount", "less than or equal")),
    ({"idrAmount": 19_999}, ("smallest order is Rp20,000", "idrAmount 20000 or more")),
    ({"idrAmount": None, "satAmount": 100}, ("smallest order is Rp20,000", "worth about")),
    ({"idrAmount": 100_000_001}, ("at most Rp100,000,000 per transfer", "idrAmount 100000000 or less")),
    ({"idrAmount": None, "satAmount": 10**8}, ("at most Rp100,000,000 per transfer", "worth about")),
    ({"depositChannel": "onchain"}, ("depositChannel", join_words(map(repr, CODES), "or"))),
    ({"payoutMethod": "cash"}, ("payoutMethod", "bank_transfer")),
    ({"partnerBankName": "BCA"}, ("list_payout_methods", "Did you mean", "BANK CENTRAL ASIA")),
    ({"partnerBankCode": "999"}, ("list_payout_methods", "Did you mean", "“014”")),
    ({"partnerBankCode": "999", "partnerBankName": "NOWHERE"}, ("list_payout_methods", "unchanged.")),
    ({"partnerBankCode": None}, ("partnerBankCode", "JSON string")),
    ({"partnerBankCode": 14}, ("partnerBankCode", "JSON string")),
    ({"recipientDetails": 1234567890}, ("recipientDetails", "JSON string")),
    ({"recipientDetails": ""}, ("recipientDetails", "at least 1")),
    ({"recipientDetails": "1234-5678-90"}, ("account number", "digits")),
    ({"recipientDetails": "1234 567890"}, ("account number", "digits")),
    ({"recipientDetails": "+6281234567890"}, ("account number", "country code")),
    ({"recipientDetails": "١٢٣٤٥٦٧٨٩٠"}, ("account number", "digits")),
    ({"recipientDetails": "1234"}, ("account number", "5 to 20")),
    ({"recipientDetails": NUMBER}, ("account number", "5 to 20")),
    ({"bankAccountName": "Budi\nSantoso"}, ("bankAccountName", "one line")),
    ({"bankAccountName": "12345"}, ("bankAccountName", "letters")),
    ({"bankAccountName": "B" * 61}, ("bankAccountName", "60 characters")),
    ({"depositchannel": "btcb"}, ("only these arguments", "depositChannel")),
    ({"bankAccount": "Budi"}, ("only these arguments", "Send no others")),
]


async def test_a_wish_that_cannot_be_is_refused_without_asking(system: AgentSystem) -> None:
    for changes, expected in INVALID_ORDERS:
        text = await system.is_refused(**changes)
        for words in expected:
            assert words in text, changes
        assert "No order was created." in text, changes
        assert "Input should" not in text, changes
        assert NUMBER[:5] not in text
    assert await system.posts() == 0


async def test_what_is_no_mobile_number_is_refused_for_an_ewallet(system: AgentSystem) -> None:
    gopay = await system.destination("GOPAY")
    for number in ("12345", "081234567890123456", "+60123456789", "0211234567", "081-234-567-890", "hello"):
        text = await system.is_refused(**gopay, recipientDetails=number)
        assert "mobile number" in text, number
        assert "081234567890 or +6281234567890" in text, number
    assert await system.posts() == 0


async def test_a_token_that_is_not_configured_is_refused_without_asking(system: AgentSystem) -> None:
    await system.switches(configured=False)
    text = await system.is_refused(depositChannel="btcb")
    assert "Send one of: lightning." in text
    assert await system.posts() == 0


CLOSED: list[tuple[dict[str, object], int, str]] = [
    ({"maxAmountTransfer": "50.000"}, 0, "the meaning of its maxAmountTransfer “50.000” isn't known"),
    ({"maxAmountTransfer": "no limit"}, 0, "the meaning of its maxAmountTransfer “no limit” isn't known"),
    ({"kind": "qris"}, 0, "the meaning of its kind “qris” isn't known"),
    ({"maxAmountTransfer": 0}, 0, "it takes nothing now"),
    ({"maxAmountTransfer": "19999"}, 19_999, "it takes nothing now"),
]


async def test_a_destination_that_takes_no_orders_is_listed_with_an_error_and_refused(system: AgentSystem) -> None:
    listed = (await system.service.control("GET", "/methods"))["methods"]
    await system.switches(methodsCacheSeconds=0)
    for changes, cap, why in CLOSED:
        rows = [{**row, **changes} if row["bankName"] == BCA["partnerBankName"] else row for row in listed]
        await system.service.control("POST", "/methods", methods=rows)
        await system.service.clock.sleep(60)
        methods = (await system.does("list_payout_methods"))["methods"]
        shown = next(row for row in methods if row["bankName"] == BCA["partnerBankName"])
        assert (shown["maxAmountTransfer"], shown["error"]) == (cap, f"BANK CENTRAL ASIA takes no orders: {why}.")
        assert all("error" not in row for row in methods if row is not shown)
        assert shown["error"] in text_of(await system.call("list_payout_methods"))
        for amount in ({"idrAmount": 20_000}, {"idrAmount": None, "satAmount": 10_000}):
            said = await system.is_refused(**amount)
            assert shown["error"] in said
            assert "No order was created." in said
    assert await system.posts() == 0


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("get_offramp_order", {}, "orderId: required"),
    ("get_offramp_order", {"orderId": 5}, "orderId: must be a JSON string"),
    ("get_offramp_order", {"orderId": ".."}, "isn't a valid order id"),
    ("wait_for_offramp_order", {"orderId": "."}, "isn't a valid order id"),
    ("wait_for_offramp_order", {"orderId": "x", "timeoutSeconds": 601}, "timeoutSeconds: must be less"),
    ("list_offramp_orders", {"limit": 0}, "limit: must be greater"),
    ("list_offramp_orders", {"limit": 101}, "limit: must be less"),
    ("list_offramp_orders", {"limit": "many"}, "limit: must be a whole JSON number"),
    ("send_money", {}, "doesn't exist"),
]


async def test_arguments_that_do_not_fit_are_named(system: AgentSystem) -> None:
    for tool, arguments, expected in CALLS:
        assert expected in await system.fails(tool, **arguments), tool
