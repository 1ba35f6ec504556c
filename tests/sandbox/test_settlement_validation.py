"""Orders that the documented service rejects (settlement API, 4.5, rules 1 to 7)."""

from __future__ import annotations

import pytest

from bot.payments.tokens import CODES
from tests.sandbox.settlement_system import BCA, GOPAY, SettlementSystem, error_of

VALID: dict[str, object] = {"idrAmount": 150_000, **BCA}


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in VALID.items() if key != name}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (VALID | {"satAmount": 9_000}, "exactly one of satAmount and idrAmount"),
        (without("idrAmount"), "exactly one of satAmount and idrAmount"),
        (VALID | {"idrAmount": 0}, "idrAmount must be a whole positive number"),
        (VALID | {"idrAmount": 1.5}, "idrAmount must be a whole positive number"),
        (VALID | {"depositChannel": "onchain"}, f"depositChannel must be one of {', '.join(CODES)}"),
        (without("partnerBankCode"), "partnerBankCode is required"),
        (VALID | {"partnerBankCode": "008"}, "not a pair"),
        (VALID | {"partnerBankName": "Bank Central Asia"}, "not a pair"),
        (without("recipientDetails"), "recipientDetails is required"),
        (VALID | {"recipientDetails": 1234567890}, "recipientDetails is required and must be a string"),
        (VALID | {"recipientDetails": "123-456-7890"}, "digits only"),
        (VALID | {"recipientDetails": "1234"}, "digits only"),
        (VALID | {"recipientDetails": "1" * 21}, "digits only"),
        (VALID | GOPAY | {"recipientDetails": "81234567890"}, "leading 0"),
        (VALID | GOPAY | {"recipientDetails": "081234567"}, "10 to 15 digits"),
        (VALID | {"idrAmount": 100_000_001}, "must not be over 100000000"),
        (VALID | GOPAY | {"idrAmount": 20_000_001}, "must not be over 20000000"),
        (VALID | {"bankAccountName": 5}, "bankAccountName must be a string"),
        (VALID | {"payoutMethod": "cash"}, "payoutMethod must be bank_transfer"),
    ],
)
async def test_a_broken_rule_is_a_400_that_names_it_and_makes_no_order(body: dict[str, object], said: str) -> None:
    async with SettlementSystem() as system:
        answer = await system.post(**body)
        assert answer.status_code == 400
        assert said in error_of(answer)
        assert await system.listed() == []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        GOPAY,
        GOPAY | {"idrAmount": 20_000_000},
        {"idrAmount": 100_000_000},
        {"payoutMethod": "bank_transfer", "depositChannel": "lightning", "bankAccountName": "SARI", "extra": [1]},
        {"depositChannel": None, "satAmount": None, "bankAccountName": None},
        {"recipientDetails": "12345"},
    ],
)
async def test_what_breaks_no_rule_is_accepted(changes: dict[str, object]) -> None:
    async with SettlementSystem() as system:
        answer = await system.post(**(VALID | changes))
        assert answer.status_code == 201, answer.text


async def test_the_partners_cap_counts_all_orders_that_did_not_fail() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", dailyCapIdr=300_000)
        first = await system.place(idrAmount=200_000)
        refused = await system.post(**(VALID | {"idrAmount": 100_001}))
        assert refused.status_code == 400
        assert "cap of IDR 300000" in error_of(refused)
        await system.control("fail", orderId=first["orderId"])
        await system.place(idrAmount=300_000)
