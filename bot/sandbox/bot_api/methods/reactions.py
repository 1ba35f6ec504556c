"""setMessageReaction: the one reaction that a bot can add to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.people.access import known_message, writable_chat
from bot.sandbox.bot_api.people.chat_messages import change
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.server.params import Params

# The list of the Bot API, without "variation selectors", which apps add or omit.
_LISTED = """
    ❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡
    🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈
    😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿
    🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡
"""
EMOJI = frozenset(_LISTED.split())
MOST_OF_A_BOT = 1
_SELECTOR = "\ufe0f"


async def set_message_reaction(box: Sandbox, params: Params) -> bool:
    """Set the bot's reaction to a message, or remove it (none given). Bots get no update of it."""
    chat = writable_chat(box.world, params)
    message = known_message(box.world, chat, params.integer("message_id"), "message to react")
    chosen = _chosen(params)
    if not any(name in message.body for name in ("text", "photo", "document", "sticker")):
        raise BadRequest("message can't be reacted")
    if chosen and not chat.reactions:
        raise BadRequest("REACTION_INVALID")
    if chosen != message.reactions:
        message.reactions = chosen
        change(box, message, message.body)
    return True


def _chosen(params: Params) -> list[str]:
    given: Any = params.structure("reaction", "can't parse reaction types JSON object") or []
    if not isinstance(given, list):
        raise BadRequest("expected an Array of ReactionType")
    if len(given) > MOST_OF_A_BOT:
        raise BadRequest("REACTIONS_TOO_MANY")
    return [_emoji(each) for each in given]


def _emoji(given: Any) -> str:  # noqa: ANN401  JSON from outside
    if not isinstance(given, dict):
        raise BadRequest("can't parse ReactionType: expected an Object")
    emoji = str(given.get("emoji", ""))
    if given.get("type") != "emoji" or emoji.replace(_SELECTOR, "") not in EMOJI:
        raise BadRequest("REACTION_INVALID")
    return emoji


METHODS = {"setMessageReaction": set_message_reaction}
