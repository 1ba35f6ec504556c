"""Orders that the documented service rejects (settlement API, 4.5, rules 1 to 7)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.payments.tokens import CODES
from tests.examples import examples
from tests.sandbox.settlement_system import BCA, GOPAY, KEY, ORDERS, SettlementSystem, error_of

VALID: dict[str, object] = {"idrAmount": 150_000, **BCA}


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in VALID.items() if key != name}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (VALID | {"satAmount": 9_000}, "exactly one of satAmount and idrAmount"),
        (without("idrAmount"), "exactly one of satAmount and idrAmount"),
        (VALID | {"idrAmount": 0}, "idrAmount must be a whole positive number"),
        (VALID | {"idrAmount": -5}, "idrAmount must be a whole positive number"),
        (VALID | {"idrAmount": 1.5}, "idrAmount must be a whole positive number"),
        (VALID | {"idrAmount": "150000"}, "idrAmount must be a whole positive number"),
        (VALID | {"idrAmount": True}, "idrAmount must be a whole positive number"),
        (VALID | {"depositChannel": "onchain"}, f"depositChannel must be one of {', '.join(CODES)}"),
        (VALID | {"depositChannel": ["lightning"]}, "depositChannel must be one of"),
        (without("partnerBankCode"), "partnerBankCode is required"),
        (without("partnerBankName"), "partnerBankName is required"),
        (VALID | {"partnerBankCode": "008"}, "not a pair"),
        (VALID | {"partnerBankName": "Bank Central Asia"}, "not a pair"),
        (VALID | {"partnerBankCode": 14}, "partnerBankCode is required and must be a string"),
        (without("recipientDetails"), "recipientDetails is required"),
        (VALID | {"recipientDetails": 1234567890}, "recipientDetails is required and must be a string"),
        (VALID | {"recipientDetails": "123-456-7890"}, "digits only"),
        (VALID | {"recipientDetails": "123 456 7890"}, "digits only"),
        (VALID | {"recipientDetails": "+621234567890"}, "digits only"),
        (VALID | {"recipientDetails": "１２３４５６７８９０"}, "digits only"),  # noqa: RUF001  full width, on purpose
        (VALID | {"recipientDetails": "1234"}, "digits only"),
        (VALID | {"recipientDetails": "1" * 21}, "digits only"),
        (VALID | GOPAY | {"recipientDetails": "81234567890"}, "leading 0"),
        (VALID | GOPAY | {"recipientDetails": "6281234567890"}, "leading 0"),
        (VALID | GOPAY | {"recipientDetails": "081234567"}, "10 to 15 digits"),
        (VALID | GOPAY | {"recipientDetails": "0812345678901234"}, "10 to 15 digits"),
        (VALID | GOPAY | {"recipientDetails": "0812-3456-7890"}, "10 to 15 digits"),
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
    "sent", [b"", b"{", b"[1, 2]", b'"text"', b"NaN", b"[" * 50_000, b'{"idrAmount": NaN}', b"\xff"]
)
async def test_a_body_that_is_no_json_object_is_a_400(sent: bytes) -> None:
    async with SettlementSystem() as system:
        answer = await system.http.post(ORDERS, headers=KEY | {"content-type": "application/json"}, content=sent)
        assert answer.status_code == 400
        assert error_of(answer)


async def test_a_body_of_another_type_is_a_400_and_a_huge_one_a_413() -> None:
    async with SettlementSystem() as system:
        form = await system.http.post(ORDERS, headers=KEY, data={"idrAmount": "150000"})
        assert (form.status_code, error_of(form)) == (400, "content-type must be application/json")
        assert (await system.post(**VALID, note="x" * 200_000)).status_code == 413


@pytest.mark.parametrize(
    "changes",
    [
        {},
        GOPAY,
        GOPAY | {"recipientDetails": "081234567890"},
        GOPAY | {"idrAmount": 20_000_000},
        {"idrAmount": 100_000_000},
        {"idrAmount": 150_000.0},
        {"payoutMethod": "bank_transfer", "depositChannel": "lightning", "bankAccountName": "SARI", "extra": [1]},
        {"depositChannel": None, "satAmount": None, "bankAccountName": None},
        {"recipientDetails": "123456789"},
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


async def test_the_daily_cap_begins_anew_at_midnight_in_jakarta() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", dailyCapIdr=150_000)
        await system.place()
        assert (await system.post(**VALID)).status_code == 400
        system.clock.pass_seconds(14 * 3600)  # 10:00 + 14 h
        await system.place()


async def test_only_lightning_is_left_without_a_wallet_seed() -> None:
    async with SettlementSystem() as system:
        await system.control("settings", configured=False)
        refused = await system.post(**VALID, depositChannel="cbbtc")
        assert (refused.status_code, "not configured" in error_of(refused)) == (400, True)
        await system.place()


async def test_a_method_that_vanished_is_refused() -> None:
    async with SettlementSystem() as system:
        await system.control("methods", "DELETE", bankCode="014")
        assert "not a pair" in error_of(await system.post(**VALID))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=3,
)
FIELDS = (*VALID, "satAmount", "depositChannel", "bankAccountName", "payoutMethod")


@settings(max_examples=examples(150), deadline=None)
@given(changes=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4))
def test_no_input_is_a_500_and_every_order_has_exact_amounts(changes: dict[str, Any]) -> None:
    async def ask() -> None:
        async with SettlementSystem() as system:
            answer = await system.post(**(VALID | changes))
            assert answer.status_code in {201, 400}
            if answer.status_code == 400:
                assert error_of(answer)
            else:
                made = answer.json()
                # The first price is 1,600,000,000 rupiah per bitcoin: 16 rupiah per sat.
                assert made["satAmount"] in {-(-made["idrAmount"] // 16), made["idrAmount"] // 16}

    asyncio.run(ask())
