"""Exact parsing of the values in the service's JSON.

The service writes numbers as numbers or as strings, leaves optional fields out, and can add undocumented ones. Values
that a payer's money depends on (amounts, rates, caps, where to pay) must be read exactly. Any other unreadable value
counts as missing, so that it never hides an order's state.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from bot.core.text import plain

LARGEST_AMOUNT = 10**18
LONGEST_DETAIL = 256
LONGEST_INVOICE = 2000
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_WIDEST_EXPONENT = 40
_GROUPED = re.compile(r"\d{1,3}((,\d{3}){2,}|(\.\d{3}){2,}|(,\d{3})+\.\d\d?|(\.\d{3})+,\d\d?)|\d+,\d\d?", re.ASCII)
"""A text whose separators have one meaning: several groups, or a fraction of one or two digits."""

_AMBIGUOUS = re.compile(r"[+-]?\d{1,3}\.\d{3}", re.ASCII)
"""A text that can be a fraction or a group of thousands."""

_NO_CAP = frozenset({"", "none", "unlimited"})
_LONGEST_SHOWN = 40


def to_decimal(value: object) -> Decimal:
    """Return the exact decimal of a number or numeric string.

    Raises:
        ValueError: the value is something else. That includes floats, which aren't exact.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError("not a number")  # noqa: TRY004  pydantic reports ValueErrors
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        raise ValueError("not a number")
    number = Decimal(value)
    if not number.is_finite() or abs(number.adjusted()) > _WIDEST_EXPONENT:
        raise ValueError("not a number that can be meant")
    return number


def _in_range(amount: int) -> int:
    if not 0 <= amount <= LARGEST_AMOUNT:
        raise ValueError("amount out of range")
    return amount


def to_amount(value: object) -> int:
    """Return whole sats or rupiah, 0 to 10**18.

    `29412`, `"29412"` and `29412.0` are the same. Raise ValueError for `29412.5`.
    """
    numerator, denominator = to_decimal(value).as_integer_ratio()
    if denominator != 1:
        raise ValueError("not a whole amount")
    return _in_range(numerator)


def to_cap(value: object) -> int | str | None:
    """Return the largest whole amount within a cap, or None for no cap (null, a blank text, "none", "unlimited").

    A cap that can't be read for certain is returned as a text, cut and never empty.
    """
    text = value.strip().lower() if isinstance(value, str) else None
    if value is None or text in _NO_CAP:
        return None
    if text and _GROUPED.fullmatch(text):
        text = re.sub(r"[.,](\d\d?$)?", "", text)
    try:
        certain = None if text and _AMBIGUOUS.fullmatch(text) else text or value
        numerator, denominator = to_decimal(certain).as_integer_ratio()
        return _in_range(numerator // denominator)
    except ValueError:
        return cut(value) or "?"


def cut(value: object) -> str:
    """Return the beginning of a value that can't be read, to be shown to staff."""
    return plain(str(value))[:_LONGEST_SHOWN]


def to_rate(value: object) -> Decimal:
    """Return a price, exactly as written, above zero."""
    rate = to_decimal(value)
    if rate <= 0:
        raise ValueError("not a rate")
    return rate


def to_instant(value: object) -> datetime:
    """Return an ISO 8601 timestamp as aware UTC. Without a zone, it is UTC."""
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str):
        moment = datetime.fromisoformat(value.strip())
    else:
        raise ValueError("not a timestamp")  # noqa: TRY004  pydantic reports ValueErrors
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("not a timestamp") from None


def to_detail(value: object) -> object:
    """Return an id, a hash or a name with single spaces. An id can also be a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else value


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("not printable")
    return text


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _none_unless_understood(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return None if value == "" else read(value)
    except ValidationError:
        return None


Lenient = WrapValidator(_none_unless_understood)

Amount = Annotated[int, BeforeValidator(to_amount)]
Cap = Annotated[int | str | None, BeforeValidator(to_cap)]
Rate = Annotated[Decimal, BeforeValidator(to_rate)]
Instant = Annotated[datetime, BeforeValidator(to_instant)]
Text = Annotated[str, Field(min_length=1)]
State = Annotated[str, BeforeValidator(_upper), Field(min_length=1)]
Word = Annotated[str, BeforeValidator(_lower), Field(min_length=1)]
Detail = Annotated[
    str, BeforeValidator(to_detail), Field(min_length=1, max_length=LONGEST_DETAIL), AfterValidator(_printable)
]
LongDetail = Annotated[
    str, BeforeValidator(to_detail), Field(min_length=1, max_length=LONGEST_INVOICE), AfterValidator(_printable)
]

MaybeAmount = Annotated[Amount | None, Lenient]
MaybeRate = Annotated[Rate | None, Lenient]
MaybeInstant = Annotated[Instant | None, Lenient]
MaybeText = Annotated[Text | None, Lenient]
MaybeWord = Annotated[Word | None, Lenient]
MaybeDetail = Annotated[Detail | None, Lenient]
MaybeInvoice = Annotated[LongDetail | None, Lenient]
