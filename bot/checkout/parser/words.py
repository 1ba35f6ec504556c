"""Cut a line into words: first at brackets and colons, then at slashes, and last at commas outside of numbers.

The character between two words says whether they can belong together: a space joins, a comma or the end of a line
separates. A cut between two digits ("1:5jt", "12345(67890)") separates them, and both become uncertain.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.checkout.parser.vocabulary import AMOUNT_LABELS, NUMBER_LABELS, PHONE_LABELS
from bot.core.money.foreign import has_foreign_sign
from bot.core.money.vocabulary import CURRENCIES, words_in
from bot.core.text import BULLET, has_odd_numerals, plain, with_plain_marks
from bot.recipients.numbers import read_links

_KEPT_WHOLE: Final = frozenset({"a/n", "a/c", "u/", "d/a", "c/o", "s/d", "n/a"})
_LEADS: Final = re.compile(
    r"(a/n(?!am)|a\.n\b|a/c\b|u/)[.:]*|(an|no(?=\.(?:hp|wa|te?lp?|rek)))\.[.:]*(?=[^\W\d]{2})", re.IGNORECASE
)
""""a.n.Budi", "no.rek": a label written together with the next word."""

_STROKE: Final = re.compile(
    r"(?<!(?<![^\W_])a)/(?!n)|(?<=(?<![^\W_])a)/(?![nc])|(?<!(?<![^\W_])a)/(?=n)", re.IGNORECASE
)
"""A slash other than in "a/n" and "a/c"."""

_FRACTION: Final = re.compile(r"\d{1,4}(?:/\d{1,4})+[^\W\d]*")
"""Fractions and dates. Cut at the slash, "1/2 juta" would be two million."""

_CLOCK: Final = re.compile(
    r"(?<![\d.,])(?<!\d:)(?:[01]?\d|2[0-4])(?::[0-5]\d){1,2}(?![\d:]|[.,]\d|(?!wi|am|pm)[^\W\d])"
)
_KEPT_COLON: Final = "\ue000"
"""Replaces the colon of a time of day, so that the time isn't cut."""

_DIALLED: Final = re.compile(r"(?:\(\+?\d{1,4}\)|\+\d{1,3}\(\d{1,4}\))[\d.\-]+")
_DIALLED_FIRST: Final = re.compile(r"\+?62|0[1-9]\d{0,2}")
"""Brackets around the first digits of a number: "(+62) 812 …", "(0812) 3456 …"."""

_ARROWS: Final = re.compile(r"[-=]+>|→")
_MARKS: Final = re.compile(r"([\s:=()\[\]{}\"“”„«»]+|[;|、。،؛]+)")
_SEPARATORS: Final = re.compile(r"[;|/,]+")
_DIGIT_PARTING: Final = frozenset(':=()[]{}"“”„«»')
_TEARING: Final = frozenset('()[]{}"“”„«»')
_SPACE: Final = " "
_PARTING: Final = frozenset(";|、。،؛/,")

_ABOUT: Final = re.compile(r"(?:\+/-|\+-|-\+|[~±≈≃<>≤≥])+")
"""Signs before an approximate sum, or a limit."""

_LABEL_THEN_REST: Final = re.compile(r"([^\W\d]{2,})([.\-*_`']*)(\+?\d.*)")
_LETTERS_THEN_NUMBER: Final = re.compile(r"([^\W\d]{3,})([.\-]?)(\+?\d[\d\-]{6,})")
_GLUED_LABELS: Final = NUMBER_LABELS | PHONE_LABELS
"""A label of a number, also written together with it: "rek12345 67890", "rek9854<6~1"."""

LOOKALIKES: Final = str.maketrans("oOlISB", "001158")
_DIGIT_LIKE: Final = frozenset("oOlISB")
_DIGITS_AT_START: Final = re.compile(r"\d|[oOlISB]{1,3}(?:\d|[kK]\b|rb|jt|\b)")
_BELOW_ZERO: Final = re.compile(r"-(?:[^\W\d]+\.?)?[.,]?\d{1,9}(?:[.,]\d+)*[^\W\d]*", re.IGNORECASE)
_HAS_LETTER: Final = re.compile(r"[^\W_]|₿")
_EMPHASIS: Final = "*_~`'"
_BEFORE_FRACTION: Final = frozenset(".," + BULLET)
"""Marks that can begin a fraction if they are right before its first digit. Others have become one of these."""

