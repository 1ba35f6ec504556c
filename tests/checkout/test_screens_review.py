"""Tests of the review: users can check every part, and copy the number without spaces."""

import pytest

from bot.checkout.steps import review
from bot.infra.i18n import LOCALES
from bot.payments.tokens import CODES
from bot.rates.model import estimate
from bot.recipients.formatting import group_digits
from tests.checkout.builders import a_draft_at_review
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
    estimated = estimate(draft.amount, QUOTE)
    t = TRANSLATIONS.get(locale)
    seen = ScreenCase("review", review.show_review(t, draft, estimated, JAKARTA))
    assert says(seen.text, "checkout.review.recipient", locale, number="1234 5678 90")
    # Tapping Telegram's <code> would copy the spaces as well.
    assert "<code>" not in seen.screen.text
    seen = ScreenCase("change", review.show_changes(t, draft))
    assert [(button.label, button.copy) for button in seen.buttons if button.copy] == [
        (label("checkout.review.copy_number", locale), "1234567890")
    ]


@pytest.mark.parametrize("locale", LOCALES)
def test_whom_and_where_is_right_below_how_much_with_the_warning_below_the_number(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review()
    assert draft.amount is not None
    shown = ScreenCase("", review.show_review(t, draft, estimate(draft.amount, QUOTE), JAKARTA)).text
    figures, recipient, *_ = shown.split("\n\n")
    assert says(figures, "checkout.review.figures", locale)
    *_, number, warning = recipient.split("\n")
    assert group_digits(draft.number or "") in number
    assert warning == text("checkout.review.irreversible", locale)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_has_few_rows_and_the_other_buttons_are_behind_one(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review(channel="cbbtc")
    assert draft.amount is not None
    estimated = estimate(draft.amount, QUOTE)
    confirm, change, cancel = (
        label(f"checkout.{key}", locale) for key in ("review.confirm_deposit", "review.change", "button.cancel")
    )
    others = [label("checkout.review.use_way", locale, way=way) for way in ("Lightning", "BTCB")]
    for phrase, extra in ((None, []), ("purple coffee boat", [[label("checkout.button.other_words", locale)]])):
        screen = review.show_review(t, draft, estimated, JAKARTA, ways=CODES, phrase=phrase)
        rows = [[button.label for button in row] for row in screen.keyboard]
        assert rows == [[confirm], others, [change, cancel], *extra]
    alone = review.show_review(t, draft, estimated, JAKARTA, ways=("cbbtc",))
    assert [row[0].label for row in alone.keyboard] == [confirm, change]
    shown = ScreenCase("", review.show_changes(t, draft))
    fields = ("amount", "method", "number", "holder")
    assert {label(f"checkout.review.edit.{field}", locale) for field in fields} < {b.label for b in shown.buttons}
    assert label("users.button.back", locale) == shown.buttons[-1].label


def test_the_review_says_how_long_it_takes_and_who_runs_the_bot() -> None:
    draft = a_draft_at_review()
    assert draft.amount is not None
    estimated = estimate(draft.amount, QUOTE)
    said = text("orders.destinations.usual", name="BCA", length="4 minutes")
    shown = ScreenCase("", review.show_review(EN, draft, estimated, JAKARTA, time_needed=said, run_by="PT Kirim")).text
    assert shown.split("\n")[-2:] == [said, text("users.provider.name", name="PT Kirim")]
    without = ScreenCase("", review.show_review(EN, draft, estimated, JAKARTA)).text
    assert shown.startswith(f"{without}\n")
