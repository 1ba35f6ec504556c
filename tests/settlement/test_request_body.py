"""The body of a new order has exactly what was agreed. An invalid one can't be sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.money import Amount
from bot.settlement.model import PayoutMethod
from tests.settlement.builders import BCA, a_request

TEXT = st.text(min_size=1)


@pytest.mark.parametrize("amount", [0, -1, 1.0, "50000", True, None])
def test_an_amount_is_a_whole_number_above_zero(amount: Any) -> None:
    with pytest.raises(ValueError, match="can't be put"):
        a_request(Amount("IDR", amount)).body()


@pytest.mark.parametrize("junk", ["", None, 12345])
def test_texts_are_texts_so_that_no_leading_zero_is_lost(junk: Any) -> None:
    methods = ({"method": replace(BCA, code=junk)}, {"method": replace(BCA, name=junk)})
    for changes in (*methods, {"number": junk}, {"channel": junk}):
        with pytest.raises(ValueError, match="can't be put"):
            a_request(**changes).body()


@given(
    code=TEXT,
    name=TEXT,
    number=TEXT,
    holder=st.none() | TEXT,
    amount=st.builds(Amount, st.sampled_from(("SAT", "IDR")), st.integers(1, 10**18)),
)
def test_everything_is_sent_exactly_as_given(
    code: str, name: str, number: str, holder: str | None, amount: Amount
) -> None:
    method = PayoutMethod(code, name, "bank")
    expected: dict[str, object] = {
        "satAmount" if amount.currency == "SAT" else "idrAmount": amount.value,
        "depositChannel": "btcb",
        "partnerBankCode": code,
        "partnerBankName": name,
        "recipientDetails": number,
    }
    if holder is not None:
        expected["bankAccountName"] = holder
    assert a_request(amount, method=method, number=number, holder=holder, channel="btcb").body() == expected
