"""Tests of dollars in a typed text: they are recognised only if nothing else can be meant."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.money import Amount
from bot.core.money.dollars import convert_dollars, find_dollars

RATE = Decimal("16251.3")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "$20",
            "20$",
            "$ 20",
            "US$20",
            "us$ 20",
            "$20 usd",
            "20 usd",
            "20 USD",
            "usd20",
            "USD 20",
            "20 usdt",
            "20usdt",
        ),
        *("20 usdc", "20 dollars", "20 dollars please", "20 dolar", "20 dolar AS", "20 us dollars", "20 bucks"),
        *("kirim $20 ke bca 1234567890", "bca 1234567890 20 usd", "20 usdt gopay 081234567890"),
    ],
)
def test_twenty_dollars_come_to_whole_thousands_of_rupiah(text: str) -> None:
    found = find_dollars(text)
    assert found is not None
    assert found.text in text
    assert found.readings == (Fraction(20),)
    assert convert_dollars(found, RATE) == (Amount("IDR", 325_000),)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("$1,500", (Fraction(3, 2), 1_500)),
        ("$1.500", (Fraction(3, 2), 1_500)),
        ("$20.50", (Fraction(41, 2),)),
        ("20k usd", (20_000,)),
        ("20 rb usd", (20_000,)),
    ],
)
def test_both_readings_of_a_number_are_kept(text: str, readings: tuple[Fraction, ...]) -> None:
    found = find_dollars(text)
    assert found is not None
    assert found.readings == readings


@pytest.mark.parametrize(
    "text",
    [
        *("", "20", "20rb", "Rp20.000", "A$20", "S$20", "HK$ 20", "20 sgd", "20 eur", "20 dolar singapura", "NT$20"),
        *("20 canadian dollars", "20 usd to eur", "$20 $30", "20 usd 30 usd", "-$20", "1 500 usd", "$20 500", "$0"),
        *("$0812", "20 million usd", "twenty dollars", "1.2.3 usd", "$20 atau 20 euro"),
    ],
)
def test_anything_else_is_no_sum_in_dollars(text: str) -> None:
    assert find_dollars(text) is None


@given(st.text(max_size=80) | st.text("$ 0123456789.,usdtkrbx-", max_size=40))
def test_every_text_is_read_without_an_error(text: str) -> None:
    found = find_dollars(text)
    if found is not None:
        convert_dollars(found, RATE)
