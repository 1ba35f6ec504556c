"""Cut a typed text into tokens: words, numbers with the marks within them, and currency signs.

Letters and digits that are written together are tokens of their own ("500rb"), and so are number words ("limaratus").
What is between two tokens is the gap of the second one. The words are those that users in Indonesia type: Indonesian,
English and market slang.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from bot.core.locales import typed_fractions, typed_lists, typed_parts, typed_scales, typed_values, typed_words
from bot.core.text import BULLET, plain, with_plain_marks

THOUSAND, MILLION, BILLION, TRILLION = 10**3, 10**6, 10**9, 10**12

CURRENCIES: Final = {
    **dict.fromkeys(("rp", "idr", "rupiah", "perak"), "IDR"),
    **dict.fromkeys(("sat", "sats", "satoshi", "satoshis"), "SAT"),
    **dict.fromkeys(("btc", "xbt", "bitcoin", "bitcoins"), "BTC"),
    "₿": "₿",
}

_NAMED: Final = {"thousand": THOUSAND, "million": MILLION, "billion": BILLION, "trillion": TRILLION}

SCALES: Final = typed_scales("scales", _NAMED)
"""What a word multiplies by. "M" is a million in English and a miliar (10⁹) in Indonesian."""

ONE_OF: Final = {word: scale for word, (scale,) in typed_scales("one_of", _NAMED).items()}
"""Scales joined with their "one"."""

FRACTIONS: Final = typed_fractions("fractions")
"""Words for a part of what follows or precedes: "setengah", "seperempat", "half"."""

PARTS: Final = typed_parts("parts")
"""Words after a count that say of which parts: "tiga perempat", "three quarters"."""

AMOUNT_LABELS: Final = frozenset(typed_words("amount_labels"))
"""Words that introduce an amount."""

DECIMAL_WORDS: Final = frozenset(typed_words("decimal_words"))
"""Words for a decimal mark: "2 koma 5 juta"."""

ADDITIVE: Final = frozenset({*typed_words("additive"), "&", "+"})
"""Words and marks between two amounts that are meant together."""

BESIDE_AN_AMOUNT: Final = frozenset(typed_words("beside_an_amount"))
"""Polite words around an amount."""

TIMES: Final = typed_values("times")
TEENS: Final = typed_values("teens")


def _counted(name: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for known in typed_lists(name) for place, word in enumerate(known)}


DIGITS: Final = _counted("digits", 0)

UNDER_HUNDRED: Final = {**_counted("from_ten", 10), "jigo": 25, "gocap": 50}

TENS: Final = _counted("tens_from_twenty", 20, 10)

HUNDREDS: Final = {**typed_values("hundreds"), "cepek": 100, "pego": 150, "nopek": 200, "gopek": 500}

SLANG: Final = {
    "gocap": 50_000,
    "seceng": 1_000,
    "ceceng": 1_000,
    "noceng": 2_000,
    "goceng": 5_000,
    "ceban": 10_000,
    "noban": 20_000,
    "goban": 50_000,
    "cetiau": 1_000_000,
    "gotiau": 5_000_000,
}
"""Slang for whole amounts, used alone. Only `gocap` can also mean plain 50."""

_ALL: Final = sorted(
    {
        *(*CURRENCIES, *SCALES, *ONE_OF, *FRACTIONS, *PARTS, *TIMES, *TEENS),
        *(*DIGITS, *UNDER_HUNDRED, *TENS, *HUNDREDS, *SLANG),
    },
    key=len,
    reverse=True,
)
_BY_LETTER: Final = {letter: [word for word in _ALL if word[0] == letter] for letter in {word[0] for word in _ALL}}


@lru_cache(maxsize=4096)
def words_in(run: str) -> tuple[str, ...] | None:
    """Split `run` into known words ("limapuluhribu"), longest first. Return None if anything is left."""
    if not run:
        return ()
    for word in _BY_LETTER.get(run[0], ()):
        if run.startswith(word):
            rest = words_in(run[len(word) :])
            if rest is not None:
                return (word, *rest)
    return None


LONGEST: Final = 300
"""Maximum in characters, before and after folding. Folding can make 18 characters of one."""

MOST_TOKENS: Final = 80
WHOLE_NUMBER: Final = 10
"""Digits of a complete number, which needs none of its neighbours' digits."""

