"""Seed words: what restores a wallet, and so must never be typed into a chat.

`seed_words.txt` is the English word list of BIP-39. Any four letters name one of its words, which is how metal
backups bear them.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from bot.core.text import plain

RUN: Final = 6
"""So many of the words in a row are half of the shortest seed phrase; ordinary sentences hardly reach it."""

_SHORT: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")


def has_seed_words(text: str) -> bool:
    """Return whether `text` contains six or more BIP-39 words in a row, numbered or separated however one likes."""
    run = 0
    for word in _WORD.findall(plain(text).casefold()):
        run = run + 1 if word in _seed_words() else 0
        if run == RUN:
            return True
    return False


@cache
def _seed_words() -> frozenset[str]:
    words = (files("bot.core") / "seed_words.txt").read_text(encoding="ascii").split()
    return frozenset(words) | {word[:_SHORT] for word in words}
