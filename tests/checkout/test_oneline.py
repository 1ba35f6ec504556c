"""Tests of the one-line parser: clear parts are accepted, ambiguous parts are reported, and chat isn't an order."""

import pytest

from bot.checkout.parser import OneLine, read_line
from bot.core.money import Amount
from bot.recipients.banks import display_name
from tests.checkout.order_lines import METHODS


def read(text: str) -> OneLine:
    return read_line(text, METHODS)


def places(line: OneLine) -> list[str]:
    return [display_name(method) for method in line.method_candidates]


def refused(line: OneLine) -> list[str]:
    return [rejection.key for rejection in line.rejections]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("bca 1234567890 1.500", (1_500_000, 1_500)),
        ("1m bca 1234567890", (1_000_000, 1_000_000_000)),
        ("bca 1234567890 50", (50_000, 50_000_000)),
        ("bca 1234567890 \u20bf25000", (25_000,)),
        ("500rb 50rb bca 1234567890", (500_000, 50_000, 550_000)),
        ("500rb dan 500rb bca 1234567890", (1_000_000, 500_000)),
        ("bca 1234567890 1 500rb", (1_500_000, 1_000, 1_000_000, 500_000)),
        ("1 juta 500 bca 1234567890", (1_500_000, 1_000_500)),
        ("15k5 bca 1234567890", (15_500, 15_005)),
        ("bca 1234567890 , 5 jt", (500_000, 5_000_000)),
        ("lima puluh gopay 081234567890", (50_000, 50_000_000)),
        ("bca 1234567890 1/2 juta", (500_000,)),
    ],
)
def test_a_sum_that_can_mean_several_keeps_its_readings_the_likeliest_first(text: str, values: tuple[int, ...]) -> None:
    line = read(text)
    assert (line.amount, line.amount_text) == (None, line.amount_text.strip())
    assert tuple(each.value for each in line.amount_readings) == values
    assert line.amount_text.removeprefix(",") in text


@pytest.mark.parametrize(
    "said",
    [
        "setengah juta (500rb)",
        "500rb = setengah juta",
        "500rb\nRp500.000",
        "Rp500.000 (lima ratus ribu)",
        "500rb: 500.000",
    ],
)
def test_a_sum_that_is_written_twice_is_one_sum(said: str) -> None:
    assert read(f"bca 1234567890 {said}").amount == Amount("IDR", 500_000)
    assert read(f"bca 1234567890 {said.replace('500', '50', 1)}").amount is None or "500" not in said


@pytest.mark.parametrize(
    "text",
    [
        "bca 1234567890 9876543210 500rb",  # two numbers
        "gopay 0812 345 678 90",  # ten digits and 90, or twelve digits
        "ovo 25000 0834 302 664 15 M Ali",  # ten digits are a number already, so nothing short joins them
        "bca 12345678901\u00b2 500rb",
        "bca 1234567890-9876543210 500rb",
        "+62 854 7456 121 123456",
        "103 508 980074 123456 hsbc",
    ],
)
def test_where_the_number_is_anybodys_guess_none_is_taken(text: str) -> None:
    line = read(text)
    assert (line.number, line.doubtful_number) == (None, None)
    assert line.leftover or line.rejections


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("gopay 1234567890 50k", ["recipients.number.not_mobile"]),
        ("bca 123456789012345678901 500rb", ["recipients.number.too_long"]),
        ("bca 1234567890 -50rb", ["core.amount.not_positive"]),
        ("bca 1234567890 0", ["core.amount.not_positive"]),
        ("bca 1234567890 9999 triliun", ["core.amount.too_large"]),
        ("gopay 021 3456789 50k", ["recipients.number.landline"]),
    ],
)
def test_what_is_understood_and_refused_is_said_with_its_reason(text: str, keys: list[str]) -> None:
    assert refused(read(text)) == keys


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("bca mandiri 1234567890 500rb", ["BCA", "Mandiri"]),
        ("500rb mega dana 081234567890", ["Bank Mega", "DANA"]),
        ("mand 1234567890123 500rb budi", ["Mandiri", "Mandiri Taspen", "BSI"]),
        ("bcaa 1234567890 500rb", ["BCA", "BCA Syariah"]),
        ("500rb Dana Sari gopey 081234567890", ["GoPay", "DANA"]),
        ("500rb bac 1234567890", ["BCA"]),  # two letters are swapped
        ("gopey 50k", ["GoPay"]),  # misspelt, and no number confirms it
    ],
)
def test_an_uncertain_destination_is_offered_and_not_taken(text: str, labels: list[str]) -> None:
    line = read(text)
    assert (line.method, sorted(places(line))) == (None, sorted(labels))