_SPECIAL: Final = re.compile(
    r"(?<![^\W_])(?:(?:a/n|a/c|c/o|d/a|s/d|n/a|a\.n)(?![^\W_])|u/(?=\w))"
    r"|(?<![\d.,:])(?:[01]?\d|2[0-4])(?::[0-5]\d){1,2}(?![\d:]|[.,]\d|(?!wi|am|pm)[^\W\d])"
    r"|(?<![\d.,])\d{1,4}(?:/\d{1,4})+(?![.,]?\d)",
    re.IGNORECASE,
)
"""A label that is written with a mark, a time of day, and a fraction or a date with strokes."""

_TOKEN: Final = re.compile(r"(?:(?:^|(?<=[ \n(\[:=|/,;]))\+)?0+(?:[.,'\-]0+)*|a+(?:['\-\u2019]a+)*|[¼$]")
"""A number, a word, another numeral, or a currency sign, in the kinds of their characters."""

PICTURE: Final = "\u00a6"
"""Stands for an emoji in a gap."""

_EMPHASIS: Final = str.maketrans("", "", "*_`")
_BRACKETS: Final = str.maketrans("<>", "()")
_DIALLED_FIRST: Final = re.compile(r"\+?62|0[1-9]\d{0,2}")
"""The first digits of a number that can be in brackets: "(+62) 812 …", "(0812) 3456 …"."""

_BEFORE_FRACTION: Final = ".," + BULLET
_BEFORE_AMOUNT: Final = AMOUNT_LABELS | CURRENCIES.keys()
_ALONE: Final = re.compile(r".*\s[.,]\s", re.DOTALL)
_LONGEST_RUN: Final = 48
_ABBREVIATION: Final = 3
"""Letters of a word behind which a dot ends no sentence: "Rp.", "no.", "H."."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign, in the form of `plain`.

    - `gap`: what is between it and the token before: "" if they are written together, " ", or marks.
    - `mark`: the mark before its first digit that can begin a fraction: the dot of ".5jt", the comma of " , 5 jt".
    - `tail`: what is behind the last token of a text.
    """

    text: str
    gap: str = " "
    mark: str = ""
    tail: str = ""
    folded: str = field(init=False, compare=False)
    """The text for comparing."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded", self.text.casefold())

    @property
    def joined(self) -> bool:
        """Whether nothing but a space is before it, so it can belong to the token before."""
        return self.gap in {"", " "}

    @property
    def digits(self) -> str:
        """The digits alone."""
        return "".join(filter(str.isdecimal, self.text))


def tokenize(text: str) -> list[Token]:
    """Return the tokens of `text`, or none if it is too long."""
    folded = _fold(text) if len(text) <= LONGEST else ""
    tokens = list(_cut(folded)) if len(folded) <= LONGEST else []
    return tokens if len(tokens) <= MOST_TOKENS else []


def _fold(text: str) -> str:
    """Return `text` in the form of `plain`, line by line, and with a stroke for each emoji."""
    drawn = "".join(map(_without_picture, with_plain_marks(text)))
    lines = "\n".join(map(plain, drawn.splitlines()))
    return lines.translate(_BRACKETS) if "<" in lines and ">" in lines else lines


def _without_picture(character: str) -> str:
    category = unicodedata.category(character)
    if category in {"So", "Sk"} and character != "`":
        return PICTURE
    return "" if category == "Me" or "\ufe00" <= character <= "\ufe0f" else character


def _cut(text: str) -> Iterator[Token]:
    kinds = "".join(map(_kind, text))
    before, at, end = Token("", "\n"), 0, 0
    while at < len(text):
        found = _SPECIAL.match(text, at) or _TOKEN.match(kinds, at)
        if found is None:
            at += 1
            continue
        for joint, piece in _split(text[at : found.end()], after_digits=at == end and before.text[-1:].isdecimal()):
            gap = joint or text[end:at]
            token = Token(piece, _gap(gap, before, piece), _mark(gap, before, piece))
            if before.text:
                yield before
            before, end = token, at
        at = end = found.end()
    if before.text:
        yield replace(before, tail=text[end:])


@lru_cache(maxsize=10_000)
def _kind(character: str) -> str:
    """Return "0" for a digit, "a" for a letter, "¼" for another numeral, "$" for a currency sign, or the character."""
    category = unicodedata.category(character)
    if category in {"Nd", "Sc"}:
        return "0" if category == "Nd" else "$"
    if character.isalpha() or category in {"Mn", "Mc"}:
        return "a"
    return "¼" if character.isnumeric() else character


def _split(text: str, *, after_digits: bool) -> Iterator[tuple[str, str]]:
    """Yield the pieces of what was found, each with what is before it."""
    if text[0].isdecimal() and "/" not in text:
        yield from _at_complete_numbers(text)
        return
    pieces = text.split("-")
    is_cut = len(pieces) > 1 and any(len(piece) > 1 and words_in(piece.casefold()) for piece in pieces)
    for place, piece in enumerate(pieces if is_cut else [text]):
        for at, word in enumerate(_number_words(piece, after_digits=after_digits and place == 0)):
            yield "-" if place and not at else "", word


def _number_words(text: str, *, after_digits: bool) -> list[str]:
    """Return the number words that are written together in `text`. Letters that can be initials stay together."""
    words = words_in(text.casefold()) if len(text) <= _LONGEST_RUN else None
    if words is None or (min(map(len, words), default=2) == 1 and not after_digits):
        return [text]
    ends = [sum(map(len, words[: place + 1])) for place in range(len(words))]
    return [text[end - len(word) : end] for end, word in zip(ends, words, strict=True)]


def _at_complete_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a number, cut at a comma or a dash beside a complete number: "1234567890,1,5"."""
    joint, piece = "", ""
    for mark, digits in re.findall(r"([,-]?)([^,-]+)", text):
        sizes = [sum(map(str.isdecimal, each)) for each in (re.split("[,-]", piece)[-1], digits)]
        is_country = mark == "-" and piece.lstrip("+") == "62"
        if mark and max(sizes) >= WHOLE_NUMBER and not is_country:
            yield joint, piece
            joint, piece = mark, digits
        else:
            piece += mark + digits
    yield joint, piece


