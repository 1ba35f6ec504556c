"""What a message says besides the parts of an order: talk about money, whom it is for, and what for."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from bot.checkout.parser.reading import LONGEST_ORDER, words_of
from bot.checkout.parser.vocabulary import (
    ABOUT_AN_ORDER,
    FILLERS,
    LEADS_TO_PERSON,
    LEADS_TO_PURPOSE,
    NOT_THIS,
    PAID_FOR,
    SENDS,
    TALK,
    TITLES,
)
from bot.core.money.tokens import Token
from bot.recipients.numbers import read_links

_NO_ORDER: Final = TALK | NOT_THIS | ABOUT_AN_ORDER
_TALKS: Final = re.compile(r"[?\uff1f]|https?:|www\.|@|^\s*/|t\.me", re.IGNORECASE)


def is_question(text: str) -> bool:
    """Return whether the text is too long for an order, or has a question mark, a link, a name or a command."""
    return len(text) > LONGEST_ORDER or _TALKS.search(read_links(text)) is not None


def may_order(text: str) -> bool:
    """Return whether a plain message can be an order. It is a quick check: it has digits, or a verb that sends."""
    if is_question(text):
        return False
    return any(map(str.isdecimal, text)) or any(word.folded in SENDS for word in words_of(text))


def asks_to_send(text: str) -> bool:
    """Return whether the message has a verb that asks to send money."""
    return any(word.folded in SENDS for word in words_of(text))


def is_talk(text: str) -> bool:
    """Return whether the message talks about money, and asks for no order."""
    if not may_order(text):
        return True
    words = words_of(text)
    return any(word.folded in _NO_ORDER and not _is_paid_for(words, place) for place, word in enumerate(words))


def unsent_note(text: str, leftover: Sequence[str]) -> str:
    """Return the words that say what the money is for ("rent" in "500k bca 1234567890 for rent"), or ""."""
    return _find_behind(text, LEADS_TO_PURPOSE, leftover)


def unknown_person(text: str, leftover: Sequence[str]) -> str:
    """Return the words that say who receives the money ("ibu" in "250rb ke ibu di gopay 0812…"), or "".

    Titles alone ("ibu 500rb") say it without a word that leads to them.
    """
    are_titles = all(word.casefold() in TITLES for word in leftover)
    return " ".join(leftover) if are_titles else _find_behind(text, LEADS_TO_PERSON, leftover)


def _find_behind(text: str, leads: frozenset[str], leftover: Sequence[str]) -> str:
    """Return the words of `leftover` right behind one of `leads`, with the small words between and around them."""
    words = words_of(text)
    for place, word in enumerate(words):
        if word.folded in leads:
            behind = list(takewhile(lambda each: _goes_on(each, leftover), words[place + 1 :]))
            kept = list(_without_fillers_at_end(behind, leftover))
            if kept:
                return " ".join(each.text for each in kept)
    return ""


def _goes_on(word: Token, leftover: Sequence[str]) -> bool:
    return word.text in leftover or (word.folded in FILLERS and not any(map(str.isdecimal, word.text)))


def _without_fillers_at_end(words: Sequence[Token], leftover: Sequence[str]) -> Iterator[Token]:
    last = max((place for place, word in enumerate(words) if word.text in leftover), default=-1)
    yield from words[: last + 1]


def _is_paid_for(words: Sequence[Token], place: int) -> bool:
    return place > 0 and words[place].folded in PAID_FOR and words[place - 1].folded in LEADS_TO_PURPOSE