_BEFORE_SUM: Final = AMOUNT_LABELS | CURRENCIES.keys()
"""After these a comma can be a sum's decimal mark. After other words it separates."""

_EDGES: Final = " .,!?*_~`'#>•·-=\u2018\u2019"

WHOLE_NUMBER: Final = 10
"""Digits of a complete number, which needs none of its neighbours' digits."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word in the form of `plain`.

    - `parted`: something other than a space is between it and the word before.
    - `odd`: it is shown as it was typed, and never read. It has characters such as ½, ² or ⑤, which would become other
      digits, or its digits are neither a sum nor a number.
    - `aside`: odd, but clearly a time, a date or a code, so it makes nothing else uncertain.
    - `is_unclear`: it was cut from its neighbour's digits, or a sign before it says "about".
    - `glued`: a number that was written together with the word before.
    - `cut`: only a mark is between its first digit and the last digit of the word before.
    - `mark`: the mark right before its first digit, which can begin a fraction: the dot of ".5jt".
    """

    text: str
    parted: bool = False
    odd: bool = False
    aside: bool = False
    is_unclear: bool = False
    glued: bool = False
    cut: bool = False
    mark: str = ""

    @property
    def typed(self) -> str:
        """Return the text with the mark before it, as sums are read."""
        return self.mark + self.text

    @property
    def folded(self) -> str:
        """Return the text for comparing."""
        return self.text.casefold()


@dataclass(frozen=True, slots=True)
class _Gap:
    """Marks between words. `parts`: they separate the words. `parts_digits`: they separate only digits.

    `about`: the next word is approximate.
    """

    parts: bool = False
    parts_digits: bool = False
    about: bool = False


def words_of(text: str) -> list[Word]:
    """Return the words of `text`, in order, without the punctuation around them."""
    words, gaps = list[Word](), list[_Gap]()
    for line in with_plain_marks(read_links(text)).splitlines():
        gaps = [_Gap(parts=True), *(gap for gap in gaps if gap.about)]
        for raw in line.split():
            for piece in _pieces(raw):
                if isinstance(piece, _Gap):
                    gaps.append(piece)
                else:
                    words[-1:] = [*_before(words[-1:], gaps, piece), _behind(gaps, words[-1:], piece)]
                    gaps = []
    return [*words[:-1], *_before(words[-1:], gaps)]


def _before(last: Sequence[Word], gaps: Sequence[_Gap], word: Word | None = None) -> Iterator[Word]:
    """Yield the last word. It is unclear if the sign after it means "about" and belongs to it: "500rb ~ Budi"."""
    is_next = word is not None and any(map(str.isdecimal, word.text))
    for each in last:
        digits = sum(map(str.isdecimal, each.text))
        is_about = any(gap.about for gap in gaps) and not is_next and 0 < digits < WHOLE_NUMBER
        yield replace(each, is_unclear=each.is_unclear or is_about)


def _behind(gaps: Sequence[_Gap], before: Sequence[Word], word: Word) -> Word:
    last = before[0].text if before else ""
    is_between = _may_go_on(last, word.text) and not _DIALLED_FIRST.fullmatch(last)
    parted = any(gap.parts or (gap.parts_digits and is_between) for gap in gaps)
    return replace(word, parted=word.parted or parted, is_unclear=word.is_unclear or any(gap.about for gap in gaps))


def _may_go_on(before: str, after: str) -> bool:
    """Return whether the two would be read as one number or sum: "10 250", "500rb lima"."""
    if before[-1:].isdecimal() and after[:1].isdecimal():
        return True
    return any(map(str.isdecimal, before)) and bool(words_in(after.casefold()))


