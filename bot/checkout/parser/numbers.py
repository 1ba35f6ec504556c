"""What digits can be an account or mobile number, and whether it is usual for a destination."""

import re
from collections.abc import Sequence
from typing import Final

from bot.core.errors import Rejection
from bot.core.money.tokens import WHOLE_NUMBER, Token
from bot.core.money.typed import kind_of
from bot.recipients.banks import find_known
from bot.recipients.numbers import MIN_ACCOUNT_DIGITS, TYPICAL_ACCOUNT_DIGITS, LikeMobile, clean_number
from bot.settlement.model import BANK, PayoutMethod

LEAST_DIGITS: Final = 8
"""Digits of an account or mobile number in pieces."""

_MOBILE: Final = re.compile(r"(?:\+?62|0)?8\d{8,11}")
_COUNTRY: Final = frozenset({"+62", "62", "0062"})
_PIECE: Final = re.compile(r"(?!\d{4,}\.\d{3}$|[1-9]\d{1,8}00-[1-9]\d{1,8}00$)(?:\+?\d+(?:\.\d+)*|\+?\d+(?:-\d+)*)")
"""A number, or a piece of one, by its marks: not "150000.000", and no range of sums."""


def is_number(pieces: Sequence[Token]) -> bool:
    """Return whether the tokens can be a number with spaces in it. A complete number needs no more digits."""
    if not all(_PIECE.fullmatch(token.text) and kind_of(token) not in "gof" for token in pieces):
        return False
    rest = pieces[1:] if pieces[0].text in _COUNTRY else pieces
    is_whole = len(rest) == 1 or all(len(token.digits) < WHOLE_NUMBER for token in rest)
    return is_whole and all(token.joined and not token.text.startswith("+") for token in pieces[1:])


def is_weak_number(pieces: Sequence[Token]) -> bool:
    """Return whether the digits can be a number of an unusual length. One in pieces begins as a phone's."""
    if (len(pieces) > 1 and pieces[0].text[0] not in "0+") or not is_number(pieces) or is_round(pieces[0]):
        return False
    return sum(len(token.digits) for token in pieces) >= MIN_ACCOUNT_DIGITS


def written_digits(pieces: Sequence[Token]) -> str:
    """Return the digits of a number in pieces, with a leading plus sign if there is one."""
    return ("+" if pieces[0].text.startswith("+") else "") + "".join(token.digits for token in pieces)


def could_be_whole(number: str, method: PayoutMethod | None) -> bool:
    """Return whether `number` needs no more digits: it is usual for the destination, or anywhere if none is known."""
    if method is not None:
        return is_usual(method, number)
    return len(number.lstrip("+")) in TYPICAL_ACCOUNT_DIGITS or _MOBILE.fullmatch(number) is not None


def takes_any_number(method: PayoutMethod | None) -> bool:
    """Return whether the numbers can have any length, as a bank's can, or those of no known destination."""
    known = None if method is None else find_known(method.code, method.name)
    return method is None or (method.kind == BANK and (known is None or known.digits is None))


def is_usual(method: PayoutMethod, number: str) -> bool:
    """Return whether `method` has numbers of this form."""
    try:
        remark = clean_number(method, number).remark
    except Rejection:
        return False
    # The user is asked about a number that may be a phone's. It makes no other reading of the line likelier.
    return remark is None or isinstance(remark, LikeMobile)


def as_sent(number: str, method: PayoutMethod | None) -> str:
    """Return the form that goes to the service. Return it as typed if no method is known, or the method rejects it."""
    if method is None:
        return re.sub(r"^(?:\+|00)?62(?=8)|^(?=8\d{8,11}$)", "0", number)
    try:
        return clean_number(method, number).number
    except Rejection:
        return number


def is_whole(token: Token, method: PayoutMethod | None) -> bool:
    """Return whether the token alone is a complete and usual number."""
    return len(token.digits) >= WHOLE_NUMBER and is_number([token]) and could_be_whole(written_digits([token]), method)


def may_be_sum_too(token: Token) -> bool:
    """Return whether a piece of a number may be the sum, if the line has none: "1000999 008"."""
    return MIN_ACCOUNT_DIGITS <= len(token.text) < WHOLE_NUMBER and token.text.isdecimal() and token.text[0] != "0"


def is_round(token: Token) -> bool:
    """Return whether these are plain digits of whole thousands."""
    return token.text.isdecimal() and token.text.endswith("000") and token.text[0] != "0"
