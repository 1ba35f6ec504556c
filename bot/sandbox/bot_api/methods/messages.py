"""deleteMessage(s), copyMessage(s), forwardMessage(s), pinning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.methods.new_messages import check_length, read_caption, read_send_options
from bot.sandbox.bot_api.people.access import known_message, readable_chat, require_administrator, writable_chat
from bot.sandbox.bot_api.people.chat_messages import SendOptions, post, post_service, quotable, remove
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject, StoredMessage
    from bot.sandbox.bot_api.server.params import Params

DELETABLE_SECONDS = 48 * 3_600
MAX_IDS = 100
_CAPTION = ("caption", "caption_entities", "show_caption_above_media")
_CONTENT = ("text", "entities", "link_preview_options", "photo", "document", "has_media_spoiler", *_CAPTION)


async def delete_message(box: Sandbox, params: Params) -> bool:
    """Delete a message for everyone."""
    if not params.integer("message_id"):
        raise BadRequest("message identifier is not specified")
    chat = readable_chat(box.world, params)
    message = known_message(box.world, chat, params.integer("message_id"), "message to delete")
    _check_deletable(box, chat, message)
    remove(box, message)
    return True


async def delete_messages(box: Sandbox, params: Params) -> bool:
    """Delete several messages. Unknown ones are skipped."""
    chat = readable_chat(box.world, params)
    found = [message for number in _ids(params) if (message := box.world.message(chat.id, number))]
    for message in found:
        _check_deletable(box, chat, message)
    for message in found:
        remove(box, message)
    return True


async def copy_message(box: Sandbox, params: Params) -> JsonObject:
    """Send a copy without naming the author. A new caption can replace the old one."""
    source = readable_chat(box.world, params, "from_chat_id")
    message = known_message(box.world, source, params.integer("message_id"), "message to copy")
    content = _content(message, "copied")
    if "caption" in params and "text" not in content:
        kept = {name: value for name, value in content.items() if name not in _CAPTION}
        content = kept | read_caption(box, params)
    return {"message_id": _forward(box, params, content).message_id}


async def copy_messages(box: Sandbox, params: Params) -> list[JsonObject]:
    """Copy several messages. Those that can't be copied are skipped."""
    found = _several(box, params)
    return [{"message_id": _forward(box, params, _content(each, "copied")).message_id} for each in found]


async def forward_message(box: Sandbox, params: Params) -> JsonObject:
    """Forward a message and name its author."""
    source = readable_chat(box.world, params, "from_chat_id")
    message = known_message(box.world, source, params.integer("message_id"), "message to forward")
    return _forward(box, params, _forwarded(message)).body


async def forward_messages(box: Sandbox, params: Params) -> list[JsonObject]:
    """Forward several messages. Those that can't be forwarded are skipped."""
    found = _several(box, params)
    return [{"message_id": _forward(box, params, _forwarded(each)).message_id} for each in found]


async def pin_chat_message(box: Sandbox, params: Params) -> bool:
    """Pin a message, with a service message in the chat."""
    chat, message = _to_pin(box, params)
    if message.message_id in chat.pinned:
        return True
    chat.pinned.append(message.message_id)
    box.world.save_chat(chat)
    silent = params.flag("disable_notification")
    pinned = {"pinned_message": quotable(message)}
    post_service(box, chat, box.world.bot_user(), pinned, chat.topics.get(message.thread_id), silent=silent)
    box.publish("chat", chat_id=chat.id, pinned=list(chat.pinned))
    return True


async def unpin_chat_message(box: Sandbox, params: Params) -> bool:
    """Unpin one message, by default the last pinned."""
    chat = writable_chat(box.world, params)
    _require_pinning(box, chat)
    number = params.integer("message_id") or (chat.pinned[-1] if chat.pinned else 0)
    if number not in chat.pinned:
        raise BadRequest("message to unpin not found")
    chat.pinned.remove(number)
    box.world.save_chat(chat)
    box.publish("chat", chat_id=chat.id, pinned=list(chat.pinned))
    return True


async def unpin_all_chat_messages(box: Sandbox, params: Params) -> bool:
    """Unpin all messages."""
    chat = writable_chat(box.world, params)
    _require_pinning(box, chat)
    chat.pinned.clear()
    box.world.save_chat(chat)
    box.publish("chat", chat_id=chat.id, pinned=[])
    return True


def _to_pin(box: Sandbox, params: Params) -> tuple[Chat, StoredMessage]:
    chat = writable_chat(box.world, params)
    message = known_message(box.world, chat, params.integer("message_id"), "message to pin")
    _require_pinning(box, chat)
    if not _is_content(message):
        raise BadRequest("message can't be pinned")
    return chat, message


def _require_pinning(box: Sandbox, chat: Chat) -> None:
    if chat.type != "private":
        require_administrator(box.world, chat, "not enough rights to manage pinned messages in the chat")


def _check_deletable(box: Sandbox, chat: Chat, message: StoredMessage) -> None:
    administers = chat.statuses.get(box.world.settings.bot_id) == "administrator"
    if "forum_topic_created" in message.body or not (message.outgoing or administers or chat.type == "private"):
        raise BadRequest("message can't be deleted")
    too_old = box.world.now() - message.date > DELETABLE_SECONDS
    if too_old and not (administers and chat.type == "supergroup"):
        raise BadRequest("message can't be deleted for everyone")


def _ids(params: Params) -> list[int]:
    given: Any = params.structure("message_ids", "can't parse message identifiers JSON object")
    if not isinstance(given, list) or not all(str(number).isdigit() for number in given):
        raise BadRequest("expected an Array of message identifiers")
    if not given:
        raise BadRequest("message identifiers are not specified")
    if len(given) > MAX_IDS:
        raise BadRequest("too many message identifiers specified")
    return [int(number) for number in given]


def _several(box: Sandbox, params: Params) -> list[StoredMessage]:
    source = readable_chat(box.world, params, "from_chat_id")
    numbers = sorted(_ids(params))
    found = [message for number in numbers if (message := box.world.message(source.id, number))]
    return [message for message in found if _is_content(message) and not _is_protected(message)]


def _is_content(message: StoredMessage) -> bool:
    return any(name in message.body for name in ("text", "photo", "document"))


def _is_protected(message: StoredMessage) -> bool:
    return bool(message.body.get("has_protected_content"))


def _content(message: StoredMessage, purpose: str) -> JsonObject:
    if not _is_content(message) or _is_protected(message):
        raise BadRequest(f"the message can't be {purpose}")
    return {name: message.body[name] for name in _CONTENT if name in message.body}


def _forwarded(message: StoredMessage) -> JsonObject:
    content = _content(message, "forwarded")
    origin = {"type": "user", "sender_user": message.body["from"], "date": message.date}
    return {"forward_origin": message.body.get("forward_origin", origin), **content}


def _forward(box: Sandbox, params: Params, content: JsonObject) -> StoredMessage:
    chat = writable_chat(box.world, params)
    options: SendOptions = read_send_options(box, chat, params)
    check_length(content)
    if "forward_origin" in content:
        options = replace(options, reply=None)
    box.limiter.count(chat, content, box.world.now(), paid=params.flag("allow_paid_broadcast"))
    return post(box, chat, box.world.bot_user(), content, options)


METHODS = {
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "copyMessage": copy_message,
    "copyMessages": copy_messages,
    "forwardMessage": forward_message,
    "forwardMessages": forward_messages,
    "pinChatMessage": pin_chat_message,
    "unpinChatMessage": unpin_chat_message,
    "unpinAllChatMessages": unpin_all_chat_messages,
}
