"""The words by which users ask about an order, read from the lists beside the catalogue of each language.

The lists of all languages are one, because users mix languages: "payment belum masuk".
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Final

from rapidfuzz.distance import OSA

from bot.core.text import plain
from bot.infra.i18n import LOCALES, find_catalogue_folder

FILE: Final = "status_questions.toml"
SHORTEST_MISSPELT: Final = 5
"""In a shorter word, another letter makes another word."""

SHORTEST_STEM: Final = 3
_WORD: Final = re.compile(r"[a-z0-9]+")
_LONG_RUN: Final = re.compile(r"(.)\1{2,}")
_RUN: Final = re.compile(r"(.)\1+")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("'`\u2018\u2019\u00b4"))


class Sense(StrEnum):
    """What a word says in a message about an order. Each has a list in the file of every language."""

    THING = "thing"  # what is asked about: the money, the order
    MINE = "mine"
    IT = "it"
    WHERE = "where"
    ASKS = "asks"  # when, why, how
    WHETHER = "whether"  # is, has, "sudah", "apakah", and a question mark
    HAPPENED = "happened"  # arrived, paid, failed
    NOT_YET = "not_yet"
    LATE = "late"  # slow, stuck, lost
    VERY = "very"
    STATUS = "status"  # asks for the status by itself
    WAITS = "waits"
    CLAIMS_PAID = "claims_paid"  # "I paid", "sudah saya transfer"
    CHECK = "check"
    THANKS = "thanks"  # also "great", "ok": the message is content
    ELSE = "else"  # the message is about something else
    FILLER = "filler"


Senses = frozenset[Sense]


@cache
def known_words() -> Mapping[tuple[str, ...], Senses]:
    """Return what each entry of the lists says, by its words."""
    found = dict[tuple[str, ...], Senses]()
    for locale in LOCALES:
        for sense, entries in _read(locale)["words"].items():
            for entry in _split(entries):
                key = tuple(entry.split())
                found[key] = found.get(key, frozenset()) | {Sense(sense)}
    return found


def read_words(sentence: str) -> list[str]:
    """Return the words of a sentence, without case, accents, punctuation and lengthened letters."""
    folded = unicodedata.normalize("NFD", plain(sentence).casefold().translate(_APOSTROPHES))
    return [_spell(word) for word in _WORD.findall("".join(filter(_is_base, folded)))]


@cache
def _longest_entry() -> int:
    return max(map(len, known_words()))


def split_into_entries(words: list[str]) -> Iterator[tuple[tuple[str, ...], Senses | None]]:
    """Yield the entries that the words make, the longest first. A word in no list has no senses."""
    place = 0
    while place < len(words):
        for length in range(min(_longest_entry(), len(words) - place), 0, -1):
            entry = tuple(words[place : place + length])
            senses = known_words().get(entry)
            if senses is not None or length == 1:
                yield entry, senses
                place += length
                break


def _is_base(character: str) -> bool:
    return not unicodedata.combining(character)


@cache
def _single_words() -> frozenset[str]:
    """Return every word of the lists, also those that only stand in longer entries."""
    return frozenset(word for entry in known_words() for word in entry)


@cache
def _entries_of_one_word() -> frozenset[str]:
    return frozenset(entry[0] for entry in known_words() if len(entry) == 1)


@cache
def _long_words() -> tuple[str, ...]:
    """Return the words that may be misspelt. None of them says that the message is about something else."""
    return tuple(
        entry[0]
        for entry, senses in known_words().items()
        if len(entry) == 1 and len(entry[0]) >= SHORTEST_MISSPELT and Sense.ELSE not in senses
    )


@cache
def _endings() -> tuple[str, ...]:
    found = {ending for locale in LOCALES for ending in _split(_read(locale)["endings"]["endings"])}
    return tuple(sorted(found, key=len, reverse=True))


def _spell(word: str) -> str:
    """Return the word as the lists have it, if they do: "lamaaa" as "lama", "uangnya" as "uang"."""
    spellings = (word, _LONG_RUN.sub(r"\1\1", word), _RUN.sub(r"\1", word))
    stems = (stem for spelling in spellings for stem in _cut_endings(spelling) if stem in _entries_of_one_word())
    known = next(chain((each for each in spellings if each in _single_words()), stems), None)
    if known is not None:
        return known
    if len(word) < SHORTEST_MISSPELT or not word.isalpha():
        return word
    near = (each for each in _long_words() if each[0] == word[0] and OSA.distance(each, word, score_cutoff=1) <= 1)
    return next(near, word)


def _cut_endings(word: str) -> Iterator[str]:
    for ending in _endings():
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST_STEM:
            yield stem


def _split(entries: str) -> Iterator[str]:
    for entry in entries.replace("\n", " ").split(","):
        if entry.strip():
            yield " ".join(entry.split())


@cache
def _read(locale: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((find_catalogue_folder() / locale / FILE).read_text(encoding="utf-8"))
