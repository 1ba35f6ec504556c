"""The names of Indonesian banks and e-wallets, and the usual length of their account numbers.

They help searching, and the bot asks about unusual numbers. The live list decides which destinations exist, and a
destination that is unknown here works as well. An entry is used only if the live name matches: a code proves nothing.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from bot.core.text import plain
from bot.settlement.model import PayoutMethod

_GENERIC_WORDS = frozenset({"bank", "pt", "tbk", "persero"})
_SHARED_WORDS = _GENERIC_WORDS | {"indonesia", "syariah", "internasional", "international", "of", "by"}
"""Words that two different banks share."""


@dataclass(frozen=True, slots=True)
class KnownDestination:
    """A destination that we know. `digits` is the usual length of its account numbers."""

    code: str
    name: str
    label: str
    aliases: tuple[str, ...]
    digits: int | None = None

    @property
    def all_names(self) -> tuple[str, ...]:
        """All names of the destination."""
        return (self.label, *self.aliases, self.name)


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case and without punctuation."""
    return tuple(re.findall(r"[^\W_]+", plain(text).casefold()))


@lru_cache(maxsize=4096)
def name_forms(text: str) -> frozenset[str]:
    """Return the forms in which names are compared: without spaces, with and without words such as "bank"."""
    found = split_words(text)
    return frozenset({"".join(found), "".join(word for word in found if word not in _GENERIC_WORDS)} - {""})


@lru_cache(maxsize=1024)
def find_known(code: str, name: str) -> KnownDestination | None:
    """Return what we know about a live pair of code and name. None if the name doesn't match or is unknown."""
    by_name = [known for known in _all_known() if name_forms(name) & _forms_of(known)]
    by_code = [known for known in _all_known() if known.code == code]
    for known in by_code:
        if known in by_name or (not by_name and _distinctive_words(name) & _distinctive_words(*known.all_names)):
            return known
    return by_name[0] if by_name else None


def display_name(method: PayoutMethod) -> str:
    """Return what people call a destination ("BCA"), or its live name if we aren't sure which one it is."""
    known = find_known(method.code, method.name)
    if known is None or not name_forms(method.name) & (name_forms(known.name) | name_forms(known.label)):
        return method.name
    return known.label


@cache
def _all_known() -> tuple[KnownDestination, ...]:
    rows = json.loads(files(__package__).joinpath("known.json").read_text(encoding="utf-8"))
    return tuple(KnownDestination(**{**row, "aliases": tuple(row["aliases"])}) for row in rows)


@lru_cache(maxsize=1024)
def _forms_of(known: KnownDestination) -> frozenset[str]:
    return frozenset[str]().union(*(name_forms(phrase) for phrase in known.all_names))


def _distinctive_words(*phrases: str) -> set[str]:
    return {word for phrase in phrases for word in split_words(phrase)} - _SHARED_WORDS
