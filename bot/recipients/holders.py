"""Read, compare and mask the name of an account's holder: one line, as a bank prints it."""

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
    """Return the name in `text` with single spaces, or None if there is none.

    Raises:
        Rejection: `recipients.holder.one_line`, `recipients.holder.too_long` (`longest`, `actual`),
            `recipients.holder.not_a_name` (digits or punctuation only), `recipients.holder.symbols` (such as emoji,
            which no bank prints).
    """
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        raise Rejection("recipients.holder.one_line")
    name = plain(text)
    if not name:
        return None
    if len(name) > MAX_HOLDER_LENGTH:
        raise Rejection("recipients.holder.too_long", longest=MAX_HOLDER_LENGTH, actual=len(name))
    if sum(character.isalpha() for character in name) < _MIN_LETTERS:
        raise Rejection("recipients.holder.not_a_name")
    if not all(_can_be_printed(character) for character in name):
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


def _can_be_printed(character: str) -> bool:
    return character in _PUNCTUATION or unicodedata.category(character)[0] in {"L", "M", "N"}


def is_same_holder(one: str | None, other: str | None) -> bool:
    """Return whether two names can belong to one holder. Case, spaces and punctuation don't count.

    A missing name matches every name.
    """
    ours, theirs = (_letters(name or "") for name in (one, other))
    return not ours or not theirs or ours == theirs


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, plain(name).casefold()))


def mask_name(name: str) -> str:
    """Return `name` masked for viewers of a receipt: "B••• S••••••". It is empty if the name has no letters.

    A word shows its first letter and its length, up to eight. A word of one letter is hidden. Letters of scripts that
    are written from right to left are hidden, too, because they would reverse the text next to them.
    """
    words = ["".join(filter(str.isalnum, word)) for word in plain(name).split()]
    masked = [_mask_word(word) for word in words if word]
    return " ".join((*masked[:_MAX_WORDS], *(["…"] if len(masked) > _MAX_WORDS else [])))


def _mask_word(word: str) -> str:
    length = min(len(word), _MAX_WORD_LENGTH)
    is_shown = length > 1 and word[0].isalpha() and unicodedata.bidirectional(word[0]) == "L"
    return word[0] + MASK_SIGN * (length - 1) if is_shown else MASK_SIGN * length
