"""The anti-phishing phrase: every genuine invoice and receipt shows it, and an impostor doesn't know it.

A suggestion combines two things and a kind from the bot's own word lists. Each language has over 7.6 million
(241 x 240 x 132 and 245 x 244 x 133). An impostor who sends ten thousand forged invoices, each with a guess, expects
to hit one suggested phrase in 760 such attempts.

The seed words of a wallet must never be typed into a chat. `seed_words.txt` is the English word list of BIP-39. Four
letters identify each word, and metal backups show only those.
"""

import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from bot.core.errors import Rejection
from bot.core.locales import FALLBACK, read_tables
from bot.core.text import plain

MIN_LENGTH: Final = 3
MAX_LENGTH: Final = 40
MIN_LETTERS: Final = 3
EXAMPLE: Final = "kopi tubruk ungu"
"""The phrase in the documentation. Users can't choose it."""

MAX_SEED_WORDS: Final = 5
"""In a row. Six are half of the shortest seed phrase, and ordinary sentences rarely have as many."""

_OBVIOUS_NAMES: Final = """
abc abcd asdf bank bca bitcoin bni bot bri btc dana gopay indonesia invoice jakarta lightning mandiri ovo pin qwerty
rupiah telegram transfer
"""
_PUNCTUATION: Final = frozenset(" .,'\u2019-!?&")
_CODE: Final = re.compile(r"([a-z]{2})-(\d{1,3})-(\d{1,3})-(\d{1,3})", re.ASCII)
_SEED_WORD_LETTERS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
_LINK: Final = re.compile(r"@|://|\bwww\b|\w\.\w", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A phrase that a user can choose in one tap. `code` identifies it on a button, in up to 14 characters."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of one language. `pattern` puts them in order."""

    pattern: str
    things: Sequence[str]
    kinds: Sequence[str]


def draw_suggestion(locale: str) -> Suggestion:
    """Return a random phrase in the language of `locale`. The randomness is the operating system's."""
    language = locale if locale in _vocabularies() else FALLBACK
    words = _vocabularies()[language]
    first = secrets.randbelow(len(words.things))
    second = (first + 1 + secrets.randbelow(len(words.things) - 1)) % len(words.things)
    return _make_suggestion(language, first, second, secrets.randbelow(len(words.kinds)))


def find_suggestion_text(code: str) -> str | None:
    """Return the text of the suggestion with this code, or None."""
    match = _CODE.fullmatch(code)
    if match is None or match[1] not in _vocabularies():
        return None
    words = _vocabularies()[match[1]]
    first, second, kind = (int(match[place]) for place in (2, 3, 4))
    if max(first, second) >= len(words.things) or kind >= len(words.kinds) or first == second:
        return None
    return _make_suggestion(match[1], first, second, kind).text


def clean_phrase(text: str) -> str:
    """Return the phrase in `text`, with spaces collapsed.

    Raises:
        Rejection: `users.phrase.seed_words` (checked first, since these words give away a wallet),
            `users.phrase.one_line`,
            `users.phrase.too_short` (`shortest`), `users.phrase.too_long` (`longest`, `actual`),
            `users.phrase.link` (Telegram would make links and names tappable), `users.phrase.symbols`,
            `users.phrase.letters` (a code or a PIN), `users.phrase.obvious` (others would guess it).
    """
    if _has_seed_words(text):
        raise Rejection("users.phrase.seed_words")
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in text.strip()):
        raise Rejection("users.phrase.one_line")
    phrase = plain(text)
    if len(phrase) < MIN_LENGTH:
        raise Rejection("users.phrase.too_short", shortest=MIN_LENGTH)
    if len(phrase) > MAX_LENGTH:
        raise Rejection("users.phrase.too_long", longest=MAX_LENGTH, actual=len(phrase))
    _check_characters(phrase)
    if _is_obvious(phrase):
        raise Rejection("users.phrase.obvious")
    return phrase


def _has_seed_words(text: str) -> bool:
    """Return whether `text` has six or more BIP-39 words in a row, with any numbering or separators."""
    in_a_row = 0
    for word in _WORD.findall(plain(text).casefold()):
        in_a_row = in_a_row + 1 if word in _seed_words() else 0
        if in_a_row > MAX_SEED_WORDS:
            return True
    return False


def _check_characters(phrase: str) -> None:
    if _LINK.search(phrase):
        raise Rejection("users.phrase.link")
    if not all(character in _PUNCTUATION or _is_letter_or_digit(character) for character in phrase):
        raise Rejection("users.phrase.symbols")
    if sum(character.isalpha() for character in phrase) < MIN_LETTERS:
        raise Rejection("users.phrase.letters")


def _is_letter_or_digit(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or unicodedata.category(character) in {"Mn", "Mc"}


def _is_obvious(phrase: str) -> bool:
    said = re.findall(r"[^\W_]+", phrase.casefold())
    letters = {character for character in phrase.casefold() if character.isalpha()}
    return said == EXAMPLE.split() or _obvious_words().issuperset(said) or len(letters) < MIN_LETTERS


def _make_suggestion(language: str, first: int, second: int, kind: int) -> Suggestion:
    words = _vocabularies()[language]
    text = words.pattern.format(first=words.things[first], second=words.things[second], kind=words.kinds[kind])
    return Suggestion(f"{language}-{first}-{second}-{kind}", text)


@cache
def _vocabularies() -> dict[str, _Vocabulary]:
    """Return the words of each language."""
    return {
        language: _Vocabulary(words["pattern"], words["things"].split(), words["kinds"].split())
        for language, words in read_tables("phrase").items()
    }


@cache
def _obvious_words() -> frozenset[str]:
    """Return the words that an impostor tries first. A phrase of only these words protects nobody."""
    lists = (_OBVIOUS_NAMES, *(words["obvious"] for words in read_tables("phrase").values()))
    return frozenset(word for words in lists for word in words.split())


@cache
def _seed_words() -> frozenset[str]:
    words = (files("bot.users") / "seed_words.txt").read_text(encoding="ascii").split()
    return frozenset(words) | {word[:_SEED_WORD_LETTERS] for word in words}
