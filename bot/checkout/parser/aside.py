"""Figures that are neither a number nor a sum: times, dates, codes, houses. They part words, and join nothing."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.checkout.parser.sums import BEFORE_ONLY
from bot.checkout.parser.vocabulary import (
    ACCOUNT_LABELS,
    AFTER_CLOCK,
    ASIDE_LABELS,
    COUNTED,
    MONTHS,
    NUMBER_LABELS,
    NUMBERED_NAMES,
)
from bot.checkout.parser.words import Word
from bot.core.money.vocabulary import CURRENCIES, SCALES

_CLOCK: Final = re.compile(r"\d{1,2}(?::\d{2}){1,2}[^\W\d]*")
_DATE: Final = re.compile(
    r"(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|1[0-2])\1(?:(?:19|20)?\d{2})"
    r"|(?:19|20)\d{2}([-./])(?:0?[1-9]|1[0-2])\2(?:0?[1-9]|[12]\d|3[01])"
)
_DAY: Final = re.compile(r"0?[1-9]|[12]\d|3[01]")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_FIGURE: Final = re.compile(r"#?\d[\d.,/\-]*")
_TIMES: Final = frozenset({"jam", "pukul", "pkl", "tgl", "tanggal"})
_OF_DAYS: Final = frozenset({"bulan", "bln", "tahun", "thn"})
_NEXT: Final = frozenset({"ini", "depan", "lalu"})
_BETWEEN: Final = (NUMBER_LABELS - ACCOUNT_LABELS) | {"bank"}
"""What stands between a label and its figure."""

_MOST_COUNTED: Final = 3
"""Digits of what is counted; longer figures are sums and numbers."""


def set_aside(words: Sequence[Word]) -> list[Word]:
    """The words, with those marked whose figures are a time, a date, a code, or a count of something.

    A label ("jam", "kode", "RT") says so of one figure; those that follow it are whatever they are by themselves.
    """
    marked = list(words)
    place = 0
    while place < len(marked):
        place = max(_mark(marked, place), place + 1)
    return marked


def is_of_name(words: Sequence[Word], place: int) -> bool:
    """Whether the figure at `place` is part of the destination's name before it ("BNI 46")."""
    return place > 0 and (words[place - 1].folded, _folded(words, place)) in NUMBERED_NAMES


def _mark(words: list[Word], place: int) -> int:
    """Mark what is aside from `place` on; where to go on."""
    for rule in (_code, _date, _clock, _labelled, _named, _counted):
        stop = rule(words, place)
        if stop > place:
            return stop
    return place


def _aside(words: list[Word], start: int, stop: int) -> int:
    words[start:stop] = [replace(word, odd=True, aside=True) for word in words[start:stop]]
    return stop


def _code(words: list[Word], place: int) -> int:
    is_code = words[place].text.startswith("#") and len(words[place].text) > 1
    return _aside(words, place, place + 1) if is_code else place


def _date(words: list[Word], place: int) -> int:
    """A date in one word, or a day and its month, with the year or without; or a month with its year."""
    text = words[place].text
    if _DATE.fullmatch(text):
        return _aside(words, place, place + 1)
    at = place
    if _DAY.fullmatch(text) and _folded(words, place + 1) in MONTHS:
        at += 1
    elif text.casefold() not in MONTHS or not _YEAR.fullmatch(_folded(words, place + 1)):
        return place
    has_year = _YEAR.fullmatch(_folded(words, at + 1)) is not None
    return _aside(words, place, at + 1 + int(has_year))


def _clock(words: list[Word], place: int) -> int:
    text = words[place].text
    if _CLOCK.fullmatch(text):
        return _aside(words, place, place + 1)
    is_time = re.fullmatch(r"\d{1,2}(?:[.]\d{2})?", text) and _folded(words, place + 1) in AFTER_CLOCK
    return _aside(words, place, place + 2) if is_time else place


def _labelled(words: list[Word], place: int) -> int:
    """A label and the figure that it leads to: "jam 10", "kode bank no 123", "RT 03/05"; never an account's.

    Such labels are words of their own as well ("token rek 1234567890"), but "rek" says what follows.
    """
    label = words[place].folded.strip(".")
    if label not in ASIDE_LABELS:
        return place
    at = place + 1
    while at <= place + 2 and _folded(words, at) in _BETWEEN:
        at += 1
    if not _FIGURE.fullmatch(_folded(words, at)) or _folded(words, at + 1) in _UNITS - BEFORE_ONLY:
        return place
    is_short = len(words[at].text) <= _MOST_COUNTED
    if is_short and _folded(words, at + 1) in COUNTED and not (label in _TIMES and _is_time(words, at)):
        return place
    stop = _date(words, at)
    return _aside(words, place, max(stop, at + 1))


def _is_time(words: Sequence[Word], place: int) -> bool:
    """Whether the figure at `place` is an hour or a day: "10 malam", "3 bulan 12"; three months are a count."""
    unit, after = _folded(words, place + 1), _folded(words, place + 2)
    return unit == "malam" or (unit in _OF_DAYS and (after in _NEXT or _FIGURE.fullmatch(after) is not None))


def _named(words: list[Word], place: int) -> int:
    """The figure of a destination's name; the name itself stays what it is."""
    return _aside(words, place + 1, place + 2) if is_of_name(words, place + 1) else place


def _counted(words: list[Word], place: int) -> int:
    """A small figure that counts; it leaves the sum in doubt, for that may be meant so many times."""
    text = words[place].text
    counted = _folded(words, place + 1)
    if not text.isdecimal() or len(text) > _MOST_COUNTED or counted not in COUNTED:
        return place
    if counted in ASIDE_LABELS and _FIGURE.fullmatch(_folded(words, place + 2)):
        return place
    words[place] = replace(words[place], odd=True)
    return place + 1


def _folded(words: Sequence[Word], place: int) -> str:
    """The word at `place` where nothing parts it from the one before; empty otherwise."""
    return words[place].folded if place < len(words) and not words[place].parted else ""


_UNITS: Final = frozenset({*CURRENCIES, *(scale for scale in SCALES if len(scale) > 1)})
