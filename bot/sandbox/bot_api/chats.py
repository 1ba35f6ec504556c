"""Chats: who may do what there, adding and changing messages, and the members' status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.calls import BadRequest, Forbidden
from bot.sandbox.bot_api.markup import NOTHING, Markup
from bot.sandbox.bot_api.model import MEMBERS, StoredMessage

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.calls import Params
    from bot.sandbox.bot_api.model import Chat, JsonObject, Topic
    from bot.sandbox.bot_api.world import World

_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_manage_topics",
)


def readable_chat(world: World, params: Params) -> Chat:
    """Return the chat of a call, if the bot has access to it.

    Raises:
        BadRequest: there is no such chat. Forbidden: the bot isn't a member.
    """
    chat = world.chats.get(params.integer("chat_id"))
    if chat is None:
        raise BadRequest("chat not found" if "chat_id" in params else "chat_id is empty")
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
        person = world.people[chat.id]
        if person.blocked:
            raise Forbidden("bot was blocked by the user")
        if not person.started:
            raise Forbidden("bot can't initiate conversation with a user")
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


def known_message(world: World, chat: Chat, params: Params, purpose: str) -> StoredMessage:
    """Return the message of a call. `purpose` is Telegram's name for it ("message to edit").

    Raises:
        BadRequest: there is no such message.
    """
    message = world.message(chat.id, params.integer("message_id"))
    if message is None:
        raise BadRequest(f"{purpose} not found")
    return message


@dataclass(frozen=True)
class SendOptions:
    """How a message is sent, apart from its content. `reply`: the fields of the message it replies to."""

    topic: Topic | None = None
    reply: JsonObject | None = None
    markup: Markup = NOTHING
    silent: bool = False
    protected: bool = False


DEFAULT_OPTIONS = SendOptions()


def inline_id(message: StoredMessage) -> str:
    """Return the id by which the bot can edit a message that a user has sent from an inline answer."""
    return f"inline.{message.chat_id}.{message.message_id}"


def quotable(message: StoredMessage) -> JsonObject:
    """Return a message as it appears in another one: without its own reply."""
    return {name: value for name, value in message.body.items() if name != "reply_to_message"}


def post(
    box: Sandbox, chat: Chat, sender: JsonObject, content: JsonObject, options: SendOptions = DEFAULT_OPTIONS
) -> StoredMessage:
    """Add a message to a chat. The bot gets an update unless a bot is the sender: bots don't get messages of bots."""
    world = box.world
    outgoing = sender["id"] == world.settings.bot_id
    message_id = world.next_message_id(chat)
    date = int(world.now())
    body: JsonObject = {
        "message_id": message_id,
        "from": sender,
        "chat": world.chat_json(chat),
        "date": date,
        **_placed(world, chat, options),
        **content,
    }
    if options.protected:
        body["has_protected_content"] = True
    if options.markup.inline is not None:
        body["reply_markup"] = options.markup.inline
    message = StoredMessage(chat.id, message_id, date, body, outgoing, options.markup.keyboard, options.silent)
    world.save_message(message)
    box.publish("message", chat_id=chat.id, message_id=message_id, message=message.as_client_json())
    if not sender["is_bot"] and _bot_receives(box, chat, message):
        box.updates.add("message", body)
    return message


def post_service(
    box: Sandbox, chat: Chat, sender: JsonObject, content: JsonObject, topic: Topic | None = None
) -> StoredMessage:
    """Add a service message to a chat. As on Telegram, the bot gets an update of its own, too."""
    message = post(box, chat, sender, content, SendOptions(topic=topic))
    if message.outgoing:
        box.updates.add("message", message.body)
    return message


def change(box: Sandbox, message: StoredMessage, body: JsonObject) -> None:
    """Replace the content of a message."""
    message.body = body
    box.world.save_message(message)
    box.publish("edit", chat_id=message.chat_id, message_id=message.message_id, message=message.as_client_json())


def remove(box: Sandbox, message: StoredMessage) -> None:
    """Delete a message for everyone."""
    box.world.forget_message(message)
    box.publish("delete", chat_id=message.chat_id, message_id=message.message_id)


def set_status(box: Sandbox, chat: Chat, actor: JsonObject, user_id: int, status: str) -> None:
    """Change a user's status in a group and notify the bot."""
    old = chat.statuses.get(user_id, "left")
    chat.statuses[user_id] = status
    box.world.save_chat(chat)
    own = user_id == box.world.settings.bot_id
    queue_status_update(box, chat, actor, user_id, (old, status), kind="my_chat_member" if own else "chat_member")
    box.publish("chat", chat_id=chat.id, members=chat.members)


def queue_status_update(
    box: Sandbox, chat: Chat, actor: JsonObject, user_id: int, change: tuple[str, str], *, kind: str
) -> None:
    """Queue a `ChatMemberUpdated` for a change from one status to another."""
    user = box.world.user(user_id)
    if user is None or change[0] == change[1]:
        return
    box.updates.add(
        kind,
        {
            "chat": box.world.chat_json(chat),
            "from": actor,
            "date": int(box.world.now()),
            "old_chat_member": _member_json(user, change[0]),
            "new_chat_member": _member_json(user, change[1]),
        },
    )


def _member_json(user: JsonObject, status: str) -> JsonObject:
    """Return a Bot API `ChatMember` of any status."""
    details: dict[str, JsonObject] = {
        "creator": {"is_anonymous": False},
        "administrator": {"can_be_edited": False, "is_anonymous": False, **dict.fromkeys(_RIGHTS, True)},
        "kicked": {"until_date": 0},
    }
    return {"user": user, "status": status, **details.get(status, {})}


def _placed(world: World, chat: Chat, options: SendOptions) -> JsonObject:
    if options.topic is None:
        return dict(options.reply or {})
    placed: JsonObject = {"message_thread_id": options.topic.id, "is_topic_message": True}
    root = world.message(chat.id, options.topic.id)
    if options.reply is None and root is not None:
        placed["reply_to_message"] = quotable(root)
    return placed | (options.reply or {})


def _bot_receives(box: Sandbox, chat: Chat, message: StoredMessage) -> bool:
    """Return whether the bot gets the message. In privacy mode, a bot that isn't an administrator gets only some."""
    settings = box.world.settings
    status = chat.statuses.get(settings.bot_id)
    if chat.type == "private" or status == "administrator":
        return True
    text = str(message.body.get("text", ""))
    answered = message.body.get("reply_to_message", {}).get("from", {}).get("id") == settings.bot_id
    is_meant = text.startswith("/") or f"@{settings.bot_username}" in text or answered or not text
    return status == "member" and is_meant
