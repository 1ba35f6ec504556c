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
async def show_settings(session: Session, _: str) -> None:
    """Show the settings."""
    session.message_id = None
    await _show(session)


@routes.command("language")
async def show_languages(session: Session, _: str) -> None:
    """Show the languages to choose from."""
    await session.say(session.with_resume(settings.language(session.t)))


@routes.button(LanguageButton)
async def language_button(session: Session, button: LanguageButton) -> None:
    """Change the language and ask the question that is open again, in the new one."""
    await _speak(session, button.locale)
    if not await session.show_question():
        await session.show(await start.show(session))


@routes.button(SettingsButton)
async def settings_button(session: Session, button: SettingsButton) -> None:
    """Do what a button of the settings says."""
    if not await ACTIONS[button.action](session, button.argument):
        await session.explain("stale.button")


async def place_typed(session: Session, _: str, text: str) -> None:
    """A place: the zones it may mean are shown with their time, and the question stays open until one is chosen."""
    names = await asyncio.to_thread(names_of_zones)
    now = session.desk.clock.now()
    keys = find_zones(text, names, now)
    if keys:
        await session.show(settings.found(session.t, text, keys, now))
        return
    session.notice = session.t("zone.unknown")
    await session.show(session.with_resume(settings.place(session.t)))


async def _show(session: Session, _: str = "") -> bool:
    return await _put(session, settings.screen(session.t, session.person, session.desk.clock.now()))


async def _zones(session: Session, _: str) -> bool:
    return await _put(session, settings.zones(session.t, session.person, session.desk.clock.now()))


async def _ask_place(session: Session, _: str) -> bool:
    await session.acknowledge()
    await questions.ask(session, PLACE, settings.place(session.t))
    return True


async def _take_zone(session: Session, key: str) -> bool:
    zone = offered_zone(key, await asyncio.to_thread(names_of_zones))
    if zone is None:
        return False
    session.person = replace(session.person, time_zone=key)
    await session.desk.on_zone_changed(session.person)
    clock = session.t.clock(session.desk.clock.now(), zone)
    await session.acknowledge(session.t.plain("zone.changed", time=clock))
    return await _show(session)


async def _notices(session: Session, _: str = "") -> bool:
    return await _put(session, settings.notices(session.t, session.person))


async def _choose_notice(session: Session, argument: str) -> bool:
    name, _separator, wished = argument.partition(":")
    topic = topic_named(name)
    way = next((way for way in topic.ways if way == wished), None) if topic else None
    if topic is None or way is None:
        return False
    await session.acknowledge(session.t.plain(f"notices.way.{way}"))
    await _save(session, replace(session.person, notices=choose(session.person.notices, topic, Way(way))))
    return await _notices(session)


async def _usual(session: Session, _: str) -> bool:
    await _save(session, replace(session.person, notices=None))
    return await _notices(session)


async def _take_language(session: Session, locale: str) -> bool:
    if locale not in LOCALES:
        return False
    await _speak(session, locale)
    return await _show(session)


async def _speak(session: Session, locale: str) -> None:
    await _save(session, replace(session.person, locale=locale))
    session.t = session.desk.translations.get(locale)
    await session.acknowledge(session.t.plain("language.changed"))


async def _save(session: Session, person: Person) -> None:
    session.person = person
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(person)


async def _put(session: Session, screen: Screen) -> bool:
    await session.acknowledge()
    await session.show(session.with_resume(screen))
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
