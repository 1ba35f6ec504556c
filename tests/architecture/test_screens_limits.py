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
CASES = [pytest.param(locale, method, id=f"{locale}-{method.name[:12]!a}") for locale in LOCALES for method in METHODS]


@pytest.mark.parametrize(("locale", "method"), some(CASES))
def test_every_screen_is_within_telegrams_limits_and_says_which_order(locale: str, method: PayoutMethod) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get(locale), method)):
        check_screen(seen)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("typed", some([*HOSTILE_NAMES, "🙈" * 4096, "\u202e" * 4096, " ", "</b>" * 1024]))
def test_whatever_was_typed_or_answered_is_shown_as_text(locale: str, typed: str) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get(locale), LISTED_BCA, typed)):
        check_screen(seen)


@settings(max_examples=examples(8), deadline=None)
@given(name=st.text(max_size=300), typed=st.text(max_size=300))
def test_no_name_and_no_words_break_a_screen(name: str, typed: str) -> None:
    for seen in every_screen(Outside(TRANSLATIONS.get("id"), replace(LISTED_BCA, name=name), typed or "1")):
        check_screen(seen)
