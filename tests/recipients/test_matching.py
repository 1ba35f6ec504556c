"""Comparing our number with the service's, which may be masked, and masking numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipients.numbers import compare_numbers, mask_number

ACCOUNT = st.from_regex(r"[0-9]{6,18}", fullmatch=True)


@pytest.mark.parametrize(
    "theirs", ["081234567890", "6281234567890", "+62 812-3456-7890", "81234567890", "0062 81234567890"]
)
def test_an_ewallets_number_is_the_same_in_every_spelling(theirs: str) -> None:
    assert compare_numbers("081234567890", theirs, "ewallet") == "same"
    assert compare_numbers("+6281234567890", theirs, "ewallet") == "same"


def test_a_banks_number_is_the_same_only_digit_for_digit() -> None:
    assert compare_numbers("0812345678", "081-234-5678", "bank") == "same"
    assert compare_numbers("0812345678", "62812345678", "bank") == "different"
    assert compare_numbers("0812345678", "812345678", "bank") == "different"


@pytest.mark.parametrize(
    "theirs",
    [
        "******7890",
        "xxxx7890",
        "XXXXXX7890",
        "\u2022\u2022\u20227890",
        "\u20267890",
        "12****7890",
        "1234**7890",
        "1234######",
        "12**56**90",
    ],
)
def test_a_mask_that_shows_our_digits_in_their_places_fits(theirs: str) -> None:
    assert compare_numbers("1234567890", theirs, "bank") == "masked"


@pytest.mark.parametrize("theirs", ["******7891", "13****7890", "1234567890*", "*1234567890", "12345678901234*90"])
def test_a_mask_that_shows_other_digits_or_more_of_them_does_not_fit(theirs: str) -> None:
    assert compare_numbers("1234567890", theirs, "bank") == "different"


@pytest.mark.parametrize(
    "theirs", ["***", "*********0", "1*********", "", "   ", "BCA 1234567890", "-", "*" * 500, "...90", "12*0"]
)
def test_what_tells_nobody_apart_is_no_evidence(theirs: str) -> None:
    assert compare_numbers("1234567890", theirs, "bank") == "different"


@given(number=ACCOUNT, shown=st.integers(min_value=4, max_value=5), signs=st.integers(min_value=1, max_value=12))
def test_any_number_fits_its_own_mask_and_no_other_ending(number: str, shown: int, signs: int) -> None:
    assert compare_numbers(number, "*" * signs + number[-shown:], "bank") == "masked"
    other = str((int(number[-1]) + 1) % 10)
    assert compare_numbers(number, "*" * signs + number[-shown:-1] + other, "bank") == "different"


def test_our_own_mask_shows_four_digits_and_never_most_of_a_short_number() -> None:
    assert [mask_number(number) for number in ("1234567890", "081234567890", "12345", "1", "")] == [
        "••••7890",
        "••••7890",
        "••••45",
        "••••",
        "••••",
    ]
