"""What Telegram shows of the bot: the commands (everybody's, staff's, their group's) and the descriptions."""

from collections.abc import Iterable, Sequence

import structlog
from telegram import BotCommand, BotCommandScope, BotCommandScopeAllPrivateChats, BotCommandScopeChat
from telegram.error import TelegramError
from telegram.ext import Application

from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.session import Desk

log = structlog.get_logger(__name__)

COMMANDS = (
    "send",
    "recipients",
    "rate",
    "status",
    "orders",
    "verify",
    "cancel",
    "settings",
    "phrase",
    "privacy",
    "language",
    "help",
    "start",
)
OPERATORS_COMMANDS = ("status", "broadcast", "broadcasts", "stats", "export", "audit", "rate")
SUPPORTS_COMMANDS = ("tickets", "order", "person", "find", "answers", "note", "unsend")
"""What stands first in the lists of those who may; the rest follows as everybody has it."""

GROUPS_COMMANDS = (*SUPPORTS_COMMANDS, "verify")
"""In support's group, where nobody sends money."""


async def set_commands(application: Application, desk: Desk) -> bool:  # type: ignore[type-arg]
    """The bot's command list, in both languages; the default locale's is everybody else's.

    Staff and their group have lists of their own; False where one of them has yet to meet the bot, and can't be
    given it.
    """
    await _set_commands(application, desk, BotCommandScopeAllPrivateChats(), COMMANDS)
    async with desk.store.reading() as tx:
        group = await desk.support_room.group(tx)
    lists = {person: commands_of(desk, person) for person in sorted(desk.operator_ids | desk.support_room.supporters)}
    if group is not None:
        lists[group] = GROUPS_COMMANDS
    known = [await _is_set(application, desk, chat_id, names) for chat_id, names in lists.items()]
    return all(known)


async def set_descriptions(application: Application, desk: Desk) -> None:  # type: ignore[type-arg]
    """Set the bot's descriptions in both languages: the one of an empty chat, and the short one of its profile."""
    for t, code in _languages(desk):
        await application.bot.set_my_description(t.plain("about.description"), language_code=code)
        await application.bot.set_my_short_description(t.plain("about.short"), language_code=code)


def commands_of(desk: Desk, person_id: int) -> tuple[str, ...]:
    """The list of somebody in their private chat, as far as they may do what stands in it."""
    operators = OPERATORS_COMMANDS if person_id in desk.operator_ids else ()
    supports = SUPPORTS_COMMANDS if person_id in desk.support_room.supporters else ()
    return tuple(dict.fromkeys((*operators, *supports, *COMMANDS)))


async def _is_set(
    application: Application,  # type: ignore[type-arg]
    desk: Desk,
    chat_id: int,
    names: Iterable[str],
) -> bool:
    try:
        await _set_commands(application, desk, BotCommandScopeChat(chat_id), tuple(names))
    except TelegramError as error:
        log.info("staff_commands_not_set", error=type(error).__name__)
        return False
    return True


async def _set_commands(
    application: Application,  # type: ignore[type-arg]
    desk: Desk,
    scope: BotCommandScope,
    names: Sequence[str],
) -> None:
    for t, code in _languages(desk):
        commands = [BotCommand(name, _described(t, name, names)) for name in names]
        await application.bot.set_my_commands(commands, scope=scope, language_code=code)


def _languages(desk: Desk) -> list[tuple[Translator, str | None]]:
    """Return each language with the code Telegram knows it by; without a code, the one for all other languages."""
    codes = (*((locale, locale) for locale in LOCALES), (desk.default_locale, None))
    return [(desk.translations.get(locale), code) for locale, code in codes]


def _described(t: Translator, name: str, names: Sequence[str]) -> str:
    """What a command does; `/status` shows operators something else."""
    is_operators = name == "status" and "broadcast" in names
    return t.plain("command.status_of_all") if is_operators else t.plain(f"command.{name}")
