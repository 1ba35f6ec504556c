"""Currencies that we don't send: an amount next to one of them is never taken for rupiah or bitcoin.

Some of their names and codes are also names of people, or words of other meanings ("won", "PLN"). These count only next
to a number.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

from bot.core.locales import typed_words
from bot.core.money.tokens import FRACTIONS, ONE_OF, SCALES, tokenize, words_in

_LISTS: Final[Mapping[str, str]] = tomllib.loads((files(__package__) / "foreign.toml").read_text(encoding="utf-8"))


def _fold(word: str) -> str:
    """Return `word` for comparing, without accents and dots."""
    letters = word.casefold().replace(".", "")
    if letters.isascii():
        return letters
    letters = unicodedata.normalize("NFD", letters)
    return unicodedata.normalize("NFC", "".join(each for each in letters if unicodedata.category(each) != "Mn"))


def _listed(name: str) -> list[str]:
    return _LISTS[name].split()


FOREIGN: Final = frozenset(
    _fold(word)
    for word in (*typed_words("foreign"), *_listed("iso_codes"), *_listed("tokens"), *_listed("other_scripts"))
)
"""Words that mean another currency anywhere."""

FOREIGN_BESIDE_AN_AMOUNT: Final = frozenset({*typed_words("foreign_beside_an_amount"), *_listed("before_digits")})
"""Words that mean another currency only next to a number."""

FOREIGN_LANDS: Final = frozenset(typed_words("foreign_lands"))
"""Words next to a currency that say whose it is: "Sing dollars", "dolar Amerika"."""

_CODES_IN_CAPITALS: Final = frozenset(_listed("codes_in_capitals"))
_BEFORE_DIGITS: Final = frozenset(_listed("before_digits"))
_LONG_SCALES: Final = frozenset(scale for scale in SCALES if len(scale) > 1)
"""Scales that can't be the first letter of a name ("Kwon")."""

_SHORTEST_IN_WORDS: Final = 4
"""Letters of a number in words behind a currency's code ("usdfive"). Names end with fewer ("Sarten")."""

_SIGN: Final = re.compile(
    "[$\u00a2-\u00a5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20be\u20c0-\u20cf\ua838\ufdfc"
    "\ufe69\uff04\uffe0\uffe1\uffe5\uffe6\U00011fdd-\U00011fe0\U0001e2ff\U0001ecb0]"
)
"""The sign of each currency (Unicode's category Sc), without bitcoin's."""


def has_foreign_sign(text: str) -> bool:
    """Return whether `text` has the sign of a currency other than bitcoin's ("$", "€", "￥")."""
    return _SIGN.search(text) is not None


def is_foreign(word: str) -> bool:
    """Return whether `word` means another currency, wherever it is."""
    return any(part in FOREIGN for part in _fold(word).split("-")) or is_foreign_amount(word)


def is_foreign_amount(word: str) -> bool:
    """Return whether `word` has an amount and another currency in one piece ("sejutarand", "rbusd"), or a sign."""
    return has_foreign_sign(word) or _is_in_words(_fold(word))


def is_foreign_beside_an_amount(word: str) -> bool:
    """Return whether `word` means another currency if it is next to a number."""
    return word.strip(".") in _CODES_IN_CAPITALS or _fold(word) in FOREIGN_BESIDE_AN_AMOUNT


def names_foreign(text: str) -> bool:
    """Return whether a text with nothing but an amount names another currency."""
    return any(is_foreign(token.text) or is_foreign_beside_an_amount(token.text) for token in tokenize(text))


def _is_in_words(word: str) -> bool:
    """Return whether an amount in words is written together with another currency: "sejutarand", "usdsejuta"."""
    return any(map(_names_scale, _before_currency(word))) or any(_after_currency(word))


def _names_scale(word: str) -> bool:
    found = words_in(word) or [""]
    return found[-1] in ONE_OF or found[-1] in FRACTIONS or found[-1] in _LONG_SCALES


def _after_currency(word: str) -> Iterator[bool]:
    """Yield for each currency at the beginning of `word` whether a number in words follows it, and not half a name."""
    for stop in range(1, len(word)):
        if word[:stop] in FOREIGN or word[:stop] in _BEFORE_DIGITS:
            is_long = word[:stop] in _BEFORE_DIGITS or len(word) - stop >= _SHORTEST_IN_WORDS
            yield is_long and words_in(word[stop:]) is not None


def _before_currency(word: str) -> Iterator[str]:
    """Yield what is before a currency at the end of `word`."""
    for start in range(len(word)):
        if word[start:] in FOREIGN or word[start:] in FOREIGN_BESIDE_AN_AMOUNT:
            yield word[:start]
