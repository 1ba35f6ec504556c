"""Handle `/start`, `/settings`, `/language`, and their buttons."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from telegram import Update
from telegram.ext import CommandHandler

from bot.core.zones import find_zones, offered_zone
from bot.infra.feature import HandlerPhase, Infra
from bot.infra.i18n import LOCALES
from bot.infra.i18n.cities import list_zone_names
from bot.infra.telegram.ui.questions import OpenQuestion
from bot.infra.telegram.ui.router import PRIVATE, Handler, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users import questions
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton
from bot.users.screens import settings
from bot.users.service import UserService
from bot.users.session import Session, as_handler
from bot.users.welcome import make_welcome

PLACE: Final = "place"

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False for an argument that it can't read."""


class SettingsHandlers:
    """Welcome users, and let them choose their language and time zone."""

    def __init__(self, infra: Infra, users: UserService) -> None:
        self._users = users
        self._features = infra.features
        self._translations = infra.translations

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session]()
        routes.add_command("settings", self.show_settings, menu={Menu.EVERYONE: 80})
        routes.add_command("language", self.show_languages, menu={Menu.EVERYONE: 110})
        routes.add_button(LanguageButton, self.language_button)
        actions: Mapping[SettingsAction, _Action] = {
            SettingsAction.SHOW: self._show,
            SettingsAction.LANG: self._choose_language,
            SettingsAction.ZONES: self._show_zones,
            SettingsAction.ZONE: self._choose_zone,
            SettingsAction.PLACE: self._ask_place,
        }
        routes.add_actions(SettingsButton, self.settings_button, actions)
        return routes

    def handlers(self) -> Mapping[HandlerPhase, Sequence[Handler]]:
        """Return the handler of `/start`. It comes after links, which Telegram sends as `/start` and a word."""
        return {HandlerPhase.CONVERSATION: (CommandHandler("start", as_handler(self.show_start), filters=PRIVATE),)}

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {PLACE: questions.accept_text(self.place_typed)}

    async def show_start(self, session: Session, _: Update) -> None:
        """Show the welcome."""
        await session.show_below(session.with_resume(await make_welcome(session)))

    async def show_settings(self, session: Session, _: str) -> None:
        """Show the settings."""
        session.message_id = None
        await self._show(session)

    async def show_languages(self, session: Session, _: str) -> None:
        """Show the languages to choose from."""
        await session.show_below(session.with_resume(settings.ask_language(session.t)))

    async def language_button(self, session: Session, button: LanguageButton) -> None:
        """Change the language, and repeat the open question in it."""
        await self._change_language(session, button.locale)
        if not await session.show_question():
            await session.show(await make_welcome(session))

    async def settings_button(self, session: Session, button: SettingsButton, act: _Action) -> None:
        """Do the action of a button of the settings."""
        if not await act(session, button.argument):
            await session.explain("users.stale.button")

    async def place_typed(self, session: Session, _: str, text: str) -> None:
        """Show the time zones that a typed place can mean. The question stays open until the user chooses one."""
        names = await asyncio.to_thread(list_zone_names)
        keys = find_zones(text, names, session.now)
        if keys:
            await session.show(settings.offer_zones(session.reader, text, keys))
            return
        session.notice = session.t("users.zone.unknown")
        await session.show(session.with_resume(settings.ask_place(session.t)))

    async def _show(self, session: Session, _: str = "") -> bool:
        sections = [section for feature in self._features for section in feature.settings_sections]
        return await _show_in_place(session, settings.show_settings(session.reader, session.user, sections))

    async def _show_zones(self, session: Session, _: str) -> bool:
        # Whoever is asked for a time zone may type the place instead of pressing a button.
        await questions.save_question(session, OpenQuestion(PLACE))
        return await _show_in_place(session, settings.ask_zone(session.reader))

    async def _ask_place(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        await questions.ask(session, PLACE, settings.ask_place(session.t))
        return True

    async def _choose_zone(self, session: Session, key: str) -> bool:
        zone = offered_zone(key, await asyncio.to_thread(list_zone_names))
        if zone is None:
            return False
        session.user = replace(session.user, time_zone=key)
        await self._users.change_zone(session.user)
        await session.acknowledge(session.t.plain("users.zone.changed", time=session.t.clock(session.now, zone)))
        return await self._show(session)

    async def _choose_language(self, session: Session, locale: str) -> bool:
        if locale not in LOCALES:
            return False
        await self._change_language(session, locale)
        return await self._show(session)

    async def _change_language(self, session: Session, locale: str) -> None:
        await session.save_user(replace(session.user, locale=locale, suggested_phrase=None))
        session.t = self._translations.get(locale)
        await session.acknowledge(session.t.plain("users.language.changed"))


async def _show_in_place(session: Session, screen: Screen) -> bool:
    await session.acknowledge()
    await session.show(session.with_resume(screen))
    return True
