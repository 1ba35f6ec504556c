"""The holder's name: one line of letters, as a bank would print it."""

import unicodedata
from typing import Final

from bot.domain.errors import Rejection
from bot.domain.text import plain

LONGEST_HOLDER: Final = 60
_LEAST_LETTERS: Final = 2
_PUNCTUATION: Final = frozenset(" .,'\u2019-&/()")


def clean_holder(text: str) -> str | None:
    """The name in `text`, spaces collapsed; None if there is none.

    Raises:
        Rejection: `holder.one_line`, `holder.too_long` (`longest`, `actual`), `holder.not_a_name` (digits or
            punctuation only), `holder.symbols` (emoji and the like, which no bank prints).
    """
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        raise Rejection("holder.one_line")
    name = plain(text)
    if not name:
        return None
    if len(name) > LONGEST_HOLDER:
        raise Rejection("holder.too_long", longest=LONGEST_HOLDER, actual=len(name))
    if sum(character.isalpha() for character in name) < _LEAST_LETTERS:
        raise Rejection("holder.not_a_name")
    if not all(_is_printed(character) for character in name):
        raise Rejection("holder.symbols")
    return name


def _is_printed(character: str) -> bool:
    return character in _PUNCTUATION or unicodedata.category(character)[0] in {"L", "M", "N"}
