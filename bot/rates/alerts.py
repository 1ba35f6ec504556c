"""Read the typed price of an alert, and compare it with the current rate."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from bot.core.errors import Rejection
from bot.core.money import Ambiguous, parse_amount
from bot.core.text import plain

PERCENT_STEPS: Final = (1, 2, 5)
"""Percent up or down that have a button."""

COOLDOWN_HOURS: Final = (6, 24)
"""Hours until a repeated alert can be sent again."""

DURATION_DAYS: Final = (30, 90)
"""Days after which an alert expires."""

MAX_FACTOR: Final = 5
"""A price further than this factor above or below the rate is a typing mistake."""

_SIGNIFICANT_DIGITS: Final = 4
_PERCENT: Final = re.compile(r"(?P<sign>[+-]?) ?(?P<size>\d{1,3}(?:[.,]\d{1,2})?) ?(?:%|persen|percent)", re.ASCII)
_SCALES_TO_TRY: Final = ("", " miliar", " juta")


def shift_rate(rate: Decimal, percent: Decimal | int) -> Decimal:
    """Return the rate changed by `percent`, in whole rupiah with four significant digits."""
    exact = rate * (100 + percent) / 100
    last = max(exact.adjusted() - _SIGNIFICANT_DIGITS + 1, 0)
    return Decimal(int(exact.quantize(Decimal(1).scaleb(last))))


def is_sensible(threshold: Decimal, rate: Decimal) -> bool:
    """Return whether the price is near enough to `rate` to be meant."""
    return rate / MAX_FACTOR <= threshold <= rate * MAX_FACTOR


def read_threshold(text: str, rate: Decimal) -> Decimal:
    """Return the price of one bitcoin in rupiah that `text` names ("1,75 M", "1.2 miliar", "1750", "-3%").

    Of several meanings the one near `rate` is taken. The words "juta" and "miliar" can be left out.

    Raises:
        Rejection: `rates.subscription.alert_unreadable`, `rates.subscription.alert_too_far` (with `lowest` and
            `highest`), `rates.subscription.alert_is_there`.
    """
    readings = tuple(_readings(text, rate))
    near = [each for each in readings if is_sensible(each, rate)]
    if not readings:
        raise Rejection("rates.subscription.alert_unreadable")
    if not near:
        raise Rejection(
            "rates.subscription.alert_too_far", lowest=int(rate / MAX_FACTOR), highest=int(rate * MAX_FACTOR)
        )
    if near[0] == rate:
        raise Rejection("rates.subscription.alert_is_there")
    return near[0]


def _readings(text: str, rate: Decimal) -> Iterator[Decimal]:
    """Yield all prices that `text` can mean: first as written, then with "miliar" and "juta" added."""
    percent = _PERCENT.fullmatch(plain(text).casefold())
    if percent is not None:
        size = Decimal(percent["size"].replace(",", "."))
        yield shift_rate(rate, -size if percent["sign"] == "-" else size)
        return
    for scale in _SCALES_TO_TRY:
        yield from _read_rupiah(f"{text}{scale}")


def _read_rupiah(text: str) -> Iterator[Decimal]:
    try:
        found = parse_amount(text)
    except Rejection:
        return
    for amount in found.readings if isinstance(found, Ambiguous) else (found,):
        if amount.currency == "IDR":
            yield Decimal(amount.value)
