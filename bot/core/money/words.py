"""Parser of number words: "dua juta lima ratus ribu", "satu setengah juta", "1 juta 500 ribu", "sejuta"."""

from collections.abc import Sequence
from fractions import Fraction

from bot.core.money.vocabulary import (
    DIGITS,
    HALVES,
    HUNDREDS,
    MILLION,
    ONE_OF,
    SCALES,
    TEENS,
    TENS,
    THOUSAND,
    TIMES,
    UNDER_HUNDRED,
)

_HALF = Fraction(1, 2)


class UnknownWords(ValueError):
    """The words aren't a number."""


def read_words(words: Sequence[str]) -> tuple[Fraction, ...]:
    """Return the one or two values that a sequence of number words can have. Digits can stand for words.

    "dua juta lima ratus" has two: 2,000,500 and 2,500,000.

    Raises:
        UnknownWords: the words aren't a number.
    """
    total, ceiling, group = Fraction(0), None, list[str]()
    for word in words:
        scale = _scale(word)
        if scale is None:
            group.append(word)
            continue
        if ceiling is not None and scale >= ceiling:
            raise UnknownWords
        total += scale * _before_scale(word, group)
        ceiling, group = scale, []
    return _with_rest(total, ceiling, group)


def _scale(word: str) -> int | None:
    if word in ONE_OF:
        return ONE_OF[word]
    scales = SCALES.get(word)
    if scales is None:
        return None
    if len(scales) > 1:
        raise UnknownWords
    return scales[0]


def _before_scale(word: str, group: list[str]) -> Fraction:
    if word in ONE_OF:
        if group:
            raise UnknownWords
        return Fraction(1)
    return _under_thousand(group)


def _with_rest(total: Fraction, scale: int | None, rest: list[str]) -> tuple[Fraction, ...]:
    if not rest:
        return (total,)
    number = _under_thousand(rest)
    if scale is None or scale == THOUSAND:
        return (total + number,)
    if scale > MILLION:
        raise UnknownWords
    return (total + number, total + number * THOUSAND)


def _under_thousand(words: list[str]) -> Fraction:
    """Return the value of words such as "tiga ratus dua puluh lima", each term smaller than the one before."""
    if not words:
        raise UnknownWords
    total, step = Fraction(0), 1000
    remaining = list(words)
    while remaining:
        value, next_step = _take_term(remaining)
        if value >= step:
            raise UnknownWords
        total, step = total + value, next_step
    return total


def _take_term(words: list[str]) -> tuple[Fraction | int, int]:
    """Remove the first term. Return its value, and the limit that the next term must stay below."""
    word = words.pop(0)
    if word in HALVES:
        return _HALF, 0
    if word in HUNDREDS:
        return HUNDREDS[word], 100
    if word in TENS:
        return TENS[word], 10
    if word in UNDER_HUNDRED:
        return UNDER_HUNDRED[word], 1
    return _take_digit(_digit(word), words)


def _take_digit(value: int, words: list[str]) -> tuple[int, int]:
    follower = words[0] if words else ""
    if follower in TIMES and value < 10:  # noqa: PLR2004  only single digits are multiplied by words
        words.pop(0)
        return value * TIMES[follower], TIMES[follower]
    if follower in TEENS and 1 < value < 10:  # noqa: PLR2004  "sebelas" is eleven
        words.pop(0)
        return value + TEENS[follower], 1
    return value, 1


def _digit(word: str) -> int:
    if word in DIGITS:
        return DIGITS[word]
    if word.isdecimal() and len(word) <= 3 and not (word.startswith("0") and word != "0"):  # noqa: PLR2004  below 1000
        return int(word)
    raise UnknownWords
