"""Tests of the review: users can check every part, and copy the number without spaces."""

from itertools import product

import pytest

from bot.checkout.buttons import LightningButton
from bot.checkout.steps import review
from bot.infra.i18n import LOCALES
from bot.rates.model import estimate
from bot.recipients.formatting import group_digits
from bot.users.buttons import PhraseAction, PhraseButton
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import an_open_order
from tests.screens import JAKARTA, ScreenCase
from tests.settlement.builders import QUOTE
from tests.texts import TRANSLATIONS, label, says, text

EN = TRANSLATIONS.get("en")


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("1234567890", "1234 5678 90"),
        ("081234567890", "0812 3456 7890"),
        ("12345678901234567890", "1234 5678 9012 3456 7890"),
        ("1234", "1234"),
        ("", ""),
    ],
)
def test_a_number_is_shown_in_groups_of_four(number: str, shown: str) -> None:
    assert group_digits(number) == shown


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_shows_the_number_in_groups_and_copies_it_without_spaces(locale: str) -> None:
    draft = a_draft_at_review(number="1234567890")
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    t = TRANSLATIONS.get(locale)
    seen = ScreenCase("review", review.show_review(t, draft, worth, JAKARTA))
    assert says(seen.text, "checkout.review.recipient", locale, number="1234 5678 90")
    # Tapping Telegram's <code> would copy the spaces as well.
    assert "<code>" not in seen.screen.text
    seen = ScreenCase("change", review.show_changes(t, draft, other_ways=True))
    assert [(button.label, button.copy) for button in seen.buttons if button.copy] == [
        (label("checkout.review.copy_number", locale), "1234567890")
    ]


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_warns_above_its_buttons_that_a_wrong_number_cannot_be_taken_back(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review()
    assert draft.amount is not None
    shown = ScreenCase("", review.show_review(t, draft, estimate(draft.amount, QUOTE), JAKARTA)).text
    *_, recipient, warning = shown.split("\n\n")
    assert warning == text("checkout.review.irreversible", locale)
    assert group_digits(draft.number or "") in recipient.split("\n")[-1], "the number is last"


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_has_three_rows_and_the_other_buttons_are_behind_one(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review(channel="lightning")
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    for is_first, phrase in product((False, True), (None, "purple coffee boat")):
        screen = review.show_review(t, draft, worth, JAKARTA, is_first=is_first, phrase=phrase)
        assert [row[0].label for row in screen.keyboard] == [
            label(f"checkout.{key}", locale) for key in ("review.confirm", "review.change", "button.cancel")
        ]
    shown = ScreenCase("", review.show_changes(t, draft, other_ways=True))
    fields = ("amount", "method", "number", "holder", "channel")
    assert {label(f"checkout.review.edit.{field}", locale) for field in fields} < {b.label for b in shown.buttons}
    assert label("users.button.back", locale) == shown.buttons[-1].label


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_offers_a_phrase_to_a_user_who_has_none_above_the_number(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review(channel="lightning")
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    offered = ScreenCase("", review.show_review(t, draft, worth, JAKARTA, phrase="purple coffee boat"))
    *_, confirming, recipient, warning = offered.text.split("\n\n")
    assert confirming.split("\n") == [
        text("checkout.review.locks", locale),
        text("checkout.review.phrase", locale, phrase="purple coffee boat"),
    ]
    assert warning == text("checkout.review.irreversible", locale)
    change = PhraseButton(PhraseAction.SHOW).pack()
    name = label("checkout.button.other_words", locale)
    assert [button.label for button in offered.buttons if button.data == change] == [name]
    usual = ScreenCase("", review.show_review(t, draft, worth, JAKARTA))
    assert usual.text.split("\n\n")[-2:] == [recipient, warning]
    assert change not in [button.data for button in usual.buttons]


@pytest.mark.parametrize("locale", LOCALES)
def test_a_confirmed_review_is_one_line_with_the_reference(locale: str) -> None:
    t, order = TRANSLATIONS.get(locale), an_open_order()
    shown = ScreenCase("", review.show_confirmed(t, order))
    assert shown.text.split("\n")[0].endswith(f"BCA ••••7890 · {order.reference}")
    assert len(shown.text.split("\n")) == 2
    assert shown.screen.keyboard == ()


@pytest.mark.parametrize(
    ("channel", "is_first", "explains"),
    [("lightning", True, True), ("lightning", False, False), ("cbbtc", True, False)],
)
def test_who_pays_over_lightning_for_the_first_time_can_read_what_it_is(
    channel: str,
    is_first: bool,  # noqa: FBT001  pytest's
    explains: bool,  # noqa: FBT001  pytest's
) -> None:
    draft = a_draft_at_review(channel=channel)
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    shown = ScreenCase("", review.show_review(EN, draft, worth, JAKARTA, is_first=is_first))
    buttons = [button.label for button in shown.buttons if button.data == LightningButton().pack()]
    assert buttons == ([label("checkout.button.help_lightning")] if explains else [])


def test_the_review_says_how_long_it_takes_before_it_says_what_confirming_does() -> None:
    draft = a_draft_at_review()
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    said = text("orders.destinations.usual", name="BCA", length="4 minutes")
    shown = ScreenCase("", review.show_review(EN, draft, worth, JAKARTA, time_needed=said)).text.split("\n\n")
    assert shown.index(said) == shown.index(text("checkout.review.locks")) - 1
    without = ScreenCase("", review.show_review(EN, draft, worth, JAKARTA)).text.split("\n\n")
    assert [part for part in shown if part != said] == without
