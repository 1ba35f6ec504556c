"""Support reads every event of a user as text, in both languages."""

import pytest

from bot.infra.i18n import LOCALES
from bot.orders.buttons import OrderAction
from bot.users.model import UserEvent, press_event
from tests.texts import TRANSLATIONS

EVENTS = (*UserEvent, *map(press_event, OrderAction))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_event_has_words_of_its_own(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    said = [t.plain(f"support.user_event.{event}") for event in EVENTS]
    assert len(set(said)) == len(EVENTS)
    assert all(not text.startswith("support.user_event.") for text in said)
