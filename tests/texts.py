"""The bot's texts by key. A test that uses them still passes when a text is improved.

For example::

    await person.sees(like("saved.which", reference=case.reference))
    await person.taps(label("button.skip"))
    assert says(toast["text"], "saved.already_sent")
"""

import re
from collections.abc import Iterable
from typing import Final

from bot.infra.i18n import LOCALES, Html, Translations, Translator, as_html
from bot.infra.i18n.translator import PLACEHOLDER
from bot.sandbox.bot_api import html

TRANSLATIONS: Final = Translations.load(strict=True)
ANYTHING: Final = r"[\s\S]*?"
"""In a regular expression, also a browser's."""

_OPEN: Final = "\ue000"
"""Stands for an argument that the test leaves open; no text holds it."""


def text(key: str, /, locale: str = "en", **arguments: object) -> str:
    """Return the message of `key` as its reader sees it: with its arguments, without markup."""
    t, forms = _look_up(key, locale, arguments)
    count = arguments.get("count")
    if isinstance(count, int) and len(forms) > 1:
        return readable(t.plural(key, count, **_without_count(arguments)))
    return readable(t(key, **arguments))


def label(key: str, /, locale: str = "en", **arguments: object) -> str:
    """Return the message of `key` for a place without markup: a button, an alert, a menu."""
    t, _ = _look_up(key, locale, arguments)
    return t.plain(key, **arguments)


def name_of(language: str, locale: str = "en") -> str:
    """Return what readers of `locale` call a language."""
    return TRANSLATIONS.get(locale).language(language)


def like(key: str, /, locale: str = "en", **given: object) -> str:
    """Return a regular expression for the message of `key`; arguments that aren't given match anything.

    An argument can be a compiled regular expression: `time=re.compile(r"[0-9:]+ WIB")`.

    Raises:
        ValueError: the pattern would match any text, because the message has no words and no argument is given.
    """
    t, forms = _look_up(key, locale, given)
    expressions, given = _taken_out(given)
    count = given.get("count")
    if len(forms) > 1 and isinstance(count, int):
        patterns = [_as_pattern(t.plural(key, count, **_filled(forms, _without_count(given))))]
    else:
        patterns = [_as_pattern(_fill(t, form, given)) for form in forms]
    if any(re.search(r"\w", pattern.replace(ANYTHING, "")) is None for pattern in patterns):
        raise ValueError(f"{key} has no words of its own: give one of its arguments")
    return _one_of(pattern.translate(expressions) for pattern in patterns)


def in_any_language(key: str, /, **given: object) -> str:
    """Return a regular expression for the message of `key` in any language."""
    return _one_of(like(key, locale, **given) for locale in LOCALES)


def shown_user(user_id: int) -> re.Pattern[str]:
    """Return a pattern for a user as staff see them: the id, after the name if Telegram gives it."""
    return re.compile(rf"(?:[^\n()]+ \({user_id}\)|{user_id})")


def says(shown: str, key: str, /, locale: str = "en", **given: object) -> bool:
    """Return whether `shown` contains the message of `key`, with the arguments that are given."""
    return re.search(like(key, locale, **given), shown) is not None


def starts(shown: str, key: str, /, locale: str = "en", **given: object) -> bool:
    """Return whether `shown` begins with the message of `key`."""
    return re.match(f"(?:{like(key, locale, **given)})", shown) is not None


def readable(markup: str) -> str:
    """Return what a reader sees of a text with Telegram's HTML."""
    return html.parse(markup, lambda _: None)[0]


def _look_up(key: str, locale: str, given: dict[str, object]) -> tuple[Translator, tuple[str, ...]]:
    """Return the translator and the forms of `key`.

    Raises an error for an argument that the message doesn't show, because it would prove nothing.
    """
    t = TRANSLATIONS.get(locale)
    forms = t._catalogue.sentences.get(key) or (t(key),)  # an unknown key raises
    shown = {match["name"] for form in forms for match in PLACEHOLDER.finditer(form)}
    if len(TRANSLATIONS.get("en")._catalogue.sentences[key]) > 1:
        shown.add("count")
    if surplus := given.keys() - shown:
        raise ValueError(f"{key} doesn't show {', '.join(sorted(surplus))}")
    return t, forms


def _taken_out(given: dict[str, object]) -> tuple[dict[int, str], dict[str, object]]:
    """Replace each regular expression among the arguments by a character that no text contains."""
    expressions = {name: value for name, value in given.items() if isinstance(value, re.Pattern)}
    places = {name: ord(_OPEN) + number for number, name in enumerate(expressions, 1)}
    table = {places[name]: f"(?:{expression.pattern})" for name, expression in expressions.items()}
    return table, {**given, **{name: chr(place) for name, place in places.items()}}


def _without_count(arguments: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if name != "count"}


def _filled(forms: tuple[str, ...], given: dict[str, object]) -> dict[str, object]:
    names = {match["name"] for form in forms for match in PLACEHOLDER.finditer(form)} - {"count"}
    return {name: given.get(name, _OPEN) for name in names}


def _fill(t: Translator, form: str, given: dict[str, object]) -> Html:
    def fill(match: re.Match[str]) -> str:
        return as_html(t._format(given.get(match["name"], _OPEN), match["style"]))

    return Html(PLACEHOLDER.sub(fill, form))


def _one_of(patterns: Iterable[str]) -> str:
    each = tuple(patterns)
    return each[0] if len(each) == 1 else f"(?:{'|'.join(each)})"


def _as_pattern(sentence: Html) -> str:
    return re.escape(readable(sentence)).replace(_OPEN, ANYTHING)
