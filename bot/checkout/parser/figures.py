"""What a word of digits can be: a piece of a number, a sum, or neither; telling by its form alone."""

import re
from typing import Final

from bot.checkout.parser.words import Word

SURE_NUMBER: Final = 10
"""Digits from which on nobody means a sum."""

LONGEST_SUM: Final = SURE_NUMBER - 1
SHORTEST_NUMBER: Final = 5
"""Digits; fewer are no account, so they can only be a sum in short ("50") or a piece of a spaced number."""

_FIGURES = re.compile(r"[+-]?\d[\d.,'\-]*")
_NUMBER = re.compile(r"\+?\d+(?:\.\d+)*|\+?\d+(?:-\d+)*")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,'])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")
_NEARLY_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[.,']\d{3})+(?:[.,]\d+)?")
_RANGE = re.compile(r"[1-9]\d{1,8}00-[1-9]\d{1,8}00")
_SPACED = re.compile(r"[1-9]\d{0,2}(?: \d{3})* 000")
_SPACED_SUM = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")
_THOUSANDS = "000"
_COUNTRY: Final = frozenset({"+62", "62", "0062"})
_ROUND: Final = re.compile(r"[1-9]\d{0,2}|[1-9]\d00")


def digits_of(text: str) -> str:
    """The digits alone."""
    return re.sub(r"\D", "", text)


def is_figures(word: Word) -> bool:
    """Whether the word has digits and no letters."""
    return not word.odd and _FIGURES.fullmatch(word.text) is not None


def is_country(text: str) -> bool:
    """Whether this is the country code of Indonesia, which stands before a mobile number."""
    return text in _COUNTRY


def starts_as_number(text: str) -> bool:
    """Sums begin neither with a zero nor with a plus sign."""
    return text.startswith("+") or (text.startswith("0") and len(digits_of(text)) > 1 and not _has_decimals(text))


def is_piece(text: str) -> bool:
    """Whether `text` may be a number or a piece of one, by its marks; `1.500.000`, `1,5` and `50000-75000` are not."""
    if _NUMBER.fullmatch(text) is None or _has_decimals(text):
        return False
    groups = re.split(r"[.\-]", text)
    if len(groups) > 1 and any(len(group) >= SURE_NUMBER for group in groups) and not is_country(groups[0]):
        return False  # two numbers with a dash between
    if _GROUPED.fullmatch(text) or _RANGE.fullmatch(text):
        return False
    return _NEARLY_GROUPED.fullmatch(text) is None or len(digits_of(text)) >= SURE_NUMBER


def is_sum(text: str) -> bool:
    """Whether `text` is a sum without more being said: grouped, with decimals, or round thousands below ten digits."""
    if text.startswith(("0", "+")) and not _has_decimals(text):
        return False
    if _NEARLY_GROUPED.fullmatch(text) or _SPACED.fullmatch(text) or _has_decimals(text):
        return not is_piece(text)
    digits = digits_of(text)
    return len(digits) <= LONGEST_SUM and digits != _THOUSANDS and digits.endswith(_THOUSANDS)


def is_short_sum(text: str) -> bool:
    """Whether `text` may be a sum with its thousands left out, or a small one: "50", "150", "1500"."""
    return _ROUND.fullmatch(text) is not None


def is_spaced_sum(text: str) -> bool:
    """Whether `text` is a figure with spaces between its thousands, and short enough to be a sum: "2 350 123"."""
    return _SPACED_SUM.fullmatch(text) is not None and len(digits_of(text)) <= LONGEST_SUM


def is_spaced_thousands(text: str) -> bool:
    """Whether `text` is a figure with spaces between its thousands: "1 500 000"."""
    return _SPACED.fullmatch(text) is not None


def _has_decimals(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}[.,]\d{1,2}|-?\d{1,9},\d{3}|-?\d{4,9}\.\d{3}|-?0[.,]\d+", text) is not None