def _gap(gap: str, before: Token, text: str) -> str:
    """Return the gap without what belongs to the words beside it: emphasis, the dot of an abbreviation, "Rp."."""
    bare = gap.translate(_EMPHASIS)
    if bare != gap:  # between digits it can be a product ("3*5"), or begin another number
        bare = gap if before.text[-1:].isdecimal() and text[0].isdecimal() else bare or " "
    if bare in {")", ") ", ")-"} and _DIALLED_FIRST.fullmatch(before.text) and text[0].isdecimal():
        return " "
    is_short = 0 < len(before.text) <= _ABBREVIATION and before.text.isalpha() and before.folded not in SCALES
    if is_short and bare[:1] == "." and (bare[1:2] in {"", " "}):
        bare = bare[1:] or ("" if text[0].isdecimal() else " ")
    return " " if bare and bare.isspace() and "\n" not in bare else bare


def _mark(gap: str, before: Token, text: str) -> str:
    """Return the mark before the first digit of `text` that can begin a fraction, or "".

    A comma between two words separates them, unless an amount was introduced ("Rp,5jt").
    """
    bare = gap.translate(_EMPHASIS) if before.text else "\n" + gap.translate(_EMPHASIS)
    if not text[0].isdecimal() or not bare:
        return ""
    if _ALONE.fullmatch(bare):
        return bare[-2]
    if before.text[-1:].isdecimal() and not any(map(str.isspace, bare)) and bare[1:2] not in {"", "-"}:
        return next((each for each in bare if each in _BEFORE_FRACTION), "")
    separates = bare == "," and before.text and before.folded not in _BEFORE_AMOUNT
    return bare[-1] if bare[-1] in _BEFORE_FRACTION and not separates else ""
