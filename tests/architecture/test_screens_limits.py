"""Every screen, in both languages, with whatever comes from outside, is a message that Telegram takes."""

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.infra.i18n import LOCALES
from bot.settlement.model import PayoutMethod
from tests.architecture.every_screen import BCA, GOPAY, HOSTILE_NAMES, Seen, every_screen
from tests.examples import examples, some

KINDS = itertools.cycle(("bank", "ewallet"))
METHODS = (BCA, GOPAY, *(PayoutMethod("x", name, next(KINDS)) for name in HOSTILE_NAMES))
CASES = [pytest.param(locale, method, id=f"{locale}-{method.name[:12]!a}") for locale in LOCALES for method in METHODS]


def check(seen: Seen) -> None:
    assert 0 < seen.units <= (1024 if seen.is_caption else 4096), f"{seen.name}: {seen.units} units"
    assert all(said in seen.text for said in seen.must_say), f"{seen.name}: {seen.text}"
    for button in seen.buttons:
        assert 0 < len(button.label) <= 64, f"{seen.name}: {button.label}"
        assert button.label.strip(), f"{seen.name}: a label of spaces"
        assert button.data is None or len(button.data.encode()) <= 64
    assert len(seen.buttons) <= 100
    assert all(len(row) <= 8 for row in seen.screen.keyboard)


@pytest.mark.parametrize(("locale", "method"), some(CASES))
def test_every_screen_is_within_telegrams_limits_and_says_which_order(locale: str, method: PayoutMethod) -> None:
    for seen in every_screen(locale, method):
        check(seen)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("typed", some([*HOSTILE_NAMES, "🙈" * 4096, "\u202e" * 4096, " ", "</b>" * 1024]))
def test_whatever_was_typed_or_answered_is_shown_as_text(locale: str, typed: str) -> None:
    for seen in every_screen(locale, BCA, typed):
        check(seen)


@settings(max_examples=examples(12), deadline=None)
@given(name=st.text(max_size=300), typed=st.text(max_size=300))
def test_no_name_and_no_words_break_a_screen(name: str, typed: str) -> None:
    for seen in every_screen("id", replace(BCA, name=name), typed or "1"):
        check(seen)


@pytest.mark.parametrize("locale", LOCALES)
def test_sentences_are_set_with_care(locale: str) -> None:
    for seen in every_screen(locale):
        assert not re.search(r"  | $|^ |\n{3}| \n|None|\bnull\b", seen.text), f"{seen.name}: {seen.text}"
        assert seen.text == seen.text.strip(), f"{seen.name}: {seen.text!r}"
        assert not re.search(r"\(\)|→ *$|· *$", seen.text), f"{seen.name}: {seen.text}"


def test_markup_from_outside_stays_text() -> None:
    evil = replace(BCA, name="<b>EVIL</b> & Co")
    shown = [seen for seen in every_screen("en", evil) if "EVIL" in seen.text]
    assert len(shown) > 50
    assert all("<b>EVIL</b> & Co" in seen.text for seen in shown)


def test_an_order_is_never_shown_with_the_whole_number_to_staff() -> None:
    for locale in LOCALES:
        staff = [seen for seen in every_screen(locale) if seen.name.startswith("staff_")]
        assert staff
        assert not any("1234567890" in seen.screen.text or "SANTOSO" in seen.screen.text for seen in staff)
