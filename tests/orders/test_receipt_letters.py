"""The characters that a receipt's fonts draw, and their layout: no box for a missing character, no line too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.drawing.picture import DRAWN, NOTHING, UNDRAWN, make_drawable


@given(st.text(max_size=60))
def test_only_characters_of_the_fonts_are_ever_drawn(text: str) -> None:
    drawn = make_drawable(text, 60)
    assert set(drawn) <= DRAWN | {" "}
    assert bool(drawn) == bool(text.strip())
    assert make_drawable(drawn, 600) == drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("Budi Santoso", "Budi Santoso"),
        ("Rp1.500.000 · ≈ 25,000 sats", "Rp1.500.000 · ≈ 25,000 sats"),
        ("Budi 🎉🇮🇩 Santoso ✅", "Budi Santoso"),
        ("王小明", UNDRAWN),
        ("Иван Santoso", f"{UNDRAWN} Santoso"),
        ("نوميكوس محمد", f"{UNDRAWN} {UNDRAWN}"),
        ("Nguyễn Thị Ngọc", "Nguyen Thi Ngoc"),
        ("e\u0301", "é"),
        ("ＢＣＡ　１２３", "BCA 123"),  # noqa: RUF001 - full-width
        ("٣٤٥", "345"),
        ("\u202eBudi\u2069", "Budi"),
        ("a\tb\nc\u00a0d", "a b c d"),
        ("🎉", NOTHING),
        ("   ", ""),
    ],
)
def test_what_the_fonts_lack_is_left_out_or_replaced(text: str, drawn: str) -> None:
    assert make_drawable(text, 80) == drawn
