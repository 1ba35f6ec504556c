"""Detection of wallet seed words, which users must never type into a chat.

`seed_words.txt` is the English word list of BIP-39. Four letters identify each word, and metal backups show only those.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from bot.core.text import plain

RUN: Final = 6
"""Half of the shortest seed phrase. Ordinary sentences rarely have this many in a row."""

_SHORT: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")


def has_seed_words(text: str) -> bool:
    """Return whether `text` has six or more BIP-39 words in a row, with any numbering or separators."""
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
