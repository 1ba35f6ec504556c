"""The methods that send, change, delete and mark messages.

An edit without `reply_markup` removes the buttons, as on Telegram. Telegram rejects too long edits with other words
than too long new messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.calls import BadRequest, Params
from bot.sandbox.bot_api.chats import (
    SendOptions,
    change,
    inline_id,
    known_message,
    post,
    quotable,
    readable_chat,
    remove,
    topic_for,
    writable_chat,
)
from bot.sandbox.bot_api.html import formatted
from bot.sandbox.bot_api.markup import read_markup
from bot.sandbox.bot_api.media import read_media
from bot.sandbox.bot_api.model import ALERT_BOT

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.markup import Markup
    from bot.sandbox.bot_api.model import Chat, JsonObject, StoredMessage

MAX_TEXT = 4_096
MAX_CAPTION = 1_024
DELETABLE_SECONDS = 48 * 3_600
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current"
    " content and reply markup of the message"
)
_TEXT = ("text", "entities", "link_preview_options")
_CAPTION = ("caption", "caption_entities", "show_caption_above_media")
_MEDIA = ("photo", "document")
_CONTENT = ("text", *_MEDIA)
_ACTIONS = frozenset({"typing", "upload_photo", "upload_document"})

# The list of the Bot API, without "variation selectors", which apps add or omit.
_LISTED = """
    ❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡
    🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈
    😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿
    🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡
"""
EMOJI = frozenset(_LISTED.split())
_SELECTOR = "\ufe0f"


async def send_message(box: Sandbox, params: Params) -> JsonObject:
    """Send text."""
    return _send(box, params, read_text(box, params))


def send_alert(box: Sandbox, params: Params) -> JsonObject:
    """Send text as the second bot. It doesn't use up the limits of the first."""
    content = read_text(box, params)
    chat = writable_chat(box.world, params)
    _check_length(content, ("message is too long", "message caption is too long"))
    return post(box, chat, ALERT_BOT, content).body


async def send_photo(box: Sandbox, params: Params) -> JsonObject:
    """Send a photo: an upload, or a `file_id`."""
    photo = await read_media(box.world, params, "photo", params.text("photo"))
    return _send(box, params, {"photo": photo, **_read_caption(box, params)})


async def send_document(box: Sandbox, params: Params) -> JsonObject:
    """Send a file as it is: an upload, or a `file_id`."""
    document = await read_media(box.world, params, "document", params.text("document"))
    return _send(box, params, {"document": document, **_read_caption(box, params)})


async def send_chat_action(box: Sandbox, params: Params) -> bool:
    """Show the users that the bot is working."""
    action = params.text("action")
    if action not in _ACTIONS:
        raise BadRequest("wrong parameter action in request")
    chat = writable_chat(box.world, params)
    topic = topic_for(chat, params)
    box.publish("chat_action", chat_id=chat.id, action=action, thread_id=topic.id if topic else None)
    return True


async def edit_message_text(box: Sandbox, params: Params) -> JsonObject | bool:
    """Replace the text and the buttons, also of a message that a user has sent from an inline answer."""
    content = read_text(box, params)
    markup = read_markup(params, inline_only=True)
    if params.text("inline_message_id"):
        _edit(box, _sent_inline(box, params.text("inline_message_id")), _TEXT, content, markup)
        return True
    message = _editable(box, params)
    if "text" not in message.body:
        raise BadRequest("there is no text in the message to edit")
    return _edit(box, message, _TEXT, content, markup)


async def edit_message_caption(box: Sandbox, params: Params) -> JsonObject:
    """Replace the caption and the buttons."""
    content = _read_caption(box, params)
    markup = read_markup(params, inline_only=True)
    message = _editable(box, params)
    if "text" in message.body:
        raise BadRequest("there is no caption in the message to edit")
    return _edit(box, message, _CAPTION, content, markup)


async def edit_message_media(box: Sandbox, params: Params) -> JsonObject:
    """Replace the photo, document or text by a photo or a document with its caption, and replace the buttons."""
    media = params.structure("media")
    if not isinstance(media, dict) or media.get("type") not in _MEDIA:
        raise BadRequest("can't parse InputMedia: the sandbox takes photos and documents only")
    markup = read_markup(params, inline_only=True)
    message = _editable(box, params)
    inner = Params(media, params.files)
    kind = media["type"]
    content = {kind: await read_media(box.world, inner, kind, inner.text("media")), **_read_caption(box, inner)}
    return _edit(box, message, (*_TEXT, *_MEDIA, *_CAPTION), content, markup)


async def edit_message_reply_markup(box: Sandbox, params: Params) -> JsonObject:
    """Replace the buttons only."""
    markup = read_markup(params, inline_only=True)
    return _edit(box, _editable(box, params), (), {}, markup)


