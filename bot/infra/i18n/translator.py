"""Translators, which render a key and its arguments in the reader's language."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final, Protocol, Self

import structlog

from bot.core.locales import FALLBACK, LOCALES, find_locale
from bot.infra.i18n.catalogues import Catalogue, read_catalogue
from bot.infra.i18n.errors import MissingArgument, TranslationError, UnknownKey
from bot.infra.i18n.formats import Formats
from bot.infra.i18n.html import Html, as_html

log = structlog.get_logger(__name__)

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
    """

    def __init__(self, catalogue: Catalogue, fallback: Catalogue | None = None, *, strict: bool = False) -> None:
        super().__init__(catalogue.locale)
        self._catalogue = catalogue
        self._fallback = fallback or catalogue
        self._strict = strict

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
