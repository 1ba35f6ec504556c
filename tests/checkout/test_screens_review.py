"""Tests of the review: users can check every part, and copy the number without spaces."""

import pytest

from bot.checkout.buttons import LightningButton
from bot.checkout.steps import review
from bot.infra.i18n import LOCALES
from bot.payments.tokens import CODES
from bot.rates.model import estimate
from bot.recipients.formatting import group_digits
from bot.users.buttons import PhraseAction, PhraseButton
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


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_offers_a_phrase_to_a_user_who_has_none(locale: str) -> None:
    t, draft = TRANSLATIONS.get(locale), a_draft_at_review(channel="lightning")
    assert draft.amount is not None
    estimated = estimate(draft.amount, QUOTE)
    offered = ScreenCase("", review.show_review(t, draft, estimated, JAKARTA, phrase="purple coffee boat"))
    assert offered.text.split("\n")[-1] == text("checkout.review.phrase", locale, phrase="purple coffee boat")
    change = PhraseButton(PhraseAction.SHOW).pack()
    name = label("checkout.button.other_words", locale)
    assert [button.label for button in offered.buttons if button.data == change] == [name]
    usual = ScreenCase("", review.show_review(t, draft, estimated, JAKARTA))
    assert offered.text.startswith(f"{usual.text}\n")
    assert change not in [button.data for button in usual.buttons]


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
    estimated = estimate(draft.amount, QUOTE)
    shown = ScreenCase("", review.show_review(EN, draft, estimated, JAKARTA, is_first=is_first))
    buttons = [button.label for button in shown.buttons if button.data == LightningButton().pack()]
    assert buttons == ([label("checkout.button.help_lightning")] if explains else [])


def test_the_review_says_how_long_it_takes_and_who_runs_the_bot() -> None:
    draft = a_draft_at_review()
    assert draft.amount is not None
    estimated = estimate(draft.amount, QUOTE)
    said = text("orders.destinations.usual", name="BCA", length="4 minutes")
    shown = ScreenCase("", review.show_review(EN, draft, estimated, JAKARTA, time_needed=said, run_by="PT Kirim")).text
    assert shown.split("\n")[-2:] == [said, text("users.provider.name", name="PT Kirim")]
    without = ScreenCase("", review.show_review(EN, draft, estimated, JAKARTA)).text
    assert shown.startswith(f"{without}\n")
