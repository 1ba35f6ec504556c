"""sendMessage, sendPhoto, sendDocument, sendChatAction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.people.access import topic_for, writable_chat
from bot.sandbox.bot_api.people.chat_messages import SendOptions, post
from bot.sandbox.bot_api.people.media import read_media
from bot.sandbox.bot_api.people.replies import read_reply
from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.settings import ALERT_BOT
from bot.sandbox.bot_api.text.entities import formatted
from bot.sandbox.bot_api.text.markup import read_markup

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject
    from bot.sandbox.bot_api.server.params import Params
    from bot.sandbox.bot_api.text.entities import Formatted

MAX_TEXT = 4_096
MAX_CAPTION = 1_024
_PREVIEW_OPTIONS = ("is_disabled", "url", "prefer_small_media", "prefer_large_media", "show_above_text")
_ACTIONS = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    }
)


def read_text(box: Sandbox, params: Params) -> JsonObject:
    """Return the `text` of a call as fields of a message. The caller checks its length.

    Raises:
        BadRequest: it is empty or has wrong markup.
    """
    if not params.text("text"):
        raise BadRequest("message text is empty")
    explicit = params.structure("entities", "can't parse entities JSON object")
    given = formatted(params.text("text"), params.text("parse_mode"), explicit, box.world.user)
    if not given.text:
        raise BadRequest("text must be non-empty")
    return {**_fields("text", "entities", given), **_link_preview(params)}


def read_caption(box: Sandbox, params: Params) -> JsonObject:
    """Return the `caption` of a call as fields of a message. The caller checks its length."""
    explicit = params.structure("caption_entities", "can't parse entities JSON object")
    given = formatted(params.text("caption"), params.text("parse_mode"), explicit, box.world.user)
    fields = _fields("caption", "caption_entities", given) if given.text else {}
    if fields and params.flag("show_caption_above_media"):
        fields["show_caption_above_media"] = True
    return fields


def read_send_options(box: Sandbox, chat: Chat, params: Params) -> SendOptions:
    """Return how a call wants its message sent."""
    return SendOptions(
        topic=topic_for(chat, params),
        reply=read_reply(box.world, chat, params),
        markup=read_markup(params),
        silent=params.flag("disable_notification"),
        protected=params.flag("protect_content"),
    )


def check_length(content: JsonObject) -> None:
    """Reject content that is too long to send.

    Raises:
        BadRequest: more than 4,096 characters of text, or 1,024 of caption, after parsing.
    """
    if len(content.get("text", "")) > MAX_TEXT:
        raise BadRequest("message is too long")
    if len(content.get("caption", "")) > MAX_CAPTION:
        raise BadRequest("message caption is too long")


async def send_message(box: Sandbox, params: Params) -> JsonObject:
    """Send text."""
    content = read_text(box, params)
    return _send(box, params, content)


async def send_alert(box: Sandbox, params: Params) -> JsonObject:
    """Send text as the second bot. It doesn't use up the limits of the first."""
    content = read_text(box, params)
    chat = writable_chat(box.world, params)
    check_length(content)
    return post(box, chat, ALERT_BOT, content).body


async def send_photo(box: Sandbox, params: Params) -> JsonObject:
    """Send a photo: an upload, or a `file_id`."""
    content = {"photo": await read_media(box.world, params, "photo", params.text("photo"))}
    if params.flag("has_spoiler"):
        content["has_media_spoiler"] = True
    return _send(box, params, content | read_caption(box, params))


async def send_document(box: Sandbox, params: Params) -> JsonObject:
    """Send a file as it is: an upload, or a `file_id`."""
    document = await read_media(box.world, params, "document", params.text("document"))
    return _send(box, params, {"document": document, **read_caption(box, params)})


async def send_chat_action(box: Sandbox, params: Params) -> bool:
    """Show the users that the bot is working."""
    action = params.text("action")
    if action.lower() not in _ACTIONS:
        raise BadRequest("wrong parameter action in request")
    chat = writable_chat(box.world, params)
    topic = topic_for(chat, params)
    box.publish("chat_action", chat_id=chat.id, action=action, thread_id=topic.id if topic else None)
    return True


def _send(box: Sandbox, params: Params, content: JsonObject) -> JsonObject:
    chat = writable_chat(box.world, params)
    options = read_send_options(box, chat, params)
    check_length(content)
    box.limiter.count(chat, content, box.world.now(), paid=params.flag("allow_paid_broadcast"))
    return post(box, chat, box.world.bot_user(), content, options).body


def _fields(text_name: str, entities_name: str, given: Formatted) -> JsonObject:
    fields: JsonObject = {text_name: given.text}
    return {**fields, entities_name: given.entities} if given.entities else fields


def _link_preview(params: Params) -> JsonObject:
    given: Any = params.structure("link_preview_options", "can't parse link preview options JSON object")
    if given is None:
        return {"link_preview_options": {"is_disabled": True}} if params.flag("disable_web_page_preview") else {}
    if not isinstance(given, dict):
        raise BadRequest("object expected as link preview options")
    options = {name: given[name] for name in _PREVIEW_OPTIONS if given.get(name)}
    return {"link_preview_options": options} if options else {}


METHODS = {
    "sendMessage": send_message,
    "sendPhoto": send_photo,
    "sendDocument": send_document,
    "sendChatAction": send_chat_action,
}
