"""Replies: `reply_parameters`, in the same chat or another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.people.access import readable_chat
from bot.sandbox.bot_api.people.chat_messages import quotable
from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.server.params import Params
from bot.sandbox.bot_api.text import utf16

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import Chat, JsonObject, StoredMessage
    from bot.sandbox.bot_api.world import World


def read_reply(world: World, chat: Chat, params: Params) -> JsonObject | None:
    """Return the reply fields of a message, or None if it isn't a reply.

    Raises:
        BadRequest: the message to reply to, or the quote, can't be found.
    """
    given = _given(params)
    if not given:
        return None
    if "message_id" not in given:
        raise BadRequest('can\'t find field "message_id"')
    reply = Params(given)
    where = readable_chat(world, reply) if "chat_id" in reply else chat
    answered = world.message(where.id, reply.integer("message_id"))
    if answered is None:
        if reply.flag("allow_sending_without_reply"):
            return None
        raise BadRequest("message to be replied not found")
    quote = _quote(answered, reply)
    if where is chat:
        return {"reply_to_message": quotable(answered), **quote}
    return {"external_reply": _external(answered), **quote}


def _given(params: Params) -> JsonObject:
    given = params.structure("reply_parameters", "can't parse reply parameters JSON object")
    if given is None and params.integer("reply_to_message_id"):
        allowed = params.flag("allow_sending_without_reply")
        return {"message_id": params.integer("reply_to_message_id"), "allow_sending_without_reply": allowed}
    if given is not None and not isinstance(given, dict):
        raise BadRequest("object expected as reply parameters")
    return given or {}


def _quote(answered: StoredMessage, reply: Params) -> JsonObject:
    words = reply.text("quote")
    if not words:
        return {}
    text = str(answered.body.get("text") or answered.body.get("caption") or "")
    found = text.find(words)
    if found < 0:
        raise BadRequest("QUOTE_TEXT_INVALID")
    return {"quote": {"text": words, "position": utf16.length(text[:found]), "is_manual": True}}


def _external(answered: StoredMessage) -> JsonObject:
    origin = {"type": "user", "sender_user": answered.body["from"], "date": answered.date}
    kept: JsonObject = {name: answered.body[name] for name in ("photo", "document") if name in answered.body}
    return {"origin": origin, "chat": answered.body["chat"], "message_id": answered.message_id, **kept}
