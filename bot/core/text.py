"""Normalisation of typed text: digits of any script, any kind of space, nothing invisible."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs"}
_SEPARATORS = {"\u066b": ",", "\u066c": "'"}
"""Arabic decimal and thousands separators, which NFKC leaves as they are."""
_CACHE_SIZE = 10_000
BULLET: Final = "•"

_QUOTES: Final = "'`\u00b4\u02b9\u02bb\u02bc\u02c8\u2018\u2019\u201b\u2032\u2035\uff07"
_POINTS: Final = (
    "\u00b7\u02d9\u0387\u05f3\u060c\u066b\u066c\u066d\u16eb\u1427\u2022\u2023\u2024\u2027\u2043\u204c\u204d"
    "\u2218\u2219\u22c5\u2396\u25cf\u25e6\u2e31\u2e33\u2e41\u3001\u3002\u30fb\ua78f\ufe11\ufe12\ufe45\ufe50"
    "\ufe51\ufe52\uff61\uff64\uff65"
)
_BULLETS: Final = "\u2022\u2023\u2043\u204c\u204d\u25cf\u25e6"
_UNSEEN: Final = "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]*"
_ODD_MARK: Final = re.compile(
    rf"(?<![^\W_])(?:[{_POINTS}]|(?P<quote>[{_QUOTES}])(?!(?:(?!(?P=quote)|\u2019).)*\S(?:(?P=quote)|\u2019)(?![^\W_])))"
    rf"(?={_UNSEEN}\d)"
)
"""A mark right before a number's first digit, which can begin a fraction. A quote that is closed later isn't one."""

_UNSEEN_BEHIND_DIGIT: Final = re.compile(rf"(?<=\d){_UNSEEN}")

_PICTURES_OF_SIGNS: Final = {0x1F4B2: "$", 0x1F4B4: "\u00a5", 0x1F4B6: "\u20ac", 0x1F4B7: "\u00a3"}
""""Heavy dollar sign", and the notes of yen, euro and pound. A dollar note and a flying one are only decoration."""


def plain(text: str) -> str:
    """Return `text` in NFKC with ASCII digits, ASCII hyphens and single spaces, without invisible characters.

    Numbers pasted from other apps contain invisible direction marks, narrow spaces and long dashes. Only a digit
    (Unicode's category Nd) becomes a digit: NFKC alone would invent one for characters such as ⁴, ⑤ and ⒈.
    """
    return " ".join(_normalize(text).translate(_PLAIN).split())


def _normalize(text: str) -> str:
    if text.isascii():
        return text
    runs = groupby(text, _would_become_digit)
    return "".join("".join(run) if is_kept else unicodedata.normalize("NFKC", "".join(run)) for is_kept, run in runs)


@lru_cache(maxsize=_CACHE_SIZE)
def _would_become_digit(character: str) -> bool:
    return not character.isdecimal() and any(map(str.isdecimal, unicodedata.normalize("NFKC", character)))


class _PlainCharacters(dict[int, str]):
    """The replacement of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        replacement = self[code] = _plain_character(chr(code))
        return replacement


def _plain_character(character: str) -> str:
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category in _INVISIBLE:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd" or character == "\u2212":
        return "-"
    return _SEPARATORS.get(character, character)


_PLAIN = _PlainCharacters()


def with_plain_marks(text: str) -> str:
    """Return `text` with a dot for each unusual mark before a number ("·5"), and with signs for their pictures.

    A bullet becomes `BULLET`, because it can also be no mark of the number.
    """
    seen = _UNSEEN_BEHIND_DIGIT.sub("", text.translate(_PICTURES_OF_SIGNS))
    return _ODD_MARK.sub(lambda mark: BULLET if mark[0] in _BULLETS else ".", seen)
