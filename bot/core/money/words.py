"""Parser of number words: "dua juta lima ratus ribu", "satu setengah juta", "1 juta 500 ribu", "sejuta".

A half or a quarter before a scale is a part of that scale ("setengah juta"). Behind a scale it is a part of that scale
as well ("sejuta setengah" is 1,500,000), but writers can mean something else, so it is never sure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bot.core.money.vocabulary import (
    DIGITS,
    FRACTIONS,
    HUNDREDS,
    MILLION,
    ONE_OF,
    PARTS,
    SCALES,
    TEENS,
    TENS,
    THOUSAND,
    TIMES,
    UNDER_HUNDRED,
)

_HALF = Fraction(1, 2)
_HUNDRED = 100


class UnknownWords(ValueError):
    """The words aren't a number."""


@dataclass(frozen=True, slots=True)
class NumberInWords:
    """The values that number words can have, the likeliest first. If they aren't `sure`, the user has to confirm."""

    values: tuple[Fraction, ...]
    sure: bool = True


def read_words(words: Sequence[str]) -> NumberInWords:
    """Return the values that a sequence of number words can have. Digits can stand for words.

    "dua juta lima ratus" has two: 2,000,500 and 2,500,000.

    Raises:
        UnknownWords: the words aren't a number.
    """
    total, ceiling, group = NumberInWords((Fraction(0),)), None, list[str]()
    for word in words:
        scale = _scale(word)
        if scale is None:
            group.append(word)
            continue
        if ceiling is not None and scale >= ceiling:
            raise UnknownWords
        total = _add(total, _before_scale(word, group), scale, ceiling)
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


def _before_scale(word: str, group: list[str]) -> NumberInWords:
    if word in ONE_OF:
        if group:
            raise UnknownWords
        return NumberInWords((Fraction(1),))
    return _under_thousand(group)


def _add(total: NumberInWords, count: NumberInWords, scale: int, before: int | None) -> NumberInWords:
    """Return the total with so many of a scale. A part right behind a scale ("sejuta setengah ribu") is of either."""
    added = [each * scale for each in count.values]
    if before is not None and count.values[0] < 1:
        return NumberInWords(_sums(total, [*added, count.values[0] * before]), sure=False)
    return NumberInWords(_sums(total, added), sure=total.sure and count.sure)


def _sums(total: NumberInWords, added: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return tuple(dict.fromkeys(each + more for more in added for each in total.values))


def _with_rest(total: NumberInWords, scale: int | None, rest: list[str]) -> NumberInWords:
    if not rest:
        return total
    number = _under_thousand(rest)
    if scale is None:
        return replace(number, values=_sums(total, number.values))
    if number.values[0] < 1:
        return NumberInWords(_sums(total, [number.values[0] * scale]), sure=False)
    sure = total.sure and number.sure and number.values[0].denominator == 1
    if scale == THOUSAND:
        return NumberInWords(_sums(total, number.values), sure=sure)
    if scale > MILLION:
        raise UnknownWords
    thousands = [each * THOUSAND for each in number.values]
    return NumberInWords(_sums(total, [*number.values, *thousands]), sure=sure)


def _under_thousand(words: list[str]) -> NumberInWords:
    """Return the value of words such as "tiga ratus dua puluh lima", each term smaller than the one before.

    A half behind a hundred is of one or of a hundred: "seratus setengah" is 100.5 or 150. A larger count before a half
    may be none: "seabank 535 setengah juta".
    """
    if not words:
        raise UnknownWords
    total, step = Fraction(0), 1000
    remaining, part = _without_part(words)
    while remaining:
        value, next_step = _take_term(remaining)
        if value >= step:
            raise UnknownWords
        total, step = total + value, next_step
    if part is None:
        return NumberInWords((total,))
    if step == _HUNDRED:
        return NumberInWords((total + part, total + part * _HUNDRED), sure=False)
    return NumberInWords((total + part,), sure=part == _HALF and total < _HUNDRED)


def _without_part(words: Sequence[str]) -> tuple[list[str], Fraction | None]:
    """Return the words before a fraction at the end, and that fraction: "dua setengah", "tiga perempat"."""
    last = words[-1]
    if last in FRACTIONS:
        return list(words[:-1]), FRACTIONS[last]
    if last not in PARTS:
        return list(words), None
    count = _digit(words[-2]) if len(words) > 1 else 1
    if count >= PARTS[last]:
        raise UnknownWords
    return list(words[:-2]), Fraction(count, PARTS[last])


def _take_term(words: list[str]) -> tuple[int, int]:
    """Remove the first term. Return its value, and the limit that the next term must stay below."""
    word = words.pop(0)
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
