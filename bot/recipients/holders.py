"""Read, compare and mask the name of an account's holder: one line, as a bank prints it."""

import unicodedata
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain

MAX_HOLDER_LENGTH: Final = 60
_MIN_LETTERS: Final = 2
_MAX_DIGITS: Final = 4
"""In the whole name ("Toko 88"). More digits are an account number or a date."""

_MAX_MARKS: Final = 3
"""Combining marks on one letter. No script's names have more, and a pile of them covers other lines of a message."""

_FILLERS: Final = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
_VARIATION_SELECTORS: Final = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_INVISIBLE: Final = dict.fromkeys((*_FILLERS, *_VARIATION_SELECTORS))
"""Letters and marks that show nothing, besides those that `plain` removes: fillers, joiners and variation selectors."""

_PUNCTUATION: Final = frozenset(" .,'\u2019-&/()")
_PRINTED: Final = frozenset({"Lu", "Ll", "Lt", "Lo", "Lm", "Mn", "Mc", "Nd", "Nl", "No"})
"""Categories of letters, of marks that don't enclose their letter, and of digits."""

MASK_SIGN: Final = "•"
_MAX_WORDS: Final = 4
_MAX_WORD_LENGTH: Final = 8


def clean_holder(text: str) -> str | None:
    """Return the name in `text` with single spaces, or None if there is none.

    Raises:
        Rejection: `recipients.holder.one_line`, `recipients.holder.too_long` (`longest`, `actual`),
            `recipients.holder.not_a_name` (fewer than two letters that can be seen, or many digits),
            `recipients.holder.symbols` (such as emoji or piled marks, which no bank prints).
    """
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        raise Rejection("recipients.holder.one_line")
    name = _visible(text)
    if not name:
        return None
    if len(name) > MAX_HOLDER_LENGTH:
        raise Rejection("recipients.holder.too_long", longest=MAX_HOLDER_LENGTH, actual=len(name))
    if sum(map(_is_letter, name)) < _MIN_LETTERS or sum(map(_is_digit, name)) > _MAX_DIGITS:
        raise Rejection("recipients.holder.not_a_name")
    if not all(_can_be_printed(character) for character in name) or piles_marks(name):
        raise Rejection("recipients.holder.symbols")
    return name


def read_holder(text: str) -> str:
    """Return the name in `text`.

    Raises:
        Rejection: as `clean_holder`, and `recipients.holder.not_a_name` for a text without a name.
    """
    holder = clean_holder(text)
    if holder is None:  # only invisible characters. Users who want to skip the question press its button
        raise Rejection("recipients.holder.not_a_name")
    return holder


def _visible(text: str) -> str:
    """Return `text` as `plain` does, without the letters and marks that show nothing."""
    return plain(plain(text).translate(_INVISIBLE))


def _is_letter(character: str) -> bool:
    """Return whether this is a letter of a script, and not a modifier or a mark."""
    return unicodedata.category(character) in {"Lu", "Ll", "Lt", "Lo"}


def _is_digit(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"


def _can_be_printed(character: str) -> bool:
    return character in _PUNCTUATION or unicodedata.category(character) in _PRINTED


def piles_marks(name: str) -> bool:
    """Return whether a mark has no letter, or a letter has too many."""
    marks, has_letter = 0, False
    for character in name:
        if unicodedata.category(character)[0] != "M":
            marks, has_letter = 0, unicodedata.category(character)[0] == "L"
            continue
        marks += 1
        if not has_letter or marks > _MAX_MARKS:
            return True
    return False


def is_same_holder(one: str | None, other: str | None) -> bool:
    """Return whether two names can belong to one holder. Case, spaces and punctuation don't count.

    A missing name matches every name.
    """
    ours, theirs = (_letters(name or "") for name in (one, other))
    return not ours or not theirs or ours == theirs


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, _visible(name).casefold()))


def mask_name(name: str) -> str:
    """Return `name` masked for viewers of a receipt: "B••• S••••••". It is empty if the name has no letters.

    A word shows its first letter and its length, up to eight. A word of one letter is hidden. Letters of scripts that
    are written from right to left are hidden, too, because they would reverse the text next to them.
    """
    words = ["".join(filter(str.isalnum, word)) for word in _visible(name).split()]
    masked = [_mask_word(word) for word in words if word]
    return " ".join((*masked[:_MAX_WORDS], *(["…"] if len(masked) > _MAX_WORDS else [])))


def _mask_word(word: str) -> str:
    length = min(len(word), _MAX_WORD_LENGTH)
    is_shown = length > 1 and word[0].isalpha() and unicodedata.bidirectional(word[0]) == "L"
    return word[0] + MASK_SIGN * (length - 1) if is_shown else MASK_SIGN * length
