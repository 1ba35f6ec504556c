"""Masked names of holders on receipts: enough for someone who knows the holder, and nothing for others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipients.holders import mask_name


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("Budi Santoso", "B••• S••••••"),
        ("BUDI  SANTOSO\u200b", "B••• S••••••"),
        ("Sukarno", "S••••••"),
        ("D'Angelo (Jr.)", "D•••••• J•"),
        ("Al-Amin", "A•••••"),
        ("Ｂｕｄｉ", "B•••"),  # noqa: RUF001 - full-width
        ("Élodie", "É•••••"),
        ("Z\u0337\u0353oë", "Z••"),
        ("2nd Budi", "••• B•••"),
    ],
)
def test_each_word_shows_its_first_letter_and_how_long_it_is(name: str, masked: str) -> None:
    assert mask_name(name) == masked


@given(st.text(max_size=200))
def test_of_no_word_more_than_its_first_letter_is_ever_shown(name: str) -> None:
    masked = mask_name(name)
    assert len(masked) <= 38
    for word in masked.split():
        assert word == "…" or set(word[1:]) <= {"•"}
