"""The screens of the settings: language, time zone, and the sections of other features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.zones import INDONESIAN, PRESUMED, zone_of
from bot.infra.hooks import SettingsPart
from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.i18n.cities import find_city
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.users.buttons import LanguageButton, PrivacyAction, PrivacyButton, SettingsAction, SettingsButton
from bot.users.model import User
from bot.users.screens import phrase

BUTTONS_PER_ROW: Final = 2
"""How many buttons of sections are in one row."""


def _no_summary(_: Translator, __: User) -> Mapping[str, Html]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSection:
    """A section of the settings that a feature adds.

    Attributes:
        position: the place of its button. The lowest comes first.
        label: the key of the button's text.
        data: the button's data.
        summary: returns its texts in `users.settings.text`: placeholder -> text.
    """

    position: int
    label: str
    data: str
    summary: Callable[[Translator, User], Mapping[str, Html]] = _no_summary


SECTIONS: Final = (
    SettingsSection(position=10, label="users.settings.zone", data=SettingsButton(SettingsAction.ZONES).pack()),
    SettingsSection(position=30, label="users.settings.phrase", data=phrase.SHOW),
    SettingsSection(position=60, label="users.settings.privacy", data=PrivacyButton(PrivacyAction.SHOW).pack()),
)
"""The sections of this package."""


def show_settings(reader: Reader, user: User, sections: Sequence[SettingsPart[User]]) -> Screen:
    """Return the settings with all sections."""
    t = reader.t
    summaries = {name: text for section in sections for name, text in section.summary(t, user).items()}
    text = t("users.settings.text", time=_format_zone(reader, reader.zone), **summaries)
    others = tuple(
        Button(
            t.plain("users.language.other", name=LOCALES[code].name),
            data=SettingsButton(SettingsAction.LANG, code).pack(),
        )
        for code in other_locales(t.locale)
    )
    ordered = sorted(sections, key=lambda section: section.position)
    buttons = [Button(t.plain(section.label), data=section.data) for section in ordered]
    rows = (tuple(buttons[first : first + BUTTONS_PER_ROW]) for first in range(0, len(buttons), BUTTONS_PER_ROW))
    return Screen(text, (others, *rows))


def ask_language(t: Translator) -> Screen:
    """Return all languages, each with its own name."""
    return Screen(
        t("users.language.ask"),
        (tuple(Button(locale.name, data=LanguageButton(code).pack()) for code, locale in LOCALES.items()),),
    )


def ask_zone(reader: Reader) -> Screen:
    """Return buttons for Indonesia's three zones, with the time there, and one for other places."""
    t = reader.t
    three = tuple(Button(t.clock(reader.now, ZoneInfo(key)), data=_zone_data(key)) for key in INDONESIAN)
    other = Button(t.plain("users.zone.other"), data=SettingsButton(SettingsAction.PLACE).pack())
    return Screen(t("users.zone.ask", time=_format_zone(reader, reader.zone)), (three, (other,), back_row(t)))


def ask_place(t: Translator) -> Screen:
    """Return the question for another place."""
    return Screen(
        t("users.zone.ask_place"),
        ((Button(t.plain("users.button.back"), data=SettingsButton(SettingsAction.ZONES).pack()),),),
    )


def offer_zones(reader: Reader, query: str, keys: Sequence[str]) -> Screen:
    """Return the zones that a typed place can mean, with the current time there. The user chooses by a tap."""
    t = reader.t
    if len(keys) == 1:
        text = t("users.zone.is_it", time=_format_zone(reader, zone_of(keys[0])))
        rows: Keyboard = ((Button(t.plain("users.zone.use"), data=_zone_data(keys[0]), style="success"),),)
    else:
        text = t("users.zone.which", query=quote_input(query))
        rows = tuple((Button(_format_zone(reader, zone_of(key)), data=_zone_data(key)),) for key in keys)
    another = Button(t.plain("users.zone.another"), data=SettingsButton(SettingsAction.PLACE).pack())
    return Screen(text, (*rows, (another,), back_row(t)))


def back_row(t: Translator) -> tuple[Button, ...]:
    """Return the row with the button back to the settings."""
    return (Button(t.plain("users.button.settings"), data=SettingsButton(SettingsAction.SHOW).pack()),)


def _zone_data(key: str) -> str:
    return SettingsButton(SettingsAction.ZONE, key).pack()


def _format_zone(reader: Reader, zone: tzinfo) -> str:
    """Return a zone with its current time: "17:05 UTC+9 · Tokyo", "10:05 WIB"."""
    where = "" if zone is PRESUMED else find_city(getattr(zone, "key", ""), reader.t.locale)
    clock = reader.t.clock(reader.now, zone)
    return f"{clock} · {where}" if where else clock