async def delete_message(box: Sandbox, params: Params) -> bool:
    """Delete a message for everyone."""
    chat = readable_chat(box.world, params)
    message = known_message(box.world, chat, params, "message to delete")
    administers = chat.statuses.get(box.world.settings.bot_id) == "administrator"
    if "forum_topic_created" in message.body or not (message.outgoing or administers or chat.type == "private"):
        raise BadRequest("message can't be deleted")
    if box.world.now() - message.date > DELETABLE_SECONDS and not (administers and chat.type == "supergroup"):
        raise BadRequest("message can't be deleted for everyone")
    remove(box, message)
    return True


async def set_message_reaction(box: Sandbox, params: Params) -> bool:
    """Set the bot's reaction to a message, or remove it (none given). Bots get no update of it."""
    chat = writable_chat(box.world, params)
    message = known_message(box.world, chat, params, "message to react")
    chosen = [str(each.get("emoji", "")) for each in params.structure("reaction") or []]
    if len(chosen) > 1:
        raise BadRequest("REACTIONS_TOO_MANY")
    is_allowed = chat.reactions and all(emoji.replace(_SELECTOR, "") in EMOJI for emoji in chosen)
    if chosen and not is_allowed:
        raise BadRequest("REACTION_INVALID")
    if chosen != message.reactions:
        message.reactions = chosen
        change(box, message, message.body)
    return True


def read_text(box: Sandbox, params: Params, name: str = "text") -> JsonObject:
    """Return the text of a call as fields of a message. The caller checks its length.

    Raises:
        BadRequest: it is empty or has wrong markup.
    """
    if not params.text(name):
        raise BadRequest("message text is empty")
    given = formatted(params.text(name), params.text("parse_mode"), box.world.user)
    if not given.text:
        raise BadRequest("text must be non-empty")
    preview = params.structure("link_preview_options")
    return {
        "text": given.text,
        **({"entities": given.entities} if given.entities else {}),
        **({"link_preview_options": preview} if preview else {}),
    }


def _read_caption(box: Sandbox, params: Params) -> JsonObject:
    given = formatted(params.text("caption"), params.text("parse_mode"), box.world.user)
    fields: JsonObject = {"caption": given.text} if given.text else {}
    if given.entities:
        fields["caption_entities"] = given.entities
    if fields and params.flag("show_caption_above_media"):
        fields["show_caption_above_media"] = True
    return fields


def _check_length(content: JsonObject, complaints: tuple[str, str]) -> None:
    """Reject more than 4,096 characters of text, or 1,024 of caption, after parsing."""
    for name, most, complaint in zip(("text", "caption"), (MAX_TEXT, MAX_CAPTION), complaints, strict=True):
        if len(content.get(name, "")) > most:
            raise BadRequest(complaint)


def _send(box: Sandbox, params: Params, content: JsonObject) -> JsonObject:
    chat = writable_chat(box.world, params)
    options = SendOptions(
        topic=topic_for(chat, params),
        reply=_read_reply(box, chat, params),
        markup=read_markup(params),
        silent=params.flag("disable_notification"),
        protected=params.flag("protect_content"),
    )
    _check_length(content, ("message is too long", "message caption is too long"))
    box.limiter.count(chat, content, box.world.now(), paid=params.flag("allow_paid_broadcast"))
    return post(box, chat, box.world.bot_user(), content, options).body


def _read_reply(box: Sandbox, chat: Chat, params: Params) -> JsonObject | None:
    """Return the reply fields of a message, or None if it isn't a reply.

    Raises:
        BadRequest: the message to reply to can't be found.
    """
    given: Any = params.structure("reply_parameters")
    if not given:
        return None
    reply = Params(given)
    answered = box.world.message(chat.id, reply.integer("message_id"))
    if answered is None and not reply.flag("allow_sending_without_reply"):
        raise BadRequest("message to be replied not found")
    return None if answered is None else {"reply_to_message": quotable(answered)}


def _editable(box: Sandbox, params: Params) -> StoredMessage:
    """Return one of the bot's messages that can be edited: not a service message, without a reply keyboard."""
    chat = readable_chat(box.world, params)
    if chat.type == "private":
        writable_chat(box.world, params)
    message = known_message(box.world, chat, params, "message to edit")
    is_content = any(name in message.body for name in _CONTENT)
    if not message.outgoing or not is_content or message.keyboard is not None:
        raise BadRequest("message can't be edited")
    return message


def _sent_inline(box: Sandbox, inline: str) -> StoredMessage:
    for message in (each for chat in box.world.messages.values() for each in chat.values()):
        if "via_bot" in message.body and inline_id(message) == inline:
            return message
    raise BadRequest("MESSAGE_ID_INVALID")


def _edit(
    box: Sandbox, message: StoredMessage, replaced: tuple[str, ...], content: JsonObject, markup: Markup
) -> JsonObject:
    _check_length(content, ("MESSAGE_TOO_LONG", "MEDIA_CAPTION_TOO_LONG"))
    gone = {*replaced, "reply_markup"}
    body = {name: value for name, value in message.body.items() if name not in gone} | content
    if markup.inline is not None:
        body["reply_markup"] = markup.inline
    if body == message.body:
        raise BadRequest(NOT_MODIFIED)
    change(box, message, {**body, "edit_date": int(box.world.now())})
    return message.body
