"""The commands that Telegram shows beside the message field: everybody's, each member of staff's, their group's."""

from collections.abc import Iterable, Sequence

import structlog
from telegram import BotCommand, BotCommandScope, BotCommandScopeAllPrivateChats, BotCommandScopeChat
from telegram.error import TelegramError
from telegram.ext import Application

from bot.chat.desk import Desk
from bot.i18n import LOCALES, Translator

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
        log.info("staff_have_no_commands", why=type(error).__name__)
        return False
    return True


async def _set_commands(
    application: Application,  # type: ignore[type-arg]
    desk: Desk,
    scope: BotCommandScope,
    names: Sequence[str],
) -> None:
    for locale, code in (*((locale, locale) for locale in LOCALES), (desk.default_locale, None)):
        t = desk.translations.get(locale)
        commands = [BotCommand(name, _described(t, name, names)) for name in names]
        await application.bot.set_my_commands(commands, scope=scope, language_code=code)


def _described(t: Translator, name: str, names: Sequence[str]) -> str:
    """What a command does; `/status` shows operators something else."""
    is_operators = name == "status" and "broadcast" in names
    return t.plain("command.status_of_all") if is_operators else t.plain(f"command.{name}")
