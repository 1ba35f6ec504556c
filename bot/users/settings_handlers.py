"""Settings: `/settings` and `/language`, and the buttons under them, at any point of any conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from telegram import Update
from telegram.ext import (
    ApplicationHandlerStop,
    CallbackQueryHandler,
    CommandHandler,
)

from bot.core.zones import find_zones, offered_zone
from bot.infra.i18n import LOCALES
from bot.infra.i18n.cities import names_of_zones
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.orders.preferences import Way, choose, topic_named
from bot.users.model import Person
from bot.users.repository import UserRepository
from bot.users.screens import settings, start

PLACE: Final = "place"


def handlers() -> list[Handler]:
    """The commands and the buttons."""
    return [
        CommandHandler("settings", _command, filters=PRIVATE),
        CommandHandler("language", _language_command, filters=PRIVATE),
        CallbackQueryHandler(_language_chosen, pattern=data.LANGUAGE_PATTERN),
        CallbackQueryHandler(_pressed, pattern=data.SETTINGS_PATTERN),
    ]


async def _command(_: Update, __: Context) -> None:
    visit = SESSION.get()
    visit.message_id = None
    await _show(visit)
    raise ApplicationHandlerStop


async def _language_command(_: Update, __: Context) -> None:
    visit = SESSION.get()
    await visit.say(visit.with_resume(settings.language(visit.t)))
    raise ApplicationHandlerStop


async def _language_chosen(update: Update, _: Context) -> None:
    """The question that is open is asked again in the new language."""
    visit = SESSION.get()
    query = update.callback_query
    await _speak(visit, (query.data or "").removeprefix("lang:") if query else "")
    if not await visit.show_question():
        await visit.show(await start.show(visit))
    raise ApplicationHandlerStop


async def _pressed(update: Update, _: Context) -> None:
    visit = SESSION.get()
    query = update.callback_query
    action, argument = data.read_settings_press((query.data or "") if query else "")
    handle = ACTIONS.get(action)
    if handle is None or not await handle(visit, argument):
        await visit.explain("stale.button")
    raise ApplicationHandlerStop


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


ACTIONS: Mapping[str, Callable[[Session, str], Awaitable[bool]]] = {
    "show": _show,
    "lang": _take_language,
    "zones": _zones,
    "zone": _take_zone,
    "place": _ask_place,
    "notices": _notices,
    "notice": _choose_notice,
    "usual": _usual,
}
"""What a button does; whether there was such a thing."""
