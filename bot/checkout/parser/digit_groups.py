"""What a word of digits can be: a piece of a number, a sum, or neither, such as a time, a date, a code or a house.

Digits that are neither separate the words around them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    AFTER_CLOCK,
    ASIDE_LABELS,
    BEFORE_ONLY,
    COUNTED,
    MONTHS,
    NUMBER_LABELS,
    NUMBERED_NAMES,
)
from bot.checkout.parser.words import Word
from bot.core.money.vocabulary import CURRENCIES, SCALES

CERTAIN_NUMBER_DIGITS: Final = 10
"""From so many digits on, it can't be a sum."""

LONGEST_SUM: Final = CERTAIN_NUMBER_DIGITS - 1
SHORTEST_NUMBER: Final = 5
"""Minimum of digits of an account. Fewer can only be a shortened amount ("50") or a piece of a spaced number."""

UNITS: Final = frozenset({*CURRENCIES, *(scale for scale in SCALES if len(scale) > 1)})
"""Money words that can't be an initial of a name."""

_DIGIT_GROUPS = re.compile(r"[+-]?\d[\d.,'\-]*")
_NUMBER = re.compile(r"\+?\d+(?:\.\d+)*|\+?\d+(?:-\d+)*")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,'])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")
_NEARLY_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[.,']\d{3})+(?:[.,]\d+)?")
_RANGE = re.compile(r"[1-9]\d{1,8}00-[1-9]\d{1,8}00")
_SPACED = re.compile(r"[1-9]\d{0,2}(?: \d{3})* 000")
_SPACED_SUM = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")
_THOUSANDS = "000"
_COUNTRY: Final = frozenset({"+62", "62", "0062"})
_ROUND: Final = re.compile(r"[1-9]\d{0,2}|[1-9]\d00")
Kind = Literal["number", "sum", "short", "unsure", "huge"]
"""`short`: a sum, perhaps without its thousands. `unsure`: a short number, or an odd sum. `huge`: a sum in groups of
thousands that is too large to be sent, or a number written in such groups."""

_CLOCK: Final = re.compile(r"\d{1,2}(?::\d{2}){1,2}[^\W\d]*")
_DATE: Final = re.compile(
    r"(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|1[0-2])\1(?:(?:19|20)?\d{2})"
    r"|(?:19|20)\d{2}([-./])(?:0?[1-9]|1[0-2])\2(?:0?[1-9]|[12]\d|3[01])"
)
_DAY: Final = re.compile(r"0?[1-9]|[12]\d|3[01]")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_DIGITS: Final = re.compile(r"#?\d[\d.,/\-]*")
_TIMES: Final = frozenset({"jam", "pukul", "pkl", "tgl", "tanggal"})
_OF_DAYS: Final = frozenset({"bulan", "bln", "tahun", "thn"})
_NEXT: Final = frozenset({"ini", "depan", "lalu"})
_BETWEEN: Final = (NUMBER_LABELS - ACCOUNT_LABELS) | {"bank"}
"""What is between a label and its number."""

_MOST_COUNTED: Final = 3
"""Maximum of digits in a count. More digits are a sum or a number."""


@dataclass(frozen=True, slots=True)
class DigitGroup:
    """One number or sum of a run, with spaces as typed. `odd` says how unusual this reading is.

    `places`: the places of its words in the line. `is_unclear`: the words around it leave its meaning unclear.
    """

    kind: Kind
    text: str
    odd: int = 0
    places: range = range(0)
    is_unclear: bool = False

    @property
    def number(self) -> str:
        """Return the digits, with a leading plus sign if there is one."""
        return ("+" if self.text.startswith("+") else "") + digits_of(self.text)


def digits_of(text: str) -> str:
    """Return the digits alone."""
    return re.sub(r"\D", "", text)


def is_digits(word: Word) -> bool:
    """Return whether the word has digits and no letters."""
    return not word.odd and _DIGIT_GROUPS.fullmatch(word.text) is not None


def is_country(text: str) -> bool:
    """Return whether this is the country code of Indonesia, which comes before a mobile number."""
    return text in _COUNTRY


def starts_as_number(text: str) -> bool:
    """Return whether `text` begins with a zero or a plus sign, as no sum does."""
    return text.startswith("+") or (text.startswith("0") and len(digits_of(text)) > 1 and not _has_decimals(text))


def is_piece(text: str) -> bool:
    """Return whether `text` may be a number or a piece of one, by its marks: not `1.500.000`, `1,5`, `50000-75000`."""
    if _NUMBER.fullmatch(text) is None or _has_decimals(text):
        return False
    groups = re.split(r"[.\-]", text)
    if len(groups) > 1 and any(len(group) >= CERTAIN_NUMBER_DIGITS for group in groups) and not is_country(groups[0]):
        return False  # two numbers with a dash between
    if _GROUPED.fullmatch(text) or _RANGE.fullmatch(text):
        return False
    return _NEARLY_GROUPED.fullmatch(text) is None or len(digits_of(text)) >= CERTAIN_NUMBER_DIGITS


def is_sum(text: str) -> bool:
    """Return whether `text` is a sum alone: grouped, with decimals, or round thousands below ten digits."""
    if text.startswith(("0", "+")) and not _has_decimals(text):
        return False
    if _NEARLY_GROUPED.fullmatch(text) or _SPACED.fullmatch(text) or _has_decimals(text):
        return not is_piece(text)
    digits = digits_of(text)
    return len(digits) <= LONGEST_SUM and digits != _THOUSANDS and digits.endswith(_THOUSANDS)


def is_short_sum(text: str) -> bool:
    """Return whether `text` may be a sum without its thousands, or a small sum: "50", "150", "1500"."""
    return _ROUND.fullmatch(text) is not None


def is_spaced_sum(text: str) -> bool:
    """Return whether `text` has spaces between its thousands, and is short enough to be a sum: "2 350 123"."""
    return _SPACED_SUM.fullmatch(text) is not None and len(digits_of(text)) <= LONGEST_SUM


def is_spaced_thousands(text: str) -> bool:
    """Return whether `text` is a number with spaces between its thousands: "1 500 000"."""
    return _SPACED.fullmatch(text) is not None


def _has_decimals(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}[.,]\d{1,2}|-?\d{1,9},\d{3}|-?\d{4,9}\.\d{3}|-?0[.,]\d+", text) is not None


def set_aside(words: Sequence[Word]) -> list[Word]:
    """Return the words, and mark those whose digits are a time, a date, a code, or a count.

    A label ("jam", "kode", "RT") counts for one number. Others that follow are read as if there were no label.
    """
    marked = list(words)
    place = 0
    while place < len(marked):
        place = max(_mark_next(marked, place), place + 1)
    return marked


def is_of_name(words: Sequence[Word], place: int) -> bool:
    """Return whether the number at `place` is part of the destination's name before it ("BNI 46")."""
    return place > 0 and (words[place - 1].folded, _get_folded(words, place)) in NUMBERED_NAMES


def _mark_next(words: list[Word], place: int) -> int:
    """Mark what isn't read from `place` on, and return the next place to read."""
    for rule in (_mark_code, _mark_date, _mark_time, _mark_labelled, _mark_named, _mark_counted):
        stop = rule(words, place)
        if stop > place:
            return stop
    return place


def _set_aside(words: list[Word], start: int, stop: int) -> int:
    words[start:stop] = [replace(word, odd=True, aside=True) for word in words[start:stop]]
    return stop


def _mark_code(words: list[Word], place: int) -> int:
    is_code = words[place].text.startswith("#") and len(words[place].text) > 1
    return _set_aside(words, place, place + 1) if is_code else place


def _mark_date(words: list[Word], place: int) -> int:
    """Mark a date in one word, a day and its month with or without the year, or a month with its year."""
    text = words[place].text
    if _DATE.fullmatch(text):
        return _set_aside(words, place, place + 1)
    at = place
    if _DAY.fullmatch(text) and _get_folded(words, place + 1) in MONTHS:
        at += 1
    elif text.casefold() not in MONTHS or not _YEAR.fullmatch(_get_folded(words, place + 1)):
        return place
    has_year = _YEAR.fullmatch(_get_folded(words, at + 1)) is not None
    return _set_aside(words, place, at + 1 + int(has_year))


def _mark_time(words: list[Word], place: int) -> int:
    text = words[place].text
    if _CLOCK.fullmatch(text):
        return _set_aside(words, place, place + 1)
    is_time = re.fullmatch(r"\d{1,2}(?:[.]\d{2})?", text) and _get_folded(words, place + 1) in AFTER_CLOCK
    return _set_aside(words, place, place + 2) if is_time else place


def _mark_labelled(words: list[Word], place: int) -> int:
    """Mark a label and its number: "jam 10", "kode bank no 123", "RT 03/05". An account number is never marked.

    In "token rek 1234567890" the label "token" doesn't count, because "rek" says what follows.
    """
    label = words[place].folded.strip(".")
    if label not in ASIDE_LABELS:
        return place
    at = place + 1
    while at <= place + 2 and _get_folded(words, at) in _BETWEEN:
        at += 1
    if not _DIGITS.fullmatch(_get_folded(words, at)) or _get_folded(words, at + 1) in UNITS - BEFORE_ONLY:
        return place
    is_short = len(words[at].text) <= _MOST_COUNTED
    if is_short and _get_folded(words, at + 1) in COUNTED and not (label in _TIMES and _is_time(words, at)):
        return place
    stop = _mark_date(words, at)
    return _set_aside(words, place, max(stop, at + 1))


def _is_time(words: Sequence[Word], place: int) -> bool:
    """Return whether the number at `place` is an hour or a day: "10 malam", "3 bulan 12"; three months are a count."""
    unit, after = _get_folded(words, place + 1), _get_folded(words, place + 2)
    return unit == "malam" or (unit in _OF_DAYS and (after in _NEXT or _DIGITS.fullmatch(after) is not None))


def _mark_named(words: list[Word], place: int) -> int:
    """Mark the number of a destination's name, but not the name itself."""
    return _set_aside(words, place + 1, place + 2) if is_of_name(words, place + 1) else place


def _mark_counted(words: list[Word], place: int) -> int:
    """Mark a small number that counts. It makes the sum uncertain, which may be meant several times."""
    text = words[place].text
    counted = _get_folded(words, place + 1)
    if not text.isdecimal() or len(text) > _MOST_COUNTED or counted not in COUNTED:
        return place
    if counted in ASIDE_LABELS and _DIGITS.fullmatch(_get_folded(words, place + 2)):
        return place
    words[place] = replace(words[place], odd=True)
    return place + 1


def _get_folded(words: Sequence[Word], place: int) -> str:
    """Return the word at `place`, or "" if something separates it from the word before."""
    return words[place].folded if place < len(words) and not words[place].parted else ""
