"""The languages that the bot speaks: one record each, of all that differs by language and isn't a sentence.

A new language is a record here, a catalogue in `locales/`, and words in files that are found by its code: beside this
one, in `bot/checkout/parser/words/` and in `bot/users/phrase_words/`.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Locale:
    """One language.

    Attributes:
        name: what its own readers call it.
        clock: a time of day, as a CLDR pattern of `HH` and `mm`.
        seconds: the same to the second, with `ss`.
        date_time: day and time of day, as a CLDR pattern.
        one_sat: the unit of a single sat; of all other sums it is "sats" in every language.
        other_codes: what Telegram may call it instead of its code here.
    """

    name: str
    clock: str
    seconds: str
    date_time: str
    one_sat: str = "sats"
    other_codes: tuple[str, ...] = ()


LOCALES: Final[Mapping[str, Locale]] = MappingProxyType(
    {
        "en": Locale("English", clock="HH:mm", seconds="HH:mm:ss", date_time="d MMM y, HH:mm", one_sat="sat"),
        # Telegram passes on what the phone says, and old Java systems still say "in" for Indonesian.
        "id": Locale(
            "Bahasa Indonesia",
            clock="HH.mm",
            seconds="HH.mm.ss",
            date_time="d MMM y HH.mm",
            other_codes=("in",),
        ),
    }
)
"""Code (two letters, as in ISO 639-1) -> language, in the order in which they are offered."""


def other_locales(locale: str) -> tuple[str, ...]:
    """Return the codes of the languages that a reader of `locale` can change to."""
    return tuple(each for each in LOCALES if each != locale)


def typed_words(name: str) -> tuple[str, ...]:
    """Return the list `name` of the words that people type, in all languages: many mix them."""
    return tuple(word for words in typed_lists(name) for word in words)


def typed_lists(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the list `name` of the words that people type, one for each language."""
    return tuple(tuple(_file(locale)[name].split()) for locale in LOCALES)


def typed_values(name: str) -> dict[str, int]:
    """Return the table `name` of the words that people type, with what each stands for, in all languages."""
    return {word: value for locale in LOCALES for word, value in _file(locale)[name].items()}


def typed_scales(name: str, scales: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the words in the table `name` with their `scales`: several, where languages mean different ones."""
    found: dict[str, set[int]] = {}
    for locale in LOCALES:
        for scale, words in _file(locale)[name].items():
            for word in words.split():
                found.setdefault(word, set()).add(scales[scale])
    return {word: tuple(sorted(values)) for word, values in found.items()}


def any_of(words: Iterable[str]) -> str:
    """Return a regular expression for one of `words`."""
    return "|".join(map(re.escape, words))


@cache
def _file(locale: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{locale}.toml").read_text(encoding="utf-8"))
