"""The commands that Telegram shows beside the message field: everybody's, and each operator's own."""

from collections.abc import Sequence

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
OPERATORS_COMMANDS = ("status", "broadcast", "broadcasts", "stats", "export", "rate")
"""What stands first in an operator's own list; the rest follows as everybody has it."""


async def set_commands(application: Application, desk: Desk) -> bool:  # type: ignore[type-arg]
    """The bot's command list, in both languages; the default locale's is everybody else's.

    Operators have one of their own; False where one of them has yet to meet the bot, and can't be given it.
    """
    await _set_commands(application, desk, BotCommandScopeAllPrivateChats(), COMMANDS)
    every = (*OPERATORS_COMMANDS, *(name for name in COMMANDS if name not in OPERATORS_COMMANDS))
    known = True
    for operator in sorted(desk.operator_ids):
        try:
            await _set_commands(application, desk, BotCommandScopeChat(operator), every)
        except TelegramError as error:
            log.info("operator_has_no_commands", why=type(error).__name__)
            known = False
    return known


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
    is_operators = name == "status" and names is not COMMANDS
    return t.plain("command.status_of_all") if is_operators else t.plain(f"command.{name}")
