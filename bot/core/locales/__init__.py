"""The bot's languages: a file each, with everything that differs by language except the texts of its catalogue.

A new language is a file here and a catalogue in `locales/`, both named by its code.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Locale:
    """One language.

    Attributes:
        name: its name in the language itself.
        clock: a time of day, as a CLDR pattern of `HH` and `mm`.
        seconds: the same to the second, with `ss`.
        date_time: day and time of day, as a CLDR pattern.
        one_sat: the unit of a single sat; all other amounts are "sats" in every language.
        other_codes: other codes that Telegram sends for it.
        near_codes: codes of languages whose speakers read it rather than English. Broadcasts don't count them, because
            an operator chooses the languages of their audience.
    """

    name: str
    clock: str
    seconds: str
    date_time: str
    one_sat: str = "sats"
    other_codes: Sequence[str] = ()
    near_codes: Sequence[str] = ()


@cache
def _file(locale: str) -> Mapping[str, Any]:
    text = (files(__package__) / f"{locale}.toml").read_bytes()
    try:
        return tomllib.loads(text.decode())
    except ValueError as error:
        raise ValueError(f"the language file {locale}.toml can't be read: {error}") from None


_NAMES: Final = sorted(file.name for file in files(__package__).iterdir())
_CODES: Final = [name.removesuffix(".toml") for name in _NAMES if name.endswith(".toml")]

FALLBACK: Final = "en"
"""The language of users whose own language is none of the bot's."""

for _code in _CODES:
    # Most sections are read when a user needs them, which is too late to find that one is missing.
    if _missing := _file(FALLBACK).keys() - _file(_code).keys():
        raise ValueError(f"the language file {_code}.toml lacks: {', '.join(sorted(_missing))}")

LOCALES: Final[Mapping[str, Locale]] = MappingProxyType({code: Locale(**_file(code)["locale"]) for code in _CODES})
"""Code (two letters, as in ISO 639-1) -> language, in display order."""

REGION_MARKS: Final = "-_"
"""Either of these separates a language's code from its region: `id-ID`, `en_GB`."""


def codes_of(locale: str) -> tuple[str, ...]:
    """Return all codes of a language: its own, and what Telegram may call it instead."""
    return (locale, *LOCALES[locale].other_codes)


_LOCALE_OF_CODE: Final = {
    code: locale for locale, language in LOCALES.items() for code in (*codes_of(locale), *language.near_codes)
}


def find_locale(tag: str | None) -> str | None:
    """Return the language for readers of `tag` (`id`, `in`, `en-GB`, `ms`); None if it is none of the bot's."""
    language = re.split(f"[{re.escape(REGION_MARKS)}]", (tag or "").lower())[0]
    return _LOCALE_OF_CODE.get(language)


def other_locales(locale: str) -> tuple[str, ...]:
    """Return the codes of the languages that a user of `locale` can change to."""
    return tuple(each for each in LOCALES if each != locale)


def typed_words(name: str) -> tuple[str, ...]:
    """Return the word list `name` of all languages together, because many users mix them."""
    return tuple(word for words in typed_lists(name) for word in words)


def typed_lists(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the word list `name` of each language."""
    return tuple(tuple(_file(locale)[name].split()) for locale in LOCALES)


def read_tables(name: str) -> dict[str, Mapping[str, Any]]:
    """Return the table `name` of each language, by its code."""
    return {locale: _file(locale)[name] for locale in LOCALES}


def typed_values(name: str) -> dict[str, int]:
    """Return the word table `name` of all languages together: each word with its value."""
    return {word: value for locale in LOCALES for word, value in _file(locale)[name].items()}


def typed_fractions(name: str) -> dict[str, Fraction]:
    """Return the words of the table `name` of all languages together: each with its fraction."""
    return {
        word: Fraction(of) for locale in LOCALES for of, words in _file(locale)[name].items() for word in words.split()
    }


def typed_parts(name: str) -> dict[str, int]:
    """Return the words of the table `name` of all languages together: each with the number of parts of a whole."""
    return {word: int(of) for locale in LOCALES for of, words in _file(locale)[name].items() for word in words.split()}


def typed_scales(name: str, scales: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the words of the table `name` with their `scales`: several if the languages mean different ones."""
    found: dict[str, set[int]] = {}
    for locale in LOCALES:
        for scale, words in _file(locale)[name].items():
            for word in words.split():
                found.setdefault(word, set()).add(scales[scale])
    return {word: tuple(sorted(values)) for word, values in found.items()}


def any_of(words: Iterable[str]) -> str:
    """Return a regular expression for one of `words`."""
    return "|".join(map(re.escape, words))
