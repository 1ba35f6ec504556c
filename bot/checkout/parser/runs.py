"""Figures side by side: which of them are one number with spaces in it, and which are a sum without its unit.

Every way to divide a run into numbers and sums is weighed by how much of it would be odd. Where the two likeliest ways
disagree, nothing is taken from the run: half a number, or one with a sum grown on, would send money to a stranger.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.checkout.parser.figures import (
    LONGEST_SUM,
    SHORTEST_NUMBER,
    SURE_NUMBER,
    digits_of,
    is_country,
    is_piece,
    is_short_sum,
    is_spaced_thousands,
    is_sum,
    starts_as_number,
)
from bot.recipients.numbers import LONGEST_ACCOUNT, TYPICAL_ACCOUNT

MOST_PIECES: Final = 7
"""Words of one run that are weighed, for 2⁶ divisions; a number in more pieces than this isn't written by anybody."""

_MOBILE: Final = re.compile(r"(?:\+?62|0)?8\d{8,11}")

_DOUBT: Final = 2
"""How much odder a reading may be that still makes a cut doubtful."""

Kind = Literal["number", "sum", "short", "unsure", "huge"]
"""`short`: a sum with its thousands perhaps left out. `unsure`: a short number, or an odd sum. `huge`: a sum in groups
of thousands that nobody sends, or a number that was written so."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One number or sum of a run, with spaces as typed; `odd` says how unusual this reading of it is.

    `places`: where its words stand in the line. `in_doubt`: what is around it leaves it open whether it's meant.
    """

    kind: Kind
    text: str
    odd: int = 0
    places: range = range(0)
    in_doubt: bool = False

    @property
    def number(self) -> str:
        """The digits, after the plus sign where there is one."""
        return ("+" if self.text.startswith("+") else "") + digits_of(self.text)


Division = tuple[Figures, ...]


def divide(run: Sequence[str], *, has_sum: bool, fits: Callable[[str], bool] | None = None) -> Division | None:
    """The figures that the words of `run` make; None where that is anybody's guess.

    `has_sum`: the line names its sum elsewhere. `fits`: whether a number is usual for the destination, if it's known.
    """
    if len(run) > MOST_PIECES:
        return None
    weighed = [(_oddness(each, has_sum=has_sum, fits=fits), each) for each in _divisions(tuple(run))]
    least = min((odd for odd, _ in weighed), default=0)
    likeliest = [division for odd, division in weighed if odd == least]
    rivals = [division for odd, division in weighed if odd <= least + _DOUBT]
    if len(likeliest) != 1 or (len(rivals) > 1 and _is_cut_off(likeliest[0])):
        return None
    return likeliest[0]


def is_cut_short(number: Figures, as_sent: Callable[[str], str], fits: Callable[[str], bool] | None) -> bool:
    """Whether a number in pieces is one without its first or its last short pieces, too; they may mean something else.

    `as_sent`: the form that goes to the service, for "62 812 …" without its first piece is the same number.
    """
    pieces = number.text.split()
    whole = as_sent(number.number)
    for place in range(1, len(pieces)):
        for kept, dropped in ((pieces[:place], pieces[place:]), (pieces[place:], pieces[:place])):
            part = Figures("number", " ".join(kept)).number
            is_short = len(kept) == 1 or all(len(digits_of(piece)) < SHORTEST_NUMBER for piece in dropped)
            if is_short and not is_country(dropped[0]) and as_sent(part) != whole and could_be_whole(part, fits):
                return True
    return False


def numbers_in(texts: Sequence[str]) -> Iterator[str]:
    """Every number that neighbours among `texts` make, in pieces or alone; sums are no pieces."""
    for start in range(len(texts)):
        for stop in range(start + 1, len(texts) + 1):
            if any(len(text) >= SHORTEST_NUMBER and is_sum(text) for text in texts[start:stop]):
                break
            yield Figures("number", " ".join(texts[start:stop])).number


def could_be_whole(number: str, fits: Callable[[str], bool] | None) -> bool:
    """Whether `number` needs no more digits: it is usual for the destination, or anywhere where none is known."""
    if fits is not None:
        return fits(number)
    return len(digits_of(number)) in TYPICAL_ACCOUNT or _MOBILE.fullmatch(number) is not None


def _is_cut_off(division: Division) -> bool:
    """Whether a few digits beside a number in pieces are taken for a sum; they may be one more piece of it."""
    in_pieces = any(each.kind == "number" and " " in each.text for each in division)
    return in_pieces and any(each.kind == "short" for each in division)


def _divisions(run: tuple[str, ...]) -> Iterator[Division]:
    if not run:
        yield ()
    for end in range(1, len(run) + 1):
        for first in _figures(run[:end]):
            yield from ((first, *rest) for rest in _divisions(run[end:]))


def _oddness(division: Division, *, has_sum: bool, fits: Callable[[str], bool] | None) -> int:
    sums = sum(each.kind in {"sum", "short"} for each in division)
    too_many = max(sums - (0 if has_sum else 1), 0)
    misfits = sum(each.kind == "number" and fits is not None and not fits(each.number) for each in division)
    return sum(each.odd for each in division) + 3 * (too_many + misfits)


def _figures(words: tuple[str, ...]) -> Iterator[Figures]:
    """What these words can be, taken as one."""
    return _alone(words[0]) if len(words) == 1 else _together(words)


def _alone(text: str) -> Iterator[Figures]:
    length = len(digits_of(text))
    if is_sum(text) and length >= SURE_NUMBER:
        yield Figures("huge", text, odd=2)
    elif is_sum(text):
        yield Figures("sum", text)
    elif is_piece(text) and (length >= SURE_NUMBER or (starts_as_number(text) and length >= SHORTEST_NUMBER)):
        yield Figures("number", text)
    elif is_short_sum(text):
        yield Figures("short", text)
    elif is_piece(text) and SHORTEST_NUMBER <= length <= LONGEST_SUM:
        yield Figures("unsure", text, odd=2)
    else:
        yield Figures("short", text, odd=4 if starts_as_number(text) else 2)


def _together(words: tuple[str, ...]) -> Iterator[Figures]:
    text = " ".join(words)
    if is_spaced_thousands(text):
        yield Figures("sum" if len(digits_of(text)) < SURE_NUMBER else "huge", text)
    if not all(is_piece(word) for word in words) or any(word.startswith("+") for word in words[1:]):
        return
    if any(len(digits_of(word)) >= SURE_NUMBER for word in words) and not _is_with_country(words):
        return
    length = len(digits_of(text))
    if SURE_NUMBER <= length <= LONGEST_ACCOUNT:
        yield Figures("number", text, odd=_oddness_of_number(words, length))
    elif starts_as_number(text) and SHORTEST_NUMBER <= length < SURE_NUMBER:
        yield Figures("number", text, odd=1)


def _is_with_country(words: tuple[str, ...]) -> bool:
    return len(words) == 2 and is_country(words[0])  # noqa: PLR2004  the code and the rest


def _oddness_of_number(words: tuple[str, ...], length: int) -> int:
    # "62 812 …": nobody means 62 thousand.
    is_mobile = is_country(words[0]) and digits_of(words[1]).startswith("8")
    has_sum_within = any(len(word) > 4 and is_sum(word) for word in words)  # noqa: PLR2004  "1000" is a usual piece
    return (
        -int(is_mobile)
        + 2 * int(length >= TYPICAL_ACCOUNT.stop)
        + int(has_sum_within)
        + int(words[0].startswith("000"))
    )
