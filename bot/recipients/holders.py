"""Read, compare and mask the holder's name: one line of letters, as a bank would print it."""

import unicodedata
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain

MAX_HOLDER_LENGTH: Final = 60
_MIN_LETTERS: Final = 2
_PUNCTUATION: Final = frozenset(" .,'\u2019-&/()")

MASK_SIGN: Final = "•"
_MAX_WORDS: Final = 4
_MAX_WORD_LENGTH: Final = 8


def clean_holder(text: str) -> str | None:
    """Return the name in `text` with spaces collapsed, or None if there is none.

    Raises:
        Rejection: `holder.one_line`, `holder.too_long` (`longest`, `actual`), `holder.not_a_name` (digits or
            punctuation only), `holder.symbols` (emoji and the like, which no bank prints).
    """
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        raise Rejection("holder.one_line")
    name = plain(text)
    if not name:
        return None
    if len(name) > MAX_HOLDER_LENGTH:
        raise Rejection("holder.too_long", longest=MAX_HOLDER_LENGTH, actual=len(name))
    if sum(character.isalpha() for character in name) < _MIN_LETTERS:
        raise Rejection("holder.not_a_name")
    if not all(_can_be_printed(character) for character in name):
        raise Rejection("holder.symbols")
    return name


def read_holder(text: str) -> str:
    """Return the name in `text`. Raises `Rejection` as `clean_holder` does, and where there is none."""
    holder = clean_holder(text)
    if holder is None:  # only invisible characters: a user who wants to skip the question presses its button
        raise Rejection("holder.not_a_name")
    return holder


def _can_be_printed(character: str) -> bool:
    return character in _PUNCTUATION or unicodedata.category(character)[0] in {"L", "M", "N"}


def is_same_holder(one: str | None, other: str | None) -> bool:
    """Return whether two names may be one holder's: regardless of case, spaces and punctuation.

    A name that only one side has says nothing.
    """
    ours, theirs = (_letters(name or "") for name in (one, other))
    return not ours or not theirs or ours == theirs


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, plain(name).casefold()))


def mask_name(name: str) -> str:
    """Return `name` for a viewer of a receipt: "B••• S••••••". It is empty where there are no letters in it.

    A word shows its first letter and, up to eight, how long it is; of one letter not even that. Letters of scripts
    that run from right to left are hidden, too: they would reverse the text beside them.
    """
    words = ["".join(filter(str.isalnum, word)) for word in plain(name).split()]
    masked = [_mask_word(word) for word in words if word]
    return " ".join((*masked[:_MAX_WORDS], *(["…"] if len(masked) > _MAX_WORDS else [])))


def _mask_word(word: str) -> str:
    length = min(len(word), _MAX_WORD_LENGTH)
    is_shown = length > 1 and word[0].isalpha() and unicodedata.bidirectional(word[0]) == "L"
    return word[0] + MASK_SIGN * (length - 1) if is_shown else MASK_SIGN * length
