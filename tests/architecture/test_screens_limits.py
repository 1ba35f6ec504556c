"""Every screen, in both languages, with whatever comes from outside, is a message that Telegram takes."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.infra.i18n import LOCALES
from bot.settlement.model import PayoutMethod
from tests.architecture.every_screen import every_screen
from tests.examples import examples, some
from tests.screens import HOSTILE_NAMES, Outside, check_screen
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY
from tests.texts import TRANSLATIONS

KINDS = itertools.cycle(("bank", "ewallet"))
METHODS = (LISTED_BCA, LISTED_GOPAY, *(PayoutMethod("x", name, next(KINDS)) for name in HOSTILE_NAMES))
TYPED = (*HOSTILE_NAMES, "🙈" * 4096, "\u202e" * 4096, " ", "</b>" * 1024, "1.500")
CASES = [
    pytest.param(locale, method, typed, id=f"{locale}-{method.name[:12]!a}-{typed[:12]!a}")
    for locale in LOCALES
    for method, typed in zip(itertools.cycle(METHODS), TYPED, strict=False)
]
"""Each name of a method and each text that was typed, once in each language. They are different in each case."""


def test_every_name_and_text_is_in_a_case() -> None:
    assert len(TYPED) >= len(METHODS)


@pytest.mark.parametrize(("locale", "method", "typed"), some(CASES))
def test_every_screen_is_within_telegrams_limits_says_which_order_and_shows_what_was_typed_as_text(
    locale: str, method: PayoutMethod, typed: str
) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get(locale), method, typed)):
        check_screen(seen)


@settings(max_examples=examples(8), deadline=None)
@given(name=st.text(max_size=300), typed=st.text(max_size=300))
def test_no_name_and_no_words_break_a_screen(name: str, typed: str) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get("id"), replace(LISTED_BCA, name=name), typed or "1")):
        check_screen(seen)
