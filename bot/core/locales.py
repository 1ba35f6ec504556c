"""The languages that the bot speaks: one record each, of all that differs by language and isn't a sentence.

A new language is a record here, a catalogue in `locales/`, and words in files that are found by its code:
`bot/users/phrase_words/`, `bot/core/words/` and `bot/checkout/parser/words/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


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
