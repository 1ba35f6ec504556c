"""editMessageText, editMessageCaption, editMessageMedia, editMessageReplyMarkup.

An edit without `reply_markup` removes the buttons, as on Telegram. Telegram rejects too long edits with other words
than too long new messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.methods.new_messages import MAX_CAPTION, MAX_TEXT, read_caption, read_text
from bot.sandbox.bot_api.people.access import known_message, readable_chat, writable_chat
from bot.sandbox.bot_api.people.chat_messages import change
from bot.sandbox.bot_api.people.media import read_media
from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.server.params import Params
from bot.sandbox.bot_api.text.markup import read_markup

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject, StoredMessage
    from bot.sandbox.bot_api.text.markup import Markup

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current"
    " content and reply markup of the message"
)
_TEXT = ("text", "entities", "link_preview_options")
_CAPTION = ("caption", "caption_entities", "show_caption_above_media")
_MEDIA = ("photo", "document", "has_media_spoiler")


async def edit_message_text(box: Sandbox, params: Params) -> JsonObject:
    """Replace the text and the buttons."""
    content = read_text(box, params)
    markup = read_markup(params, inline_only=True)
    message = _editable(box, params)
    if "text" not in message.body:
        raise BadRequest("there is no text in the message to edit")
    if len(content["text"]) > MAX_TEXT:
        raise BadRequest("MESSAGE_TOO_LONG")
    return _edit(box, message, _TEXT, content, markup)


async def edit_message_caption(box: Sandbox, params: Params) -> JsonObject:
    """Replace the caption and the buttons."""
    content = read_caption(box, params)
    markup = read_markup(params, inline_only=True)
    message = _editable(box, params)
    if "photo" not in message.body and "document" not in message.body:
        raise BadRequest("there is no caption in the message to edit")
    _check_caption(content)
    return _edit(box, message, _CAPTION, content, markup)


async def edit_message_media(box: Sandbox, params: Params) -> JsonObject:
    """Replace the photo, document or text by a photo or a document with its caption, and replace the buttons."""
    media = params.structure("media", "can't parse input media JSON object")
    if not isinstance(media, dict) or media.get("type") not in {"photo", "document"}:
        raise BadRequest("can't parse InputMedia: the sandbox takes photos and documents only")
    markup = read_markup(params, inline_only=True)
    message = _editable(box, params)
    inner = Params(media, params.files)
    kind = media["type"]
    content = {kind: await read_media(box.world, inner, kind, inner.text("media")), **read_caption(box, inner)}
    if inner.flag("has_spoiler"):
        content["has_media_spoiler"] = True
    _check_caption(content)
    return _edit(box, message, (*_TEXT, *_MEDIA, *_CAPTION), content, markup)


async def edit_message_reply_markup(box: Sandbox, params: Params) -> JsonObject:
    """Replace the buttons only."""
    markup = read_markup(params, inline_only=True)
    return _edit(box, _editable(box, params), (), {}, markup)


def _editable(box: Sandbox, params: Params) -> StoredMessage:
    """Return one of the bot's messages that can be edited: not forwarded, and without a reply keyboard."""
    if not params.text("chat_id") and not params.integer("message_id"):
        raise BadRequest("message identifier is not specified")
    chat = readable_chat(box.world, params)
    if chat.type == "private":
        writable_chat(box.world, params)
    message = known_message(box.world, chat, params.integer("message_id"), "message to edit")
    service = not any(name in message.body for name in ("text", "photo", "document"))
    if not message.outgoing or service or message.keyboard is not None or "forward_origin" in message.body:
        raise BadRequest("message can't be edited")
    return message


def _check_caption(content: JsonObject) -> None:
    if len(content.get("caption", "")) > MAX_CAPTION:
        raise BadRequest("MEDIA_CAPTION_TOO_LONG")


def _edit(
    box: Sandbox, message: StoredMessage, replaced: tuple[str, ...], content: JsonObject, markup: Markup
) -> JsonObject:
    gone = {*replaced, "reply_markup"}
    body = {name: value for name, value in message.body.items() if name not in gone} | content
    if markup.inline is not None:
        body["reply_markup"] = markup.inline
    if body == message.body:
        raise BadRequest(NOT_MODIFIED)
    change(box, message, {**body, "edit_date": int(box.world.now())})
    return message.body


METHODS = {
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageMedia": edit_message_media,
    "editMessageReplyMarkup": edit_message_reply_markup,
}
