"""The body of a new order has exactly the fields that were set. An invalid one can't be created."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settlement.client import OrderInput

PAIR: dict[str, Any] = {"partner_bank_code": "014", "partner_bank_name": "BCA", "recipient_details": "0012345678"}
TEXT = st.text(min_size=1)


def test_sats_and_rupiah_are_never_sent_together() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        OrderInput(sat_amount=1, idr_amount=1, **PAIR)


def test_an_amount_is_needed() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        OrderInput(**PAIR)


@pytest.mark.parametrize("amount", [0, -1, 1.0, "50000", True])
def test_an_amount_is_a_whole_number_above_zero(amount: Any) -> None:
    with pytest.raises(ValueError, match="idr_amount"):
        OrderInput(idr_amount=amount, **PAIR)


@pytest.mark.parametrize("field", PAIR)
@pytest.mark.parametrize("junk", ["", None, 12345])
def test_texts_are_texts_so_that_no_leading_zero_is_lost(field: str, junk: Any) -> None:
    with pytest.raises(ValueError, match="validation error"):
        OrderInput(idr_amount=1, **PAIR | {field: junk})


@given(code=TEXT, name=TEXT, recipient=TEXT, holder=st.none() | TEXT, sats=st.integers(1, 10**18))
def test_everything_travels_exactly_as_given(
    code: str, name: str, recipient: str, holder: str | None, sats: int
) -> None:
    order_input = OrderInput(
        sat_amount=sats,
        deposit_channel="btcb",
        partner_bank_code=code,
        partner_bank_name=name,
        recipient_details=recipient,
        bank_account_name=holder,
    )
    expected: dict[str, object] = {
        "satAmount": sats,
        "depositChannel": "btcb",
        "partnerBankCode": code,
        "partnerBankName": name,
        "recipientDetails": recipient,
    }
    if holder is not None:
        expected["bankAccountName"] = holder
    assert order_input.body() == expected


def test_the_reserved_payout_method_is_sent_if_it_is_given() -> None:
    given = OrderInput(idr_amount=1, payout_method="bank_transfer", **PAIR)
    assert given.body()["payoutMethod"] == "bank_transfer"
    assert "payoutMethod" not in OrderInput(idr_amount=1, **PAIR).body()
    with pytest.raises(ValueError, match="payoutMethod"):
        OrderInput.model_validate({"idrAmount": 1, "payoutMethod": "cash", **PAIR})


def test_a_wish_cannot_be_changed_once_made() -> None:
    order_input = OrderInput(idr_amount=1, **PAIR)
    with pytest.raises(ValueError, match="frozen"):
        setattr(order_input, "idr_amount", 2)  # noqa: B010  mypy knows that it is read-only
