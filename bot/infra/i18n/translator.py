"""Sentences in the language of the reader: the catalogues, and the translators that render a key and its arguments.

The catalogues are read from the `.po` files at the start, so that no compiled file can be outdated. Errors are bugs: a
sentence is missing, or an argument of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from gettext import c2py
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Protocol, Self

import structlog
from babel.messages.pofile import read_po

from bot.core.locales import FALLBACK, LOCALES, find_locale
from bot.infra.i18n.formats import Formats

log = structlog.get_logger(__name__)


class TranslationError(LookupError):
    """A sentence can't be rendered. The message names the key, never the value of an argument."""


class UnknownKey(TranslationError):
    """No catalogue has the key."""


class MissingArgument(TranslationError):
    """The sentence has a placeholder without an argument."""


class Html(str):
    """Safe markup. In a sentence, an argument of type `str` is escaped, and an `Html` isn't."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup. Templates of web pages call this before they escape a value."""
        return self


def as_html(text: str) -> Html:
    """Return `text` as markup. Escape it unless it is `Html`."""
    return text if isinstance(text, Html) else Html(escape(text))


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


PLACEHOLDER: Final = re.compile(r"\{(?P<name>[a-z_]+)(?::(?P<style>[a-z]+))?\}")
"""`{name}` or `{name:style}`. The style of a number is `rupiah`, `sats` or `percent`."""


class Translatable(Protocol):
    """A key with arguments, such as a `Rejection` or a `Remark` (`core/errors.py`)."""

    @property
    def key(self) -> str: ...  # noqa: D102  see the class

    @property
    def arguments(self) -> Mapping[str, object]: ...  # noqa: D102  see the class


class LanguagePreference(Protocol):
    """The language that a user chose, and the language of their app."""

    @property
    def locale(self) -> str | None: ...  # noqa: D102  see the class

    @property
    def language_code(self) -> str | None: ...  # noqa: D102  see the class


class Translator(Formats):
    """Renders sentences in one language: as HTML when called, or with `plain` as text for buttons and alerts.

    A `str` argument is escaped unless it is `Html`. An `int` or `Decimal` gets the reader's separators.

    Attributes:
        others: the translators of the other languages, for what the reader forwards.
    """

    def __init__(self, catalogue: Catalogue, fallback: Catalogue | None = None, *, strict: bool = False) -> None:
        super().__init__(catalogue.locale)
        self._catalogue = catalogue
        self._fallback = fallback or catalogue
        self._strict = strict
        self.others: tuple[Translator, ...] = ()

    def __call__(self, key: str, /, **arguments: object) -> Html:
        """Return the sentence of `key` as HTML.

        Raises:
            TranslationError: the sentence is missing or lacks an argument, and `strict` is set. Otherwise that is
                logged, and English or the key is shown.
        """
        return Html(self._render(key, None, arguments, as_html))

    def plural(self, key: str, count: int, /, **arguments: object) -> Html:
        """Return the sentence of `key` in the plural form for `count`, which fills `{count}`. Raises as a call does."""
        return Html(self._render(key, count, {**arguments, "count": count}, as_html))

    def plain(self, key: str, /, **arguments: object) -> str:
        """Return the sentence of `key` for places that take no HTML: buttons, alerts, menus. Raises as a call does."""
        return self._render(key, None, arguments, str)

    def in_all(self, key: str, /, **arguments: object) -> tuple[str, ...]:
        """Return the sentence of `key` in all languages, the reader's first, each text once. For pictures."""
        return tuple(dict.fromkeys(t.plain(key, **arguments) for t in (self, *self.others)))

    def translate(self, text: Translatable) -> Html:
        """Return the sentence of a `Rejection` or a `Remark` as HTML. Raises as a call does."""
        return self(text.key, **text.arguments)

    def ago(self, moment: datetime, now: datetime) -> Html:
        """Return how long ago `moment` was: "5 minutes ago", or "just now" in the first minute."""
        if (now - moment).total_seconds() < 60:  # noqa: PLR2004  seconds of a minute
            return self("infra.time.just_now")
        return self("infra.time.ago", duration=self.duration(now - moment))

    def until(self, moment: datetime, now: datetime) -> Html:
        """Return how soon `moment` comes, rounded down: "in 5 minutes", or "within a minute" in the last one."""
        if (moment - now).total_seconds() < 60:  # noqa: PLR2004  seconds of a minute
            return self("infra.time.very_soon")
        return self("infra.time.until", duration=self.duration(moment - now))

    def _render(
        self, key: str, count: int | None, arguments: Mapping[str, object], convert: Callable[[str], str]
    ) -> str:
        catalogue, forms = self._find(key)
        form = forms[min(catalogue.get_plural_form(count), len(forms) - 1)] if count is not None else forms[0]

        def fill(match: re.Match[str]) -> str:
            name = match["name"]
            if name not in arguments:
                return self._report(MissingArgument(f"{key} needs {name}"), "…")
            return convert(self._format(arguments[name], match["style"]))

        return PLACEHOLDER.sub(fill, form)

    def _find(self, key: str) -> tuple[Catalogue, tuple[str, ...]]:
        forms = self._catalogue.sentences.get(key)
        if forms:
            return self._catalogue, forms
        shown = self._report(UnknownKey(f"{self.locale} has no {key}"), key)
        return self._fallback, self._fallback.sentences.get(key, (shown,))

    def _report(self, error: TranslationError, replacement: str) -> str:
        if self._strict:
            raise error
        log.error("translation_failed", fault=str(error))
        return replacement

    def _format(self, value: object, style: str | None) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return str(value)
        if style == "percent":
            return self.percent(value)
        if isinstance(value, int) and style in {"rupiah", "sats"}:
            return self.rupiah(value) if style == "rupiah" else self.sats(value)
        return self.number(value)


class Translations:
    """The translators of all languages."""

    def __init__(self, catalogues: Mapping[str, Catalogue], *, strict: bool = False) -> None:
        fallback = catalogues[FALLBACK]
        self._translators = {name: Translator(each, fallback, strict=strict) for name, each in catalogues.items()}
        for each in self._translators.values():
            each.others = tuple(other for other in self._translators.values() if other is not each)

    @classmethod
    def load(cls, *, strict: bool = False) -> Self:
        """Read all catalogues from their files. `strict` is for tests: a missing sentence raises an error."""
        return cls({locale: read_catalogue(locale) for locale in LOCALES}, strict=strict)

    def get(self, locale: str) -> Translator:
        """Return the translator of `locale`, or the English one if there is none."""
        return self._translators.get(locale, self._translators[FALLBACK])


def choose_locale(chosen: str | None, telegram_language_code: str | None) -> str:
    """Return the locale for a user: the chosen one, else the app's language if the bot has it, else English.

    Region subtags are ignored: `id-ID` is `id`. Malay, Javanese and Sundanese apps get Indonesian.
    """
    return find_locale(chosen) or find_locale(telegram_language_code) or FALLBACK


def translator_for(translations: Translations, reader: LanguagePreference | None) -> Translator:
    """Return the translator for the language of `reader`, or the English one if the reader is unknown."""
    if reader is None:
        return translations.get(FALLBACK)
    return translations.get(choose_locale(reader.locale, reader.language_code))
