"""A line cut into words, with what divides them: commas and line ends part, spaces may join."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.domain.text import has_odd_numerals, plain

_KEPT_WHOLE: Final = frozenset({"a/n", "a/c", "u/"})
_PART = re.compile(r"[,;|/]+")
_FRACTION = re.compile(r"\d{1,4}(?:/\d{1,4})+[^\W\d]*")
"""Halves and dates: cut at the stroke, "1/2 juta" would be two million."""

_LOOSE = re.compile(r"[:=()\[\]{}<>\"]+")
_SUM_WITH_COMMAS = re.compile(r"(?:[^\W\d]+\.?|₿)?-?\d{1,9}(?:[.,']\d+)+(?:[^\W\d]+|₿)?")
_DIALLED = re.compile(r"[+(]*\d[\d()+.\-]*")
_LETTERS_THEN_NUMBER = re.compile(r"([^\W\d]{3,})[.\-]?(\+?\d[\d\-]{6,})")
_TELLING = re.compile(r"[^\W_]|₿")
_EDGES: Final = " .,!?*_~`'#>•·-="
_DECIMALS_LEFT_OFF = re.compile(r"[.,]?[-=]+$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in the form of `plain`. `parted`: something other than a space stands between it and the one before.

    `odd`: it holds ½, ², ⑤ and the like, and is shown back as it was typed, for folding would make new digits of it.
    """

    text: str
    parted: bool = False
    odd: bool = False

    @property
    def folded(self) -> str:
        """The text for comparing."""
        return self.text.casefold()


def words_of(text: str) -> list[Word]:
    """The words of `text`, in order, without the punctuation around them."""
    words = list[Word]()
    for line in text.splitlines():
        parted = True
        for raw in line.split():
            for piece, part in _pieces(raw):
                parted = parted or part
                if piece:
                    words.append(Word(piece, parted, odd=has_odd_numerals(piece)))
                    parted = False
    return words


def _pieces(raw: str) -> Iterator[tuple[str, bool]]:
    """What one stretch without spaces holds, each with whether a mark parts it from what came before."""
    if has_odd_numerals(raw):
        yield raw, True
        yield "", True
        return
    folded = plain(_without_pictures(raw))
    if folded.casefold() in _KEPT_WHOLE:
        yield folded, False
    elif _TELLING.search(folded):
        yield from _split(folded)
    else:
        yield "", True


def _split(folded: str) -> Iterator[tuple[str, bool]]:
    body = _DECIMALS_LEFT_OFF.sub("", folded)
    if _DIALLED.fullmatch(body):
        body = body.replace("(", "").replace(")", "-")
    whole = _SUM_WITH_COMMAS.fullmatch(body.strip(_EDGES)) or _FRACTION.fullmatch(body.strip(_EDGES))
    for place, part in enumerate([body] if whole else _PART.split(body)):
        found = [each for loose in _LOOSE.sub(" ", part).split() for each in _unglued(_bare(loose))]
        yield from ((each, place > 0 and first == 0) for first, each in enumerate(found))
    if not whole and _PART.search(body[-1:]):
        yield "", True


def _unglued(word: str) -> tuple[str, ...]:
    """The two words of "bca1234567890", whose space was left out."""
    glued = _LETTERS_THEN_NUMBER.fullmatch(word)
    return (glued[1], glued[2]) if glued else (word,)


def _bare(word: str) -> str:
    """The word without the marks around it; a minus before a sum stays, for it is refused later, not overlooked."""
    bare = word.rstrip(_EDGES).lstrip(_EDGES)
    below_zero = re.fullmatch(r"-\d{1,9}(?:[.,]\d+)*[^\W\d]*", word.rstrip(_EDGES))
    return "-" + bare if below_zero and bare else bare


def _without_pictures(text: str) -> str:
    """`text` without emoji and their dressing; accents on letters stay, for names have them."""
    return "".join(
        " " if unicodedata.category(each) in {"So", "Sk"} else each
        for each in text
        if unicodedata.category(each) != "Me" and not "\ufe00" <= each <= "\ufe0f"
    )
