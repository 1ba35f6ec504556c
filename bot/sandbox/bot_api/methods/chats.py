"""getChat, getChatMember, getChatAdministrators, getChatMemberCount, leaveChat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.people.access import readable_chat
from bot.sandbox.bot_api.people.members import ALL_PERMISSIONS, member_json, set_status
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

_GIFTS = (
    "unlimited_gifts",
    "limited_gifts",
    "unique_gifts",
    "premium_subscription",
    "gifts_from_channels",
)


async def get_chat(box: Sandbox, params: Params) -> JsonObject:
    """Return the full description of a chat (`ChatFullInfo`)."""
    chat = readable_chat(box.world, params)
    private = chat.type == "private"
    full: JsonObject = {
        **box.world.chat_json(chat),
        "accent_color_id": abs(chat.id) % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(_GIFTS, private),
    }
    if private and "username" in full:
        full["active_usernames"] = [full["username"]]
    if not chat.reactions:
        full["available_reactions"] = []
    if not private:
        full["permissions"] = dict.fromkeys(ALL_PERMISSIONS, True)
    if chat.pinned and (pinned := box.world.message(chat.id, max(chat.pinned))):
        full["pinned_message"] = pinned.body
    return full


async def get_chat_member(box: Sandbox, params: Params) -> JsonObject:
    """Return a user's membership in a chat."""
    chat = readable_chat(box.world, params)
    user_id = params.integer("user_id")
    user = box.world.user(user_id)
    if user is None:
        raise BadRequest("invalid user_id specified" if user_id <= 0 else "user not found")
    if chat.type == "private":
        if user_id not in {chat.id, box.world.settings.bot_id}:
            raise BadRequest("member not found")
        return member_json(user, "member")
    return member_json(user, chat.statuses.get(user_id, "left"))


async def get_chat_administrators(box: Sandbox, params: Params) -> list[JsonObject]:
    """Return the creator and the administrators. There are no other bots."""
    chat = readable_chat(box.world, params)
    if chat.type == "private":
        raise BadRequest("there are no administrators in the private chat")
    return [
        member_json(user, status)
        for user_id, status in chat.statuses.items()
        if status in {"creator", "administrator"} and (user := box.world.user(user_id))
    ]


async def get_chat_member_count(box: Sandbox, params: Params) -> int:
    """Return the number of members, the bot included."""
    chat = readable_chat(box.world, params)
    return 2 if chat.type == "private" else len(chat.members)


async def leave_chat(box: Sandbox, params: Params) -> bool:
    """Leave a group."""
    chat = readable_chat(box.world, params)
    if chat.type == "private":
        raise BadRequest("chat member status can't be changed in private chats")
    set_status(box, chat, box.world.bot_user(), box.world.settings.bot_id, "left")
    return True


METHODS = {
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "getChatMemberCount": get_chat_member_count,
    "leaveChat": leave_chat,
}
