"""The catalogues, read at start from the `.po` files themselves, so that no compiled file can be stale."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from gettext import c2py
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

DOMAIN: Final = "kirim"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The sentences of one language: key -> its forms, one, or as many as the language has plurals."""

    locale: str
    sentences: Mapping[str, tuple[str, ...]]
    plural_rule: str

    def form_for(self, count: int) -> int:
        """Which of the plural forms goes with `count`."""
        return int(_rule(self.plural_rule)(count))


def find_catalogue_folder() -> Traversable:
    """Where the catalogues are: within an installed package, or beside it in a source tree.

    Raises:
        FileNotFoundError: they are in neither place; the installation is incomplete.
    """
    beside = Path(__file__).resolve().parents[3] / "locales"
    for place in (files("bot") / "locales", beside):
        if place.is_dir():
            return place
    raise FileNotFoundError("the locales directory is missing from the installation")


@cache
def read_catalogue(locale: str) -> Catalogue:
    """Return the catalogue of `locale` (one of `LOCALES`); untranslated entries are left out.

    Raises:
        FileNotFoundError: there is no such catalogue.
        babel.messages.pofile.PoFileError: it is malformed.
    """
    source = find_catalogue_folder() / locale / "LC_MESSAGES" / f"{DOMAIN}.po"
    with source.open("rb") as file:
        parsed = read_po(file, locale=locale, abort_invalid=True)
    sentences = {}
    for message in parsed:
        key = message.id if isinstance(message.id, str) else message.id[0]
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if key and forms and all(forms):
            sentences[key] = forms
    return Catalogue(locale, sentences, parsed.plural_expr)


_rule = cache(c2py)
