"""Every screen, in both languages, with whatever comes from outside, is a message that Telegram takes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.infra.i18n import LOCALES
from bot.settlement.model import PayoutMethod
from tests.architecture.every_screen import every_screen
from tests.examples import examples, some
from tests.screens import Outside, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS

MIXED = "</b>&lt;{amount} {0}\n\t\u202eبنك'\"><a href='https://evil.example'>"
"""Markup, a reference, placeholders, two lines, text from right to left, and the end of an attribute."""
OUTSIDE = (
    (PayoutMethod("x", MIXED, "bank"), MIXED),
    (PayoutMethod("x", MIXED + "🏦" * 200, "ewallet"), MIXED + "🙈" * 4096),
    (PayoutMethod("x", "\u200b", "bank"), " "),
    (PayoutMethod("x", "B" * 200, "ewallet"), "</b>" * 1024),
    (PayoutMethod("x", "🏦" * 200, "bank"), "\u202e" * 4096),
)
"""Names of a method with a text that was typed: the worst at once, the longest, nothing that is seen, and cut markup.

Harmless ones are in the screens of `test_every_screen.py`.
"""
FEW = 10
"""How many combinations of arguments are tried with each random text. Each argument has all its values even so."""
CASES = [
    pytest.param(tuple(LOCALES)[number % len(LOCALES)], method, typed, id=f"{method.name[:12]!a}-{typed[:12]!a}")
    for number, (method, typed) in enumerate(OUTSIDE)
]


@pytest.mark.parametrize(("locale", "method", "typed"), some(CASES))
def test_every_screen_is_within_telegrams_limits_says_which_order_and_shows_what_was_typed_as_text(
    locale: str, method: PayoutMethod, typed: str
) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get(locale), method, typed)):
        check_screen(seen)


@settings(max_examples=examples(8), deadline=None)
@given(name=st.text(max_size=300), typed=st.text(max_size=300))
def test_no_name_and_no_words_break_a_screen(name: str, typed: str) -> None:
    outside = Outside(TRANSLATIONS.get("id"), replace(LISTED_BCA, name=name), typed or "1")
    for seen in every_screen(outside, most=FEW):
        check_screen(seen)
