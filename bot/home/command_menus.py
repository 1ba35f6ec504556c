"""What Telegram shows of the bot: the menus of commands, and the descriptions.

All users see the general commands. Operators and support agents see their own commands first. The group of support
agents has its own menu.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import structlog
from telegram import Bot, BotCommand, BotCommandScope, BotCommandScopeAllPrivateChats, BotCommandScopeChat
from telegram.error import TelegramError

from bot.core.locales import FALLBACK
from bot.infra.feature import Infra
from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.outcomes import SlowDown
from bot.infra.telegram.ui.routes import Menu, Places, Routes
from bot.staff.staff_chat import StaffChat

log = structlog.get_logger(__name__)

A_DAY = timedelta(days=1).total_seconds()
TEN_MINUTES = timedelta(minutes=10).total_seconds()

CONVERSATION: Mapping[str, Places] = {
    "send": {Menu.EVERYONE: 10},
    "cancel": {Menu.EVERYONE: 70},
}
"""The places of the commands that aren't routes. Routes declare theirs."""

Menus = Mapping[Menu, Sequence[str]]
"""The commands of each menu, in their order."""


def collect_menus(routes: Iterable[Routes[Any]]) -> Menus:
    """Return the menus that the routes declare. The group of support agents has their commands first."""
    declared = ((route.name[1:], route.menu) for each in routes for route in each.routes)
    places = [*CONVERSATION.items(), *declared]
    menus = {
        menu: [name for _, name in sorted((by_menu[menu], name) for name, by_menu in places if menu in by_menu)]
        for menu in Menu
    }
    menus[Menu.GROUP] = [*menus[Menu.SUPPORT], *menus[Menu.GROUP]]
    return menus


class CommandMenus:
    """Set the menus and the descriptions once a day.

    They are two jobs, because Telegram limits how often descriptions are set.
    """

    def __init__(
        self,
        bot: Bot,
        infra: Infra,
        by_menu: Menus,
        *,
        operator_ids: frozenset[int],
        staff_chat: StaffChat,
    ) -> None:
        self._bot = bot
        self._database = infra.database
        self._translations = infra.translations
        self._operator_ids = operator_ids
        self._staff_chat = staff_chat
        self._by_menu = by_menu

    async def set_menus(self) -> float:
        """Set the menus in all languages, and return the seconds until the next time.

        Telegram rejects a menu for staff who haven't started the bot. Then the next time is soon.
        """
        return await _wait_if_asked(self._set_menus)

    async def _set_menus(self) -> float:
        by_menu = self._by_menu
        await self._set_menu(BotCommandScopeAllPrivateChats(), by_menu[Menu.EVERYONE])
        async with self._database.reading() as tx:
            group = await self._staff_chat.group(tx)
        menus = self._build_staff_menus(by_menu)
        if group is not None:
            menus[group] = by_menu[Menu.GROUP]
        known = [await self._set_menu_of_chat(chat_id, names) for chat_id, names in menus.items()]
        return A_DAY if all(known) else TEN_MINUTES

    async def set_descriptions(self) -> float:
        """Set the description of an empty chat and the short description of the profile, in all languages.

        Return the seconds until the next time.
        """
        return await _wait_if_asked(self._set_descriptions)

    async def _set_descriptions(self) -> float:
        for t, code in self._languages():
            await self._bot.set_my_description(t.plain("home.about.description"), language_code=code)
            await self._bot.set_my_short_description(t.plain("home.about.short"), language_code=code)
        return A_DAY

    def _build_staff_menus(self, by_menu: Menus) -> dict[int, Sequence[str]]:
        """Return the menu of each member of staff in their private chat."""
        support_ids = self._staff_chat.agent_ids
        menus: dict[int, Sequence[str]] = {}
        for user_id in sorted(self._operator_ids | support_ids):
            operators = by_menu[Menu.OPERATORS] if user_id in self._operator_ids else ()
            support = by_menu[Menu.SUPPORT] if user_id in support_ids else ()
            menus[user_id] = tuple(dict.fromkeys((*operators, *support, *by_menu[Menu.EVERYONE])))
        return menus

    async def _set_menu_of_chat(self, chat_id: int, names: Sequence[str]) -> bool:
        """Set the menu of one chat. Return whether Telegram accepted it."""
        try:
            await self._set_menu(BotCommandScopeChat(chat_id), names)
        except SlowDown:
            raise  # the other chats have to wait, too
        except TelegramError as error:
            log.info("staff_commands_not_set", error=type(error).__name__)
            return False
        return True

    async def _set_menu(self, scope: BotCommandScope, names: Sequence[str]) -> None:
        for t, code in self._languages():
            commands = [BotCommand(name, _describe(t, name, names)) for name in names]
            await self._bot.set_my_commands(commands, scope=scope, language_code=code)

    def _languages(self) -> list[tuple[Translator, str | None]]:
        """Return each language with its code at Telegram. None is the code for all other languages."""
        codes: dict[str | None, str] = {None: FALLBACK}
        codes |= {code: locale for locale in LOCALES for code in (locale, *LOCALES[locale].near_codes)}
        return [(self._translations.get(locale), code) for code, locale in codes.items()]


async def _wait_if_asked(once: Callable[[], Awaitable[float]]) -> float:
    """Return what `once` returns, or the seconds after which Telegram takes calls again."""
    try:
        return await once()
    except SlowDown as error:
        return error.seconds


def _describe(t: Translator, name: str, names: Sequence[str]) -> str:
    """Return the description of a command. Operators get another one for `/status`, and all staff for `/help`."""
    if name == "status" and "broadcast" in names:
        return t.plain("home.command.status_of_all")
    if name == "help" and not {"broadcast", "tickets"}.isdisjoint(names):
        return t.plain("home.command.help_of_staff")
    return t.plain(f"home.command.{name}")
