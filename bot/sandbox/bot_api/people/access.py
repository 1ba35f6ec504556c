"""Access checks: return chats, topics and messages, or reject with Telegram's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import MEMBERS
from bot.sandbox.bot_api.server.errors import BadRequest, Forbidden

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import Chat, Person, StoredMessage, Topic
    from bot.sandbox.bot_api.server.params import Params
    from bot.sandbox.bot_api.world import World


def readable_chat(world: World, params: Params, name: str = "chat_id") -> Chat:
    """Return the chat of a call, if the bot has access to it.

    Raises:
        BadRequest: there is no such chat. Forbidden: the bot isn't a member.
    """
    given = params.text(name).strip()
    if not given:
        raise BadRequest(f"{name} is empty")
    chat = _by_username(world, given[1:]) if given.startswith("@") else world.chats.get(params.integer(name))
    if chat is None:
        raise BadRequest("chat not found")
    status = chat.statuses.get(world.settings.bot_id, "left")
    if chat.type != "private" and not chat.migrated_to and status not in MEMBERS:
        was = "was kicked from" if status == "kicked" else "is not a member of"
        raise Forbidden(f"bot {was} the {chat.type} chat")
    return chat


def writable_chat(world: World, params: Params) -> Chat:
    """Return the chat of a call, if the bot can write there.

    Raises:
        BadRequest: there is no such chat, or it has become a supergroup (`migrate_to_chat_id`).
        Forbidden: the user blocked or never started the bot, or the bot isn't a member.
    """
    chat = readable_chat(world, params)
    if chat.migrated_to:
        raise BadRequest("group chat was upgraded to a supergroup chat", {"migrate_to_chat_id": chat.migrated_to})
    if chat.type == "private":
        _check_person(world.people[chat.id])
    return chat


def topic_for(chat: Chat, params: Params) -> Topic | None:
    """Return the topic that a message is sent to.

    Raises:
        BadRequest: there is no such topic.
    """
    thread_id = params.integer("message_thread_id")
    if not thread_id or not chat.is_forum:
        return None
    topic = chat.topics.get(thread_id)
    if topic is None:
        raise BadRequest("message thread not found")
    return topic


def known_message(world: World, chat: Chat, message_id: int, purpose: str) -> StoredMessage:
    """Return a message by its id. `purpose` is Telegram's name for it ("message to edit").

    Raises:
        BadRequest: there is no such message.
    """
    message = world.message(chat.id, message_id)
    if message is None:
        raise BadRequest(f"{purpose} not found")
    return message


def require_administrator(world: World, chat: Chat, reason: str) -> None:
    """Reject with `reason` unless the bot is an administrator.

    Raises:
        BadRequest: the bot isn't one.
    """
    if chat.statuses.get(world.settings.bot_id) != "administrator":
        raise BadRequest(reason)


def _by_username(world: World, username: str) -> Chat | None:
    for person in world.people.values():
        if person.username and person.username.lower() == username.lower():
            return world.chats[person.id]
    return None


def _check_person(person: Person) -> None:
    if person.blocked:
        raise Forbidden("bot was blocked by the user")
    if not person.started:
        raise Forbidden("bot can't initiate conversation with a user")
