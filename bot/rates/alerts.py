"""The price that an alert waits for: read as people type it, and measured against the rate of today."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from bot.core.errors import Rejection
from bot.core.money import Ambiguous, parse_amount
from bot.core.text import plain

STEPS: Final = (1, 2, 5)
"""Percent up or down that are one tap."""

COOL_DOWNS: Final = (6, 24)
"""Hours until an alert that rings again may do so."""

DAYS: Final = (30, 90)
"""How long an alert may wait."""

FARTHEST: Final = 5
"""An alert at more than so many times the rate, or less than that part of it, is a slip of the finger."""

_FIGURES: Final = 4
_PERCENT: Final = re.compile(r"(?P<sign>[+-]?) ?(?P<size>\d{1,3}(?:[.,]\d{1,2})?) ?(?:%|persen|percent)", re.ASCII)
_SCALES_LEFT_OUT: Final = ("", " miliar", " juta")


def moved(rate: Decimal, percent: Decimal | int) -> Decimal:
    """`rate` so many percent away, in whole rupiah and with four figures: a price that one can keep in mind."""
    exact = rate * (100 + percent) / 100
    last = max(exact.adjusted() - _FIGURES + 1, 0)
    return Decimal(int(exact.quantize(Decimal(1).scaleb(last))))


def is_sensible(threshold: Decimal, rate: Decimal) -> bool:
    """Whether somebody may mean this price while the rate is `rate`."""
    return rate / FARTHEST <= threshold <= rate * FARTHEST


def read_threshold(text: str, rate: Decimal) -> Decimal:
    """The price of one bitcoin in rupiah that `text` names ("1,75 M", "1.2 miliar", "1750", "-3%"), near `rate`.

    What reads as several sums is the one that is near; rupiah in millions or miliar may leave that word out.

    Raises:
        Rejection: `subscription.alert_unreadable`, `subscription.alert_too_far` (with `lowest` and `highest`),
            `subscription.alert_is_there`.
    """
    readings = tuple(_readings(text, rate))
    near = [each for each in readings if is_sensible(each, rate)]
    if not readings:
        raise Rejection("subscription.alert_unreadable")
    if not near:
        raise Rejection("subscription.alert_too_far", lowest=int(rate / FARTHEST), highest=int(rate * FARTHEST))
    if near[0] == rate:
        raise Rejection("subscription.alert_is_there")
    return near[0]


def _readings(text: str, rate: Decimal) -> Iterator[Decimal]:
    """All that it may mean, what is written before what may have been left out."""
    percent = _PERCENT.fullmatch(plain(text).casefold())
    if percent is not None:
        size = Decimal(percent["size"].replace(",", "."))
        yield moved(rate, -size if percent["sign"] == "-" else size)
        return
    for scale in _SCALES_LEFT_OUT:
        yield from _sums(f"{text}{scale}")


def _sums(text: str) -> Iterator[Decimal]:
    try:
        found = parse_amount(text)
    except Rejection:
        return
    for amount in found.readings if isinstance(found, Ambiguous) else (found,):
        if amount.currency == "IDR":
            yield Decimal(amount.value)
