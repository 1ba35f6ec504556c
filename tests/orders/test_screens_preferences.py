"""The notification preferences show the current modes, and each button does what it says."""

from itertools import product

import pytest

from bot.home.screens import show_settings
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.callbacks import read_button
from bot.infra.telegram.ui.screen import Screen
from bot.orders.buttons import PreferenceButton, PreferencesAction, PreferencesButton
from bot.orders.preferences import CHOOSABLE, chosen_mode
from bot.orders.screens import preferences
from bot.users.buttons import SettingsAction, SettingsButton
from bot.users.model import User
from tests.screens import NOW, ScreenCase
from tests.texts import TRANSLATIONS, says, text
from tests.users.builders import a_reader


def user(**changes: object) -> User:
    return User(id=1001, created_at=NOW, **changes)  # type: ignore[arg-type]


def topics(screen: Screen) -> list[tuple[str, PreferenceButton]]:
    """Return the button of each topic, with its label."""
    buttons = [(button.label, read_button(button.data or "")) for row in screen.keyboard for button in row]
    return [(label, button) for label, button in buttons if isinstance(button, PreferenceButton)]


@pytest.mark.parametrize("locale", LOCALES)
def test_a_line_shows_what_holds_and_its_tap_brings_another_way(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    for ways in product(*(topic.modes for topic in CHOOSABLE)):
        choices = {topic.name: str(mode) for topic, mode in zip(CHOOSABLE, ways, strict=True)}
        lines = topics(preferences.screen(t, user(notification_preferences=choices)))
        for topic, mode, (label, button) in zip(CHOOSABLE, ways, lines, strict=True):
            assert label.startswith(preferences.SIGNS[mode])
            assert button.topic == topic.name
            assert button.mode != mode
            assert button.mode in topic.modes


@pytest.mark.parametrize("locale", LOCALES)
def test_only_a_user_who_has_changed_something_can_reset_it(locale: str) -> None:
    reset, back = PreferencesButton(PreferencesAction.RESET), SettingsButton(SettingsAction.SHOW)
    for choices, expected in ((None, [back]), ({"sent": "silent"}, [reset, back])):
        rows = preferences.screen(TRANSLATIONS.get(locale), user(notification_preferences=choices)).keyboard
        assert [read_button(button.data or "") for row in rows[len(CHOOSABLE) :] for button in row] == expected


def test_the_settings_count_what_differs_from_the_usual() -> None:
    t = TRANSLATIONS.get("en")
    for choices, changed in (
        (None, 0),
        ({"sent": "sound"}, 0),
        ({"making": "status", "weather": "sound", "failed": "status"}, 0),
        ({"sent": "silent"}, 1),
        ({"sent": "silent", "paid": "status"}, 2),
    ):
        counted = (
            text("orders.settings.notices_changed", count=changed) if changed else text("orders.settings.notices_usual")
        )
        emma = user(notification_preferences=choices)
        shown = ScreenCase("settings", show_settings(a_reader(t, emma), emma))
        assert says(shown.text, "home.settings.text", notices=counted)
        assert sum(chosen_mode(topic, choices) is not topic.default for topic in CHOOSABLE) == changed
