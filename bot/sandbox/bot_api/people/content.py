"""The content of a user's message: text, a photo, a file, a sticker, a contact, or a forwarded message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.methods.new_messages import MAX_CAPTION, MAX_TEXT
from bot.sandbox.bot_api.model import MEMBERS
from bot.sandbox.bot_api.server.errors import BadRequest, PersonError
from bot.sandbox.bot_api.text.entities import formatted, plain

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject, Person, StoredMessage
    from bot.sandbox.bot_api.text.entities import Formatted
    from bot.sandbox.bot_api.world import World

STICKER = {
    "file_id": "sticker",
    "file_unique_id": "sticker",
    "type": "regular",
    "width": 512,
    "height": 512,
    "is_animated": False,
    "is_video": False,
    "emoji": "🙂",
}
MEDIA = ("photo", "document")
_SAID = ("text", "entities", "caption", "caption_entities", "sticker", "contact", *MEDIA)


def content_of(box: Sandbox, person: Person, body: JsonObject) -> JsonObject:
    """Return the content fields of a message, described at `actions.send`.

    Raises:
        PersonError: 400 no text or too much, 404 no such file or message, 403 it is in another user's chat.
    """
    if "forward" in body:
        return _forwarded(box, person, body["forward"])
    content = _new_content(box, body)
    if body.get("album"):
        content["media_group_id"] = str(body["album"])
    if body.get("forward_from"):
        content = {"forward_origin": _origin(box.world, _author(box.world, body), int(box.world.now())), **content}
    return content


def edited(message: StoredMessage, body: JsonObject) -> JsonObject:
    """Return the body of a message with its text or caption replaced.

    Raises:
        PersonError: 400 no text or too much, 404 it has no text or caption.
    """
    if "forward_origin" in message.body:
        raise PersonError(404, "what is forwarded can't be corrected")
    name, longest = ("text", MAX_TEXT) if "text" in message.body else ("caption", MAX_CAPTION)
    if name == "caption" and not any(kind in message.body for kind in MEDIA):
        raise PersonError(404, "there are no words in this message")
    gone = {"text", "entities", "caption", "caption_entities"}
    kept = {field: value for field, value in message.body.items() if field not in gone}
    return kept | _fields(_formatted_text(body), name, longest)


def _new_content(box: Sandbox, body: JsonObject) -> JsonObject:
    if body.get("sticker"):
        return {"sticker": STICKER}
    if body.get("contact"):
        return {"contact": _contact(body["contact"])}
    given = _formatted_text(body)
    for kind in MEDIA:
        if body.get(kind):
            words = _fields(given, "caption", MAX_CAPTION) if given.text else {}
            return {kind: _media(box.world, kind, str(body[kind])), **words}
    return _fields(given, "text", MAX_TEXT)


def _contact(given: JsonObject) -> JsonObject:
    """Return a contact as Telegram sends it. A user of Telegram has an id, and a number without its plus."""
    names = ("phone_number", "first_name", "last_name", "user_id")
    return {"phone_number": "", "first_name": ""} | {name: given[name] for name in names if name in given}


def _media(world: World, kind: str, file_id: str) -> object:
    file = world.files.get(file_id)
    if file is None or file.kind != kind:
        raise PersonError(404, f"no such {kind}")
    return file.media


def _formatted_text(body: JsonObject) -> Formatted:
    if "html" not in body:
        return plain(str(body.get("text", "")))
    try:
        return formatted(str(body["html"]), "html", None, lambda _: None)
    except BadRequest as error:
        raise PersonError(400, str(error)) from error


def _fields(given: Formatted, name: str, longest: int) -> JsonObject:
    if not given.text:
        raise PersonError(400, "nothing written")
    if len(given.text) > longest:
        raise PersonError(400, f"more than {longest} characters")
    entities = {"entities" if name == "text" else "caption_entities": given.entities} if given.entities else {}
    return {name: given.text, **entities}


def _forwarded(box: Sandbox, person: Person, source: JsonObject) -> JsonObject:
    """Return the content and first author of a message that the user can see."""
    chat = box.world.chats.get(int(source.get("chat_id", 0)))
    if chat is None or not _can_see(chat, person):
        raise PersonError(403, "this chat isn't theirs to forward from")
    message = box.world.message(chat.id, int(source.get("message_id", 0)))
    content = {} if message is None else {name: message.body[name] for name in _SAID if name in message.body}
    if message is None or not content or message.body.get("has_protected_content"):
        raise PersonError(404, "no such message, or none to be forwarded")
    origin = message.body.get("forward_origin") or _origin(box.world, message.body["from"], message.date)
    return {"forward_origin": origin, **content}


def _can_see(chat: Chat, person: Person) -> bool:
    return chat.id == person.id if chat.type == "private" else chat.statuses.get(person.id) in MEMBERS


def _author(world: World, body: JsonObject) -> JsonObject:
    author = world.people.get(int(body["forward_from"]))
    if author is None:
        raise PersonError(404, "no such person to forward from")
    return author.as_user()


def _origin(world: World, sender: JsonObject, date: int) -> JsonObject:
    person = world.people.get(sender["id"])
    if person is not None and person.hides_forwards:
        name = f"{person.first_name} {person.last_name}".strip()
        return {"type": "hidden_user", "sender_user_name": name, "date": date}
    return {"type": "user", "sender_user": sender, "date": date}
