"""The catalogues. They are read from the `.po` files at the start, so that no compiled file can be outdated."""

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
    """The sentences of one language: key -> its forms. A sentence with plurals has several forms."""

    locale: str
    sentences: Mapping[str, tuple[str, ...]]
    plural_rule: str

    def get_plural_form(self, count: int) -> int:
        """Return the index of the plural form for `count`."""
        return int(_rule(self.plural_rule)(count))


def find_catalogue_folder() -> Traversable:
    """Return the folder of the catalogues: in the installed package, or next to it in a source tree.

    Raises:
        FileNotFoundError: both folders are missing, so the installation is incomplete.
    """
    in_source_tree = Path(__file__).resolve().parents[3] / "locales"
    for place in (files("bot") / "locales", in_source_tree):
        if place.is_dir():
            return place
    raise FileNotFoundError("the locales directory is missing from the installation")


@cache
def read_catalogue(locale: str) -> Catalogue:
    """Return the catalogue of `locale` (one of `LOCALES`), without untranslated entries.

    Raises:
        FileNotFoundError: there is no such catalogue.
        babel.messages.pofile.PoFileError: the catalogue is malformed.
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
