"""Compare our number with the service's, which may be masked, and mask numbers."""

import re
from typing import Final, Literal

from bot.core.text import plain
from bot.settlement.model import EWALLET

NumberMatch = Literal["same", "masked", "different"]

MIN_VISIBLE_DIGITS: Final = 4
"""Distinctive digits that a masked number must show. With fewer it matches too many people."""

VISIBLE_CHARACTERS: Final = 4
_LONGEST: Final = 64
_MASK = re.compile(r"[*x•●∙·#_…]+|\.{2,}")
_SEPARATORS = re.compile(r"[ .\-()+']+")


def compare_numbers(ours: str, theirs: str, kind: str) -> NumberMatch:
    """Return whether the service's `payoutRecipient` is our number.

    The settlement API says "masked" (2.7), but not in which form. `kind` is the payout method's. For an e-wallet
    `0812…`, `62812…` and `+62812…` are one number. A masked number is "masked" if the visible digits match ours in
    place, and at least four of them are distinctive. The length of a mask proves nothing, since many services mask
    with a fixed number of signs.
    """
    their_digits, our_digits = _normalize(theirs), _normalize(ours)
    if not their_digits or not our_digits or len(theirs) > _LONGEST:
        return "different"
    spellings = _spellings(our_digits) if kind == EWALLET else {our_digits}
    if "*" not in their_digits:
        return "same" if their_digits in spellings else "different"
    if _count_distinctive_digits(their_digits, kind) < MIN_VISIBLE_DIGITS:
        return "different"
    pattern = their_digits.replace("*", "[0-9]+")
    return "masked" if any(re.fullmatch(pattern, spelling) for spelling in spellings) else "different"


def is_masked(number: str) -> bool:
    """Return whether the service shows only a part of a number."""
    return bool(_MASK.search(number))


def _normalize(text: str) -> str:
    """Return the digits, with one `*` for each masked part. It is empty if the text has other characters."""
    # NFKC turns an ellipsis into dots, which count as separators, so it is replaced before.
    marked = _MASK.sub("*", plain(text.replace("…", "*")).casefold())
    squeezed = re.sub(r"\*+", "*", _SEPARATORS.sub("", marked))
    return squeezed if re.fullmatch(r"[0-9*]+", squeezed) else ""


def _spellings(digits: str) -> set[str]:
    """Return all ways to write an Indonesian mobile number, without the plus sign."""
    national = re.sub(r"^(?:00)?62", "", digits).removeprefix("0")
    return {prefix + national for prefix in ("", "0", "62", "620", "0062")}


def _count_distinctive_digits(masked: str, kind: str) -> int:
    """Return how many visible digits differ between people. Every mobile number begins with 08 or 628."""
    rest = re.sub(r"^(?:00)?(?:620?|6(?=\*)|0)?8?", "", masked) if kind == EWALLET else masked
    return sum(character.isdecimal() for character in rest)


def mask_number(number: str) -> str:
    """Return `number` masked: its last four characters, but never more than half of it."""
    shown = min(VISIBLE_CHARACTERS, len(number) // 2)
    return "••••" + (number[-shown:] if shown else "")
