"""Settings: `/settings` and `/language`, and the buttons under them, at any point of any conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from bot.core.zones import find_zones, offered_zone
from bot.infra.i18n import LOCALES
from bot.infra.i18n.cities import names_of_zones
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.preferences import Way, choose, topic_named
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton
from bot.users.model import Person
from bot.users.repository import UserRepository
from bot.users.screens import settings, start

PLACE: Final = "place"


routes = Routes[Session]()


@routes.command("settings")
async def show_settings(visit: Session, _: str) -> None:
    """Show the settings."""
    visit.message_id = None
    await _show(visit)


@routes.command("language")
async def show_languages(visit: Session, _: str) -> None:
    """Show the languages to choose from."""
    await visit.say(visit.with_resume(settings.language(visit.t)))


@routes.button(LanguageButton)
async def language_button(visit: Session, button: LanguageButton) -> None:
    """Change the language and ask the question that is open again, in the new one."""
    await _speak(visit, button.locale)
    if not await visit.show_question():
        await visit.show(await start.show(visit))


@routes.button(SettingsButton)
async def settings_button(visit: Session, button: SettingsButton) -> None:
    """Do what a button of the settings says."""
    if not await ACTIONS[button.action](visit, button.argument):
        await visit.explain("stale.button")


async def place_typed(visit: Session, _: str, text: str) -> None:
    """A place: the zones it may mean are shown with their time, and the question stays open until one is chosen."""
    names = await asyncio.to_thread(names_of_zones)
    now = visit.desk.clock.now()
    keys = find_zones(text, names, now)
    if keys:
        await visit.show(settings.found(visit.t, text, keys, now))
        return
    visit.notice = visit.t("zone.unknown")
    await visit.show(visit.with_resume(settings.place(visit.t)))


async def _show(visit: Session, _: str = "") -> bool:
    return await _put(visit, settings.screen(visit.t, visit.person, visit.desk.clock.now()))


async def _zones(visit: Session, _: str) -> bool:
    return await _put(visit, settings.zones(visit.t, visit.person, visit.desk.clock.now()))


async def _ask_place(visit: Session, _: str) -> bool:
    await visit.acknowledge()
    await questions.ask(visit, PLACE, settings.place(visit.t))
    return True


async def _take_zone(visit: Session, key: str) -> bool:
    zone = offered_zone(key, await asyncio.to_thread(names_of_zones))
    if zone is None:
        return False
    visit.person = replace(visit.person, time_zone=key)
    await visit.desk.subscribing.moved(visit.person)
    clock = visit.t.clock(visit.desk.clock.now(), zone)
    await visit.acknowledge(visit.t.plain("zone.changed", time=clock))
    return await _show(visit)


async def _notices(visit: Session, _: str = "") -> bool:
    return await _put(visit, settings.notices(visit.t, visit.person))


async def _choose_notice(visit: Session, argument: str) -> bool:
    name, _separator, wished = argument.partition(":")
    topic = topic_named(name)
    way = next((way for way in topic.ways if way == wished), None) if topic else None
    if topic is None or way is None:
        return False
    await visit.acknowledge(visit.t.plain(f"notices.way.{way}"))
    await _save(visit, replace(visit.person, notices=choose(visit.person.notices, topic, Way(way))))
    return await _notices(visit)


async def _usual(visit: Session, _: str) -> bool:
    await _save(visit, replace(visit.person, notices=None))
    return await _notices(visit)


async def _take_language(visit: Session, locale: str) -> bool:
    if locale not in LOCALES:
        return False
    await _speak(visit, locale)
    return await _show(visit)


async def _speak(visit: Session, locale: str) -> None:
    await _save(visit, replace(visit.person, locale=locale))
    visit.t = visit.desk.translations.get(locale)
    await visit.acknowledge(visit.t.plain("language.changed"))


async def _save(visit: Session, person: Person) -> None:
    visit.person = person
    async with visit.desk.store.transaction() as tx:
        await UserRepository(tx).save(person)


async def _put(visit: Session, screen: Screen) -> bool:
    await visit.acknowledge()
    await visit.show(visit.with_resume(screen))
    return True


ACTIONS: Mapping[SettingsAction, Callable[[Session, str], Awaitable[bool]]] = {
    SettingsAction.SHOW: _show,
    SettingsAction.LANG: _take_language,
    SettingsAction.ZONES: _zones,
    SettingsAction.ZONE: _take_zone,
    SettingsAction.PLACE: _ask_place,
    SettingsAction.NOTICES: _notices,
    SettingsAction.NOTICE: _choose_notice,
    SettingsAction.USUAL: _usual,
}
"""What a button does; whether there was such a thing."""
