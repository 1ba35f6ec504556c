"""Settings: language, time zone, and which news come how; from here to the phrase, the recipients and one's data."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from bot.core.zones import INDONESIAN, PRESUMED, zone_of
from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.i18n.cities import city
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.preferences import CHOOSABLE, Topic, Way, chosen, next_way
from bot.users.buttons import LanguageButton, PrivacyAction, PrivacyButton, SettingsAction, SettingsButton
from bot.users.model import Person
from bot.users.screens import phrase

SIGNS = {Way.SOUND: "🔔", Way.SILENT: "🔕", Way.CARD: "📄"}


def screen(t: Translator, person: Person, now: datetime) -> Screen:
    """All of it at a glance."""
    text = t("settings.text", time=_time(t, person.zone, now), notices=_summary(t, person))
    others = tuple(
        Button(
            t.plain("language.other", name=LOCALES[code].name), data=SettingsButton(SettingsAction.LANG, code).pack()
        )
        for code in other_locales(t.locale)
    )
    zones, notices_button = (
        Button(t.plain("settings.zone"), data=SettingsButton(SettingsAction.ZONES).pack()),
        Button(t.plain("settings.notices"), data=SettingsButton(SettingsAction.NOTICES).pack()),
    )
    return Screen(
        text,
        (
            others,
            (zones, notices_button),
            (
                Button(t.plain("settings.phrase"), data=phrase.SHOW),
                Button(t.plain("settings.recipients"), data="r:list"),
            ),
            (
                Button(t.plain("settings.rate_news"), data="sub:show"),
                Button(t.plain("settings.privacy"), data=PrivacyButton(PrivacyAction.SHOW).pack()),
            ),
        ),
    )


def language(t: Translator) -> Screen:
    """All languages, each in its own words."""
    return Screen(
        t("language.ask"),
        (tuple(Button(locale.name, data=LanguageButton(code).pack()) for code, locale in LOCALES.items()),),
    )


def zones(t: Translator, person: Person, now: datetime) -> Screen:
    """Indonesia's three in one tap, with the time there; and any other."""
    three = tuple(Button(t.clock(now, ZoneInfo(key)), data=_zone(key)) for key in INDONESIAN)
    other = Button(t.plain("zone.other"), data=SettingsButton(SettingsAction.PLACE).pack())
    return Screen(t("zone.ask", time=_time(t, person.zone, now)), (three, (other,), _back(t)))


def place(t: Translator) -> Screen:
    """The question for another place."""
    return Screen(
        t("zone.ask_place"), ((Button(t.plain("button.back"), data=SettingsButton(SettingsAction.ZONES).pack()),),)
    )


def found(t: Translator, query: str, keys: Sequence[str], now: datetime) -> Screen:
    """What is understood by a place, with the time there now: it is taken with a tap, never without."""
    if len(keys) == 1:
        text = t("zone.is_it", time=_time(t, zone_of(keys[0]), now))
        rows: Keyboard = ((Button(t.plain("zone.use"), data=_zone(keys[0]), style="success"),),)
    else:
        text = t("zone.which", query=quote_input(query))
        rows = tuple((Button(_time(t, zone_of(key), now), data=_zone(key)),) for key in keys)
    return Screen(
        text, (*rows, (Button(t.plain("zone.another"), data=SettingsButton(SettingsAction.PLACE).pack()),), _back(t))
    )


def notices(t: Translator, person: Person) -> Screen:
    """One line for each topic; a tap takes the next way there is."""
    rows = tuple((_topic_button(t, topic, chosen(topic, person.notices)),) for topic in CHOOSABLE)
    usual = (
        ((Button(t.plain("notices.usual"), data=SettingsButton(SettingsAction.USUAL).pack()),),)
        if person.notices
        else ()
    )
    signs = {f"{way}_sign": sign for way, sign in SIGNS.items()}
    always = ", ".join(f"“{_name(t, topic)}”" for topic in CHOOSABLE if not topic.may_stay_on_the_card)
    text = t("notices.text", **signs, always=always)
    return Screen(text, (*rows, *usual, _back(t)))


def _zone(key: str) -> str:
    return SettingsButton(SettingsAction.ZONE, key).pack()


def _topic_button(t: Translator, topic: Topic, way: Way) -> Button:
    label = f"{SIGNS[way]} {_name(t, topic)}"
    # The button says what a tap makes of it, not "the next one": a double tap is one change.
    changed = SettingsButton(SettingsAction.NOTICE, f"{topic.name}:{next_way(topic, way)}")
    return Button(label, data=changed.pack())


def _name(t: Translator, topic: Topic) -> str:
    return t.plain(f"notices.{topic.name}")


def _time(t: Translator, zone: tzinfo, now: datetime) -> str:
    """A zone as its clock and its place: "17:05 UTC+9 · Tokyo", "10:05 WIB"."""
    where = "" if zone is PRESUMED else city(getattr(zone, "key", ""), t.locale)
    return f"{t.clock(now, zone)} · {where}" if where else t.clock(now, zone)


def _summary(t: Translator, person: Person) -> Html:
    changed = sum(chosen(topic, person.notices) is not topic.usual for topic in CHOOSABLE)
    return t.n("settings.notices_changed", changed) if changed else t("settings.notices_usual")


def _back(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("button.settings"), data=SettingsButton(SettingsAction.SHOW).pack()),)
