"""getMe, logOut, close, and the bot's profile: commands, name, descriptions, menu button."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.people.access import readable_chat
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

MAX_COMMANDS = 100
MAX_COMMAND_DESCRIPTION = 256
_COMMAND = re.compile(r"/?([a-z0-9_]{1,32})")
_LANGUAGE = re.compile(r"[a-z]{2}")
_PLAIN_SCOPES = frozenset({"default", "all_private_chats", "all_group_chats", "all_chat_administrators"})
_CHAT_SCOPES = frozenset({"chat", "chat_administrators", "chat_member"})
_ABILITIES = {
    "can_join_groups": True,
    "can_read_all_group_messages": False,
    "supports_guest_queries": False,
    "can_connect_to_business": False,
    "has_main_web_app": False,
    "has_topics_enabled": False,
    "allows_users_to_create_topics": False,
    "can_manage_bots": False,
}


async def get_me(box: Sandbox, _: Params) -> JsonObject:
    """Return the bot."""
    return {**box.world.bot_user(), **_ABILITIES, "supports_inline_queries": box.world.settings.inline_mode}


async def log_out(box: Sandbox, _: Params) -> bool:
    """Log out of this server. Calls are rejected until a restart or a clear."""
    box.logged_out = True
    return True


async def close(_: Sandbox, __: Params) -> bool:
    """Accept the call that precedes a move to another server. Nothing to do here."""
    return True


async def set_my_commands(box: Sandbox, params: Params) -> bool:
    """Set the list of commands for a scope and a language."""
    given: Any = params.structure("commands", "can't parse commands JSON object")
    if not isinstance(given, list):
        raise BadRequest("expected an Array of BotCommand")
    if len(given) > MAX_COMMANDS:
        raise BadRequest("BOT_COMMANDS_TOO_MUCH")
    key = _scope(box, params)
    box.world.state.commands[key] = [_command(each) for each in given]
    _publish_commands(box)
    return True


async def get_my_commands(box: Sandbox, params: Params) -> list[JsonObject]:
    """Return the commands of exactly this scope and language."""
    return box.world.state.commands.get(_scope(box, params), [])


async def delete_my_commands(box: Sandbox, params: Params) -> bool:
    """Remove the commands of a scope and a language."""
    box.world.state.commands.pop(_scope(box, params), None)
    _publish_commands(box)
    return True


async def set_chat_menu_button(box: Sandbox, params: Params) -> bool:
    """Set the menu button of a private chat, or the default one."""
    button: Any = params.structure("menu_button", "can't parse menu button JSON object") or {"type": "default"}
    if not isinstance(button, dict) or button.get("type") not in {"default", "commands", "web_app"}:
        raise BadRequest("can't parse menu button: MenuButton has unsupported type")
    box.world.state.menu_buttons[_menu_chat(box, params)] = button
    box.world.save_state()
    return True


async def get_chat_menu_button(box: Sandbox, params: Params) -> JsonObject:
    """Return the menu button of a private chat, or the default one."""
    buttons = box.world.state.menu_buttons
    return buttons.get(_menu_chat(box, params)) or buttons.get("") or {"type": "commands"}


def _menu_chat(box: Sandbox, params: Params) -> str:
    return str(readable_chat(box.world, params).id) if "chat_id" in params else ""


def _command(given: Any) -> JsonObject:  # noqa: ANN401  JSON from outside
    if not isinstance(given, dict):
        raise BadRequest("can't parse BotCommand: expected an Object")
    for field in ("command", "description"):
        if not isinstance(given.get(field), str):
            raise BadRequest(f"can't parse BotCommand: Can't find field \"{field}\"")
    name = _COMMAND.fullmatch(given["command"])
    if name is None:
        raise BadRequest("BOT_COMMAND_INVALID")
    if not 0 < len(given["description"]) <= MAX_COMMAND_DESCRIPTION:
        raise BadRequest("BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name[1], "description": given["description"]}


def _scope(box: Sandbox, params: Params) -> str:
    given: Any = params.structure("scope", "can't parse BotCommandScope JSON object") or {"type": "default"}
    if not isinstance(given, dict):
        raise BadRequest("BotCommandScope must be an Object")
    kind = given.get("type", "default")
    if kind not in _PLAIN_SCOPES | _CHAT_SCOPES:
        raise BadRequest("can't parse BotCommandScope: unsupported type specified")
    place = ""
    if kind in _CHAT_SCOPES:
        scope = type(params)(given)
        place = f":{readable_chat(box.world, scope).id}"
        place += f":{scope.integer('user_id')}" if kind == "chat_member" else ""
    return f"{kind}{place}/{language(params)}"


def language(params: Params) -> str:
    """Return the `language_code` of a call, "" for all languages.

    Raises:
        BadRequest: it isn't two letters.
    """
    code = params.text("language_code")
    if code and not _LANGUAGE.fullmatch(code):
        raise BadRequest("LANG_CODE_INVALID")
    return code


def _publish_commands(box: Sandbox) -> None:
    box.world.save_state()
    box.publish("commands", commands=box.world.state.commands)


METHODS = {
    "getMe": get_me,
    "logOut": log_out,
    "close": close,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setChatMenuButton": set_chat_menu_button,
    "getChatMenuButton": get_chat_menu_button,
}
