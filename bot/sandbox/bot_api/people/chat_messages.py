"""Adding messages to chats: number and date them, and notify the users and the bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import StoredMessage
from bot.sandbox.bot_api.text.markup import NOTHING, Markup

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject, Topic
    from bot.sandbox.bot_api.world import World


@dataclass(frozen=True)
class SendOptions:
    """How a message is sent, apart from its content. `reply`: the fields of the message it replies to."""

    topic: Topic | None = None
    reply: JsonObject | None = None
    markup: Markup = NOTHING
    silent: bool = False
    protected: bool = False


DEFAULT_OPTIONS = SendOptions()


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
    message = StoredMessage(
        chat.id, message_id, date, body, outgoing, keyboard=options.markup.keyboard, silent=options.silent
    )
    world.save_message(message)
    _announce(box, message)
    if not sender["is_bot"] and _bot_receives(box, chat, message):
        box.updates.add("message", body)
    return message


def post_service(
    box: Sandbox,
    chat: Chat,
    sender: JsonObject,
    content: JsonObject,
    topic: Topic | None = None,
    *,
    silent: bool = False,
) -> StoredMessage:
    """Add a service message to a chat. As on Telegram, the bot gets an update of its own, too."""
    message = post(box, chat, sender, content, SendOptions(topic=topic, silent=silent))
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
    chat = box.world.chats[message.chat_id]
    if message.message_id in chat.pinned:
        chat.pinned.remove(message.message_id)
        box.world.save_chat(chat)
    box.publish("delete", chat_id=message.chat_id, message_id=message.message_id)


def _announce(box: Sandbox, message: StoredMessage) -> None:
    box.publish(
        "message",
        chat_id=message.chat_id,
        message_id=message.message_id,
        message=message.as_client_json(),
    )


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
    if status != "member":
        return False
    text = str(message.body.get("text", ""))
    answered = message.body.get("reply_to_message", {}).get("from", {}).get("id") == settings.bot_id
    return text.startswith("/") or f"@{settings.bot_username}" in text or answered or not text
