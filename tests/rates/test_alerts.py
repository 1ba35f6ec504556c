"""A typed price of an alert is read as people write such amounts, near the current rate, or rejected with a reason."""

from decimal import Decimal

import pytest

from bot.core.errors import Rejection
from bot.rates.model import read_threshold

RATE = Decimal("1700123456.78")


@pytest.mark.parametrize(
    ("typed", "price"),
    [
        ("1,8 M", 1_800_000_000),
        ("1.8 miliar", 1_800_000_000),
        ("1.75 billion", 1_750_000_000),
        ("1,75", 1_750_000_000),
        ("1.750", 1_750_000_000),
        ("1750 juta", 1_750_000_000),
        ("1750", 1_750_000_000),
        ("Rp 1.650.000.000", 1_650_000_000),
        ("1650000000", 1_650_000_000),
        ("1650000.000", 1_650_000_000),
        ("dua miliar", 2_000_000_000),
        ("+5%", 1_785_000_000),
        ("5 %", 1_785_000_000),
        ("-3%", 1_649_000_000),
        ("−2,5%", 1_658_000_000),  # noqa: RUF001  a minus, as phones write it
    ],
)
def test_a_price_is_read_as_people_write_it(typed: str, price: int) -> None:
    assert read_threshold(typed, RATE) == price


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("soon", "rates.subscription.alert_unreadable"),
        ("jam 10 250 000", "rates.subscription.alert_unreadable"),
        ("", "rates.subscription.alert_unreadable"),
        ("25000 sats", "rates.subscription.alert_unreadable"),
        ("150rb", "rates.subscription.alert_too_far"),
        ("20 miliar", "rates.subscription.alert_too_far"),
        ("-100%", "rates.subscription.alert_too_far"),
        ("+999%", "rates.subscription.alert_too_far"),
        ("🙈" * 4000, "rates.subscription.alert_unreadable"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_reason(typed: str, reason: str) -> None:
    with pytest.raises(Rejection) as refused:
        read_threshold(typed, RATE)
    assert refused.value.key == reason
