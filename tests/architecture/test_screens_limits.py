"""Every screen, in both languages, with whatever comes from outside, is a message that Telegram takes."""

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.infra.i18n import LOCALES
from bot.settlement.model import PayoutMethod
from tests.architecture.every_screen import every_screen
from tests.examples import examples, some
from tests.screens import HOSTILE_NAMES, check_screen
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY

KINDS = itertools.cycle(("bank", "ewallet"))
METHODS = (LISTED_BCA, LISTED_GOPAY, *(PayoutMethod("x", name, next(KINDS)) for name in HOSTILE_NAMES))
CASES = [pytest.param(locale, method, id=f"{locale}-{method.name[:12]!a}") for locale in LOCALES for method in METHODS]


@pytest.mark.parametrize(("locale", "method"), some(CASES))
def test_every_screen_is_within_telegrams_limits_and_says_which_order(locale: str, method: PayoutMethod) -> None:
    for seen in every_screen(locale, method):
        check_screen(seen)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("typed", some([*HOSTILE_NAMES, "🙈" * 4096, "\u202e" * 4096, " ", "</b>" * 1024]))
def test_whatever_was_typed_or_answered_is_shown_as_text(locale: str, typed: str) -> None:
    for seen in every_screen(locale, LISTED_BCA, typed):
        check_screen(seen)


@settings(max_examples=examples(8), deadline=None)
@given(name=st.text(max_size=300), typed=st.text(max_size=300))
def test_no_name_and_no_words_break_a_screen(name: str, typed: str) -> None:
    for seen in every_screen("id", replace(LISTED_BCA, name=name), typed or "1"):
        check_screen(seen)


@pytest.mark.parametrize("locale", LOCALES)
def test_sentences_are_set_with_care(locale: str) -> None:
    for seen in every_screen(locale):
        assert not re.search(r"  | $|^ |\n{3}| \n|None|\bnull\b", seen.text), f"{seen.name}: {seen.text}"
        assert seen.text == seen.text.strip(), f"{seen.name}: {seen.text!r}"
        assert not re.search(r"\(\)|→ *$|· *$", seen.text), f"{seen.name}: {seen.text}"


def test_markup_from_outside_stays_text() -> None:
    evil = replace(LISTED_BCA, name="<b>EVIL</b> & Co")
    shown = [seen for seen in every_screen("en", evil) if "EVIL" in seen.text]
    assert len(shown) > 50
    assert all("<b>EVIL</b> & Co" in seen.text for seen in shown)


def test_an_order_is_never_shown_with_the_whole_number_to_staff() -> None:
    for locale in LOCALES:
        staff = [seen for seen in every_screen(locale) if seen.name.startswith("staff_")]
        assert staff
        assert not any("1234567890" in seen.screen.text or "SANTOSO" in seen.screen.text for seen in staff)