def _pieces(raw: str) -> Iterator[Word | _Gap]:
    """Yield the words and marks of a text without spaces."""
    if has_odd_numerals(raw):
        yield from _odd_pieces(raw)
        return
    folded = plain(_without_pictures(raw))
    has_letters = _HAS_LETTER.search(folded) is not None
    if folded.casefold() in _KEPT_WHOLE or folded == "#" or (has_foreign_sign(folded) and not has_letters):
        yield Word(folded)
    elif has_letters:
        yield from _words_in(list(_cut(folded)))
    elif _ABOUT.fullmatch(folded) or folded == "@":
        yield _Gap(about=True)
    else:
        parts_digits = _DIGIT_PARTING.issuperset(folded)
        yield _Gap(parts_digits=parts_digits, parts=not parts_digits)


def _odd_pieces(raw: str) -> Iterator[Word | _Gap]:
    """Yield the words and marks of a text with numerals such as ½, which are separated from everything else."""
    for place, piece in enumerate(_SEPARATORS.split(raw)):
        if has_odd_numerals(piece):
            yield from (_Gap(parts=True), Word(piece, odd=True), _Gap(parts=True))
        else:
            yield from (*((_Gap(parts=True),) if place else ()), *_pieces(piece))


def _cut(folded: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a stretch, each with the marks before it."""
    if _DIALLED.fullmatch(folded.rstrip(_EDGES)):
        yield "", folded.replace("(", "").replace(")", "-")
        return
    text = _CLOCK.sub(lambda clock: clock[0].replace(":", _KEPT_COLON), _ARROWS.sub("|", folded))
    if "<" in text and ">" in text:
        text = text.translate({ord("<"): "(", ord(">"): ")"})
    mark = ""
    for place, part in enumerate(_MARKS.split(text)):
        if place % 2:
            mark += part
            continue
        for joint, each in _at_strokes_and_commas(part):
            yield mark + joint, each.replace(_KEPT_COLON, ":")
            mark = ""


def _at_strokes_and_commas(part: str) -> Iterator[tuple[str, str]]:
    about = _ABOUT.match(part)
    sign, rest = (about[0], part[about.end() :]) if about else ("", part)
    strokes = [rest] if _FRACTION.fullmatch(rest.strip(_EDGES)) else _STROKE.split(rest)
    for at, stroke in enumerate(strokes):
        about = _ABOUT.match(stroke) if at else None
        sign = f"/{about[0] if about else ''}" if at else sign
        for place, (commas, each) in enumerate(_at_commas(stroke[about.end() :] if about else stroke)):
            about = _ABOUT.match(each) if place else None
            mark = f"{commas}{about[0] if about else ''}" if place else sign
            each = each[about.end() :] if about else each  # noqa: PLW2901  the rest of it
            lead = _LEADS.match(each.lstrip(_EMPHASIS))
            if lead:
                yield mark, lead[1] or lead[2]
                mark, each = _SPACE, each.lstrip(_EMPHASIS)[lead.end() :]  # noqa: PLW2901  the rest of it
            yield mark, each


def _at_commas(text: str) -> Iterator[tuple[str, str]]:
    """Cut `text` at its commas, except within a number. A number that is complete ends at the comma.

    Each part comes with the commas before it.
    """
    start, commas = 0, ""
    for comma in re.finditer(r",+", text):
        before, after = text[start : comma.start()], text[comma.end() :]
        if not _are_one_number(before, after):
            yield commas, before
            start, commas = comma.end(), comma[0]
    yield commas, text[start:]


def _are_one_number(before: str, after: str) -> bool:
    return _are_digits(before, after) and _most_digits(before, after) < WHOLE_NUMBER


def _most_digits(before: str, after: str) -> int:
    """Return the number of digits in the longer of two numbers that meet at a mark."""
    ends, begins = re.search(r"[\d.\-']+$", before), re.match(r"[\d.\-']+", after)
    return max((sum(map(str.isdecimal, found[0])) for found in (ends, begins) if found), default=0)


def _words_in(parts: Sequence[tuple[str, str]]) -> Iterator[Word | _Gap]:
    marks, before, last = "", "", ""
    bare = [(mark, part, _bare(part)) for mark, part in parts]
    for place, (mark, part, text) in enumerate(bare):
        marks += mark
        if not text:
            continue
        after, next_marks = _next(bare[place + 1 :])
        is_torn = _is_torn(before, text, marks) or _is_torn(text, after, next_marks)
        is_unclear = is_torn or _ABOUT.search(marks) is not None
        parted = not _PARTING.isdisjoint(marks) or _are_digits(before, text)
        if (not before and marks.strip()) or part[0] in _EDGES:
            yield _Gap(parts_digits=True)
        glued, labelled = _LETTERS_THEN_NUMBER.fullmatch(text), _LABEL_THEN_REST.fullmatch(text)
        if labelled and labelled[1].casefold() in _GLUED_LABELS:
            fraction = _mark_of(labelled[2], labelled[3])
            yield from (Word(labelled[1], parted), Word(labelled[3], is_unclear=is_unclear, mark=fraction))
        elif glued:
            yield from (Word(glued[1], parted), Word(glued[3], glued=True, mark=_mark_of(glued[2], glued[3])))
        else:
            fraction = _find_mark(part, text, marks, before)
            yield Word(text, parted, is_unclear=is_unclear, cut=_are_digits(before, text), mark=fraction)
        marks, before, last = "", text, part
    if marks.strip() or last[-1:] in set(_EDGES):
        yield _Gap(parts=not _PARTING.isdisjoint(marks), parts_digits=True, about=_ABOUT.search(marks) is not None)


def _find_mark(part: str, text: str, marks: str, before: str) -> str:
    """Return the mark right before the first digit of `text`, or "".

    A comma between two words separates them, unless another mark is next to it or a sum was introduced ("Rp,5jt").
    """
    if not text[0].isdecimal():
        return ""
    found = part[: part.index(text)]
    if found or not marks.endswith(","):
        return _mark_of(found, text)
    separates = marks == "," and before and before.casefold().strip(_EDGES) not in _BEFORE_SUM
    return "" if separates else ","


def _mark_of(marks: str, number: str) -> str:
    last = marks.rstrip(_EMPHASIS)[-1:]
    return last if last in _BEFORE_FRACTION and number[0].isdecimal() else ""


def _next(parts: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    """Return the next part that holds a word, and the marks before it."""
    marks = ""
    for mark, _, text in parts:
        marks += mark
        if text:
            return text, marks
    return "", marks


def _are_digits(before: str, after: str) -> bool:
    """Return whether two parts end and begin with digits."""
    return before[-1:].isdecimal() and after[:1].isdecimal()


def meant_digits(text: str) -> str:
    """Return the digits of `text`. A letter that looks like a digit counts as one: 1095 for "lO95"."""
    return "".join(filter(str.isdecimal, text.translate(LOOKALIKES)))


def begins_as_digits(text: str) -> bool:
    """Return whether `text` begins with a digit, or a letter in place of one: "O00", "l23"."""
    return _DIGITS_AT_START.match(text) is not None


def _is_torn(before: str, after: str, marks: str) -> bool:
    """Return whether marks separate digits, or digits and their unit.

    Marks between two complete numbers don't count.
    """
    if before[-1:].isdecimal() and not _TEARING.isdisjoint(marks) and words_in(after.casefold()):
        return True
    if before in _DIGIT_LIKE and after[:1].isdecimal():
        return True
    if not before[-1:].isdecimal() or not begins_as_digits(after):
        return False
    return not _TEARING.isdisjoint(marks) or _most_digits(before, after) < WHOLE_NUMBER


def _bare(word: str) -> str:
    """Return the word without the marks around it.

    A minus before a sum stays, because negative sums are rejected later. The sign that marks a code ("#123") stays too.
    """
    right = word.rstrip(_EDGES)
    bare = right.lstrip(_EDGES)
    if not bare:
        return ""
    if "#" in right[: -len(bare)] and bare[0].isdecimal():
        return "#" + bare
    if bare[0] == "+" and bare[1:2].isalpha():
        return bare[1:]
    return "-" + bare if _BELOW_ZERO.fullmatch(right) else bare


def _without_pictures(text: str) -> str:
    """Put a mark in the place of each emoji. Accents on letters stay."""
    return "".join(
        "|" if unicodedata.category(each) in {"So", "Sk"} else each
        for each in text
        if unicodedata.category(each) != "Me" and not "\ufe00" <= each <= "\ufe0f"
    )
