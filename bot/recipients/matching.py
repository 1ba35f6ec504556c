"""Compare two numbers, one of which may be masked, and mask numbers ourselves."""

import re
from typing import Final, Literal

from bot.core.text import plain
from bot.settlement.model import EWALLET

NumberMatch = Literal["same", "masked", "different"]

MIN_VISIBLE_DIGITS: Final = 4
"""Telling digits; a mask that shows fewer fits too many people."""

VISIBLE_CHARACTERS: Final = 4
_LONGEST: Final = 64
_MASK = re.compile(r"[*x•●∙·#_…]+|\.{2,}")
_SEPARATORS = re.compile(r"[ .\-()+']+")


def compare_numbers(ours: str, theirs: str, kind: str) -> NumberMatch:
    """Whether the service's `payoutRecipient` is the number that we gave (settlement API, 2.7: "masked"; form unsaid).

    `kind` is the payout method's. An e-wallet's `0812…`, `62812…`, `+62812…` are one number. A masked form is
    `masked` if the digits it shows are ours in place and at least four of them tell people apart; a mask's length
    is no evidence, for many services mask with a fixed number of signs.
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


def _normalize(text: str) -> str:
    """Digits, and one `*` for each masked stretch; empty if there is anything else."""
    # NFKC turns an ellipsis into dots and would hide it among separators, so it is marked first.
    marked = _MASK.sub("*", plain(text.replace("…", "*")).casefold())
    squeezed = re.sub(r"\*+", "*", _SEPARATORS.sub("", marked))
    return squeezed if re.fullmatch(r"[0-9*]+", squeezed) else ""


def _spellings(digits: str) -> set[str]:
    """All ways to write one Indonesian mobile number, without the plus sign."""
    national = re.sub(r"^(?:00)?62", "", digits).removeprefix("0")
    return {prefix + national for prefix in ("", "0", "62", "620", "0062")}


def _count_distinctive_digits(masked: str, kind: str) -> int:
    """How many digits are shown that differ from person to person; every mobile number begins 08 or 628."""
    rest = re.sub(r"^(?:00)?(?:620?|6(?=\*)|0)?8?", "", masked) if kind == EWALLET else masked
    return sum(character.isdecimal() for character in rest)


def mask_number(number: str) -> str:
    """Return the last four characters of `number`, fewer where that would be over half of it."""
    shown = min(VISIBLE_CHARACTERS, len(number) // 2)
    return "••••" + (number[-shown:] if shown else "")
