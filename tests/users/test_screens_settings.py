"""The settings show the saved values, and each button does what its label says."""

from zoneinfo import ZoneInfo

import pytest

from bot.core.zones import INDONESIAN, offered_zone
from bot.infra.i18n import LOCALES
from bot.infra.i18n.cities import list_zone_names
from bot.infra.telegram.ui.screen import Screen
from bot.users.buttons import PhraseAction, PhraseButton, SettingsAction, SettingsButton
from bot.users.model import User
from bot.users.phrase import draw_suggestion, find_suggestion_text
from bot.users.screens import phrase
from bot.users.screens import settings as shown
from tests.screens import NOW, ScreenCase
from tests.texts import TRANSLATIONS, says, text
from tests.users.builders import a_reader
from tests.users.samples import SETTINGS_SECTIONS


def user(**changes: object) -> User:
    return User(id=1001, created_at=NOW, **changes)  # type: ignore[arg-type]


def read(screen: Screen) -> str:
    return ScreenCase("settings", screen).text


def pressed(screen: Screen) -> list[tuple[str, str, str]]:
    """Return the label, action and argument of each button of the settings themselves."""
    buttons = [button for row in screen.keyboard for button in row if (button.data or "").startswith("s:")]
    read = [(button.label, SettingsButton.read(button.data or "")) for button in buttons]
    return [(label, each.action if each else "", each.argument if each else "") for label, each in read]


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_of_the_settings_has_somebody_to_take_it(locale: str) -> None:
    t, somebody = TRANSLATIONS.get(locale), user(notification_preferences={"sent": "silent"})
    screens = (
        shown.show_settings(a_reader(t, somebody), somebody, SETTINGS_SECTIONS),
        shown.ask_zone(a_reader(t, somebody)),
        shown.ask_place(t),
        shown.offer_zones(a_reader(t, somebody), "usa", ("America/New_York", "America/Chicago")),
        shown.offer_zones(a_reader(t, somebody), "utc+2", ("Etc/GMT-2",)),
        phrase.show_phrase(t, "kopi perahu ungu"),
        phrase.confirm_saved(t, "kopi perahu ungu"),
    )
    actions = {action for screen in screens for _, action, _ in pressed(screen)}
    assert actions == set(SettingsAction)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_sections_of_the_settings_are_in_their_order(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    rows = shown.show_settings(a_reader(t, user()), user(), SETTINGS_SECTIONS).keyboard[1:]
    assert [[button.label for button in row] for row in rows] == [
        [text("users.settings.zone", locale), text("orders.settings.notices", locale)],
        [text("users.settings.phrase", locale), text("recipients.settings.recipients", locale)],
        [text("rates.settings.rate_news", locale), text("users.settings.privacy", locale)],
    ]


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("", "10:05 WIB"),
        ("Asia/Jakarta", "10:05 WIB"),
        ("Asia/Makassar", "11:05 WITA"),
        ("Asia/Tokyo", "12:05 UTC+9 · Tokyo"),
        ("Etc/GMT+3", "00:05 UTC-3"),
        ("Asia/Kathmandu", "08:50 UTC+5:45 · Kathmandu"),
        ("Mars/Base", "10:05 WIB"),
    ],
)
def test_a_time_zone_is_shown_as_its_clock_and_its_place(zone: str, time: str) -> None:
    t = TRANSLATIONS.get("en")
    emma = user(time_zone=zone)
    reader = a_reader(t, emma)
    assert says(read(shown.show_settings(reader, emma, SETTINGS_SECTIONS)), "users.settings.text", time=time)
    assert read(shown.ask_zone(reader)) == text("users.zone.ask", time=time)


@pytest.mark.parametrize("locale", LOCALES)
def test_indonesias_zones_are_one_tap_away_with_the_time_there(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    three = pressed(shown.ask_zone(a_reader(t, user())))[:3]
    assert [argument for _, _, argument in three] == list(INDONESIAN)
    for label, _, argument in three:
        assert label == t.clock(NOW, ZoneInfo(argument))
        assert offered_zone(argument, list_zone_names())


@pytest.mark.parametrize("locale", LOCALES)
def test_the_buttons_of_a_suggestion_bear_that_suggestion(locale: str) -> None:
    t, suggestion = TRANSLATIONS.get(locale), draw_suggestion(locale)
    for screen in (
        phrase.offer_suggestion(t, suggestion, has_one=True),
        phrase.offer_suggestion(t, suggestion, has_one=False),
    ):
        use = screen.keyboard[0][0]
        button = PhraseButton.read(use.data or "")
        assert button is not None
        assert (button.action, find_suggestion_text(button.code)) == (PhraseAction.USE, suggestion.text)
        assert suggestion.text in screen.text
