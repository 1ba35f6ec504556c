"""Texts in the user's language: sentences from the catalogues, and formats of numbers, money and times.

    translations = Translations.load()
    t = translations.get(choose_locale(user.locale, telegram_language_code))
    t("checkout.review.title", amount=t.rupiah(50_000))

A missing sentence is a bug. If `strict`, it raises `UnknownKey`. Otherwise it is logged, and the user reads English.
Errors::

    TranslationError
    ├── UnknownKey        no catalogue has the key
    └── MissingArgument   a sentence needs an argument that is missing
"""

from bot.core.locales import LOCALES, other_locales
from bot.infra.i18n.formats import Formats, get_zone_name
from bot.infra.i18n.translator import (
    Catalogue,
    Html,
    MissingArgument,
    TranslationError,
    Translations,
    Translator,
    UnknownKey,
    as_html,
    choose_locale,
    find_catalogue_folder,
    read_catalogue,
    translator_for,
)

__all__ = [
    "LOCALES",
    "Catalogue",
    "Formats",
    "Html",
    "MissingArgument",
    "TranslationError",
    "Translations",
    "Translator",
    "UnknownKey",
    "as_html",
    "choose_locale",
    "find_catalogue_folder",
    "get_zone_name",
    "other_locales",
    "read_catalogue",
    "translator_for",
]
