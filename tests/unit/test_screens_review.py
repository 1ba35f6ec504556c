"""The review before an order: what must be checked by eye can be, and copied as the bank wants it."""

import pytest

from bot.chat.screens import review
from bot.chat.words import grouped
from bot.domain.quote import estimate
from bot.i18n import LOCALES
from tests.texts import label, says
from tests.unit.every_screen import JAKARTA, QUOTE, TRANSLATIONS, Seen, a_draft


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
    assert grouped(number) == shown


@pytest.mark.parametrize("locale", LOCALES)
def test_the_review_shows_the_number_in_groups_and_copies_it_without_spaces(locale: str) -> None:
    draft = a_draft(number="1234567890")
    assert draft.amount is not None
    worth = estimate(draft.amount, QUOTE)
    seen = Seen("review", review.screen(TRANSLATIONS.get(locale), draft, worth, JAKARTA, other_ways=True))
    assert says(seen.text, "review.figures", locale, number="1234 5678 90")
    # Tapping Telegram's <code> would copy the spaces as well.
    assert "<code>" not in seen.screen.text
    assert [(button.label, button.copy) for button in seen.buttons if button.copy] == [
        (label("review.copy_number", locale), "1234567890")
    ]
