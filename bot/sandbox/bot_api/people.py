"""What the users of the sandbox do: write, edit, delete, press, query inline, block, join and leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from bot.sandbox.bot_api.box import WaitingInlineQuery
from bot.sandbox.bot_api.calls import BadRequest, PersonError
from bot.sandbox.bot_api.chats import (
    SendOptions,
    change,
    inline_id,
    post,
    post_service,
    queue_status_update,
    quotable,
    remove,
    set_status,
)
from bot.sandbox.bot_api.html import formatted, plain
from bot.sandbox.bot_api.markup import Markup
from bot.sandbox.bot_api.model import MEMBERS, Chat, Person, Press
from bot.sandbox.bot_api.sending import MAX_CAPTION, MAX_TEXT

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.html import Formatted
    from bot.sandbox.bot_api.model import JsonObject, StoredMessage, Topic
    from bot.sandbox.bot_api.world import World

Known = TypeVar("Known")
ADMINISTRATORS = frozenset({"creator", "administrator"})
STATUSES = frozenset({"administrator", "member", "left", "kicked"})
CHAT_INSTANCE_BASE = 7_000_000_000_000_000
KEPT_QUERIES = 200
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


def known(found: Known | None, what: str) -> Known:
    """Return what was looked up.

    Raises:
        PersonError: 404 there is none.
    """
    if found is None:
        raise PersonError(404, f"no such {what}")
    return found


def writer(box: Sandbox, chat_id: int, person_id: int) -> tuple[Chat, Person]:
    """Return the chat and the user, if the user can write there.

    Raises:
        PersonError: 404 unknown, 403 not in the chat, 409 the user blocked the bot, or the group moved.
    """
    chat, person = known(box.world.chats.get(chat_id), "chat"), known(box.world.people.get(person_id), "person")
    if chat.type == "private":
        if chat.id != person.id:
            raise PersonError(403, "this private chat is somebody else's")
        if person.blocked:
            raise PersonError(409, "this person has blocked the bot")
    elif chat.statuses.get(person.id) not in MEMBERS:
        raise PersonError(403, "this person is not in the group")
    if chat.migrated_to:
        raise PersonError(409, f"the group has become {chat.migrated_to}")
    return chat, person


def send(box: Sandbox, chat_id: int, body: JsonObject) -> StoredMessage:
    """Send a user's message: `from`, and optionally `reply_to`, `thread_id` and `album` (the same for all its parts).

    The content is `text` or `html` (formatted text). Both can be the caption of `photo` or `document`, file ids of the
    sandbox. `sticker`: true is a sticker. `contact`: {`phone_number`, `first_name`} is a shared contact. `forward`:
    {`chat_id`, `message_id`} forwards a message that the user can see. With `forward_from`, the text was written by
    another user elsewhere.

    Raises:
        PersonError: 400 no text or too much of it, 404 no message to reply to or no such file, 409 the topic is closed,
            and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    content = content_of(box, person, body)
    options = SendOptions(topic=_find_topic(chat, person, body), reply=_find_answered(box, chat, body))
    box.limiter.bulk.note_act(chat.id, box.world.now())
    if chat.type == "private" and not person.started:
        person.started = True
        box.world.save_person(person)
    return post(box, chat, person.as_user(), content, options)


def edit(box: Sandbox, chat_id: int, body: JsonObject) -> StoredMessage:
    """Edit a user's message or caption: `from`, `message_id`, `text` or `html`.

    Raises:
        PersonError: 404 the user has no such message, and as `send`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    message = _own(box, chat, person, body)
    box.limiter.bulk.note_act(chat.id, box.world.now())
    change(box, message, {**edited(message, body), "edit_date": int(box.world.now())})
    box.updates.add("edited_message", message.body)
    return message


def delete(box: Sandbox, chat_id: int, body: JsonObject) -> JsonObject:
    """Delete a user's message for everyone: `from`, `message_id`. As on Telegram, the bot gets no update.

    Raises:
        PersonError: 404 the user has no such message, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    remove(box, _own(box, chat, person, body))
    return {}


async def press(box: Sandbox, chat_id: int, body: JsonObject) -> JsonObject:
    """Press a button as a user: `from`, `message_id`, `data`, and optionally `timeout` in seconds and `force`.

    Wait `timeout` seconds for the bot's answer (10 by default, 0: don't wait). `force` presses a button that is gone.

    Raises:
        PersonError: 404 no such message, 409 it has no such button, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    pressed = _pressed(box, chat, body)
    answer = asyncio.get_running_loop().create_future()
    box.waiting[pressed.id] = answer
    box.limiter.bulk.note_act(chat.id, box.world.now())
    _queue_press(box, chat, person, pressed, str(body.get("data", "")))
    try:
        given = await asyncio.wait_for(asyncio.shield(answer), float(body.get("timeout", 10)))
    except TimeoutError:
        given = None
    finally:
        box.waiting.pop(pressed.id, None)
    nothing = {"text": "", "show_alert": False, "url": ""}
    return {"query_id": pressed.id, "answered": given is not None, **(given or nothing)}


def update_person(box: Sandbox, person_id: int, body: JsonObject) -> Person:
    """Change a user's `language_code` or `username`. `blocked`: block or unblock the bot.

    Raises:
        PersonError: 404 unknown.
    """
    person = known(box.world.people.get(person_id), "person")
    person.language_code = str(body.get("language_code", person.language_code))
    person.username = str(body.get("username", person.username))
    blocked = bool(body.get("blocked", person.blocked))
    if blocked != person.blocked:
        person.blocked = blocked
        steps = ("member", "kicked") if blocked else ("kicked", "member")
        chat = box.world.chats[person.id]
        bot_id = box.world.settings.bot_id
        queue_status_update(box, chat, person.as_user(), bot_id, steps, kind="my_chat_member")
    box.world.save_person(person)
    box.publish("person", chat_id=person.id, person=vars(person).copy())
    return person


def _own(box: Sandbox, chat: Chat, person: Person, body: JsonObject) -> StoredMessage:
    message = box.world.message(chat.id, int(body.get("message_id", 0)))
    if message is None or message.body["from"]["id"] != person.id:
        raise PersonError(404, "no such message of this person")
    return message


def _find_topic(chat: Chat, person: Person, body: JsonObject) -> Topic | None:
    thread_id = body.get("thread_id")
    if not thread_id:
        return None
    topic = known(chat.topics.get(int(thread_id)), "topic")
    if topic.closed and chat.statuses.get(person.id) not in ADMINISTRATORS:
        raise PersonError(409, "the topic is closed")
    return topic


def _find_answered(box: Sandbox, chat: Chat, body: JsonObject) -> JsonObject | None:
    if not body.get("reply_to"):
        return None
    answered = known(box.world.message(chat.id, int(body["reply_to"])), "message to reply to")
    return {"reply_to_message": quotable(answered)}


def _pressed(box: Sandbox, chat: Chat, body: JsonObject) -> Press:
    message_id = int(body.get("message_id", 0))
    message = box.world.message(chat.id, message_id)
    if not body.get("force"):
        rows = known(message, "message").body.get("reply_markup", {}).get("inline_keyboard", [])
        if not any(button.get("callback_data") == body.get("data") for row in rows for button in row):
            raise PersonError(409, "no such button on this message")
    box.world.state.last_press += 1
    number = 1_000_000_000_000_000 + box.world.state.last_press
    return Press(str(number), chat.id, message_id, int(body["from"]), box.world.now())


def _queue_press(box: Sandbox, chat: Chat, person: Person, pressed: Press, data: str) -> None:
    box.world.save_press(pressed)
    box.world.save_state()
    message = box.world.message(chat.id, pressed.message_id)
    gone = {"chat": box.world.chat_json(chat), "message_id": pressed.message_id, "date": 0}
    box.updates.add(
        "callback_query",
        {
            "id": pressed.id,
            "from": person.as_user(),
            "message": gone if message is None else message.body,
            "chat_instance": str(CHAT_INSTANCE_BASE + abs(chat.id)),
            "data": data,
        },
    )


def content_of(box: Sandbox, person: Person, body: JsonObject) -> JsonObject:
    """Return the content fields of a message, described at `send`.

    Raises:
        PersonError: 400 no text or too much, 404 no such file or message, 403 it is in another user's chat.
    """
    if "forward" in body:
        return _forwarded(box, person, body["forward"])
    content = _new_content(box, body)
    if body.get("album"):
        content["media_group_id"] = str(body["album"])
    if body.get("forward_from"):
        author = known(box.world.people.get(int(body["forward_from"])), "person to forward from")
        content = {"forward_origin": _origin(author.as_user(), int(box.world.now())), **content}
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
    return kept | _text_fields(_formatted_text(body), name, longest)


def _new_content(box: Sandbox, body: JsonObject) -> JsonObject:
    if body.get("sticker"):
        return {"sticker": STICKER}
    if body.get("contact"):
        return {"contact": _contact(body["contact"])}
    given = _formatted_text(body)
    for kind in MEDIA:
        if body.get(kind):
            words = _text_fields(given, "caption", MAX_CAPTION) if given.text else {}
            return {kind: _media(box.world, kind, str(body[kind])), **words}
    return _text_fields(given, "text", MAX_TEXT)


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
        return formatted(str(body["html"]), "html", lambda _: None)
    except BadRequest as error:
        raise PersonError(400, str(error)) from error


def _text_fields(given: Formatted, name: str, longest: int) -> JsonObject:
    if not given.text:
        raise PersonError(400, "nothing written")
    if len(given.text) > longest:
        raise PersonError(400, f"more than {longest} characters")
    entities = {"entities" if name == "text" else "caption_entities": given.entities} if given.entities else {}
    return {name: given.text, **entities}


def _forwarded(box: Sandbox, person: Person, source: JsonObject) -> JsonObject:
    """Return the content and first author of a message that the user can see."""
    chat = box.world.chats.get(int(source.get("chat_id", 0)))
    if chat is None or person.id not in (chat.members or [chat.id]):
        raise PersonError(403, "this chat isn't theirs to forward from")
    message = box.world.message(chat.id, int(source.get("message_id", 0)))
    content = {} if message is None else {name: message.body[name] for name in _SAID if name in message.body}
    if message is None or not content or message.body.get("has_protected_content"):
        raise PersonError(404, "no such message, or none to be forwarded")
    origin = message.body.get("forward_origin") or _origin(message.body["from"], message.date)
    return {"forward_origin": origin, **content}


def _origin(sender: JsonObject, date: int) -> JsonObject:
    return {"type": "user", "sender_user": sender, "date": date}


async def query_inline(box: Sandbox, chat_id: int, body: JsonObject) -> JsonObject:
    """Type an inline query as a user: `from`, `query`, and optionally `timeout` in seconds (10 by default).

    Raises:
        PersonError: 409 the bot has no inline mode, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    if not box.world.settings.inline_mode:
        raise PersonError(409, "the bot has no inline mode: @BotFather's /setinline turns it on")
    box.inline_count += 1
    query_id = str(2_000_000_000_000_000 + box.inline_count)
    text = str(body.get("query", ""))
    waiting = box.inline_queries[query_id] = WaitingInlineQuery(person.id, box.world.now(), text)
    while len(box.inline_queries) > KEPT_QUERIES:
        del box.inline_queries[next(iter(box.inline_queries))]
    kind = "sender" if chat.id == person.id else chat.type
    box.updates.add(
        "inline_query",
        {"id": query_id, "from": person.as_user(), "query": text, "offset": "", "chat_type": kind},
    )
    try:
        await asyncio.wait_for(waiting.answered.wait(), float(body.get("timeout", 10)))
    except TimeoutError:
        return {"query_id": query_id, "answered": False, "results": [], "button": None}
    return {"query_id": query_id, "answered": True, **(waiting.answer or {})}


def choose_inline(box: Sandbox, chat_id: int, body: JsonObject) -> StoredMessage:
    """Send a result as a user: `from`, `query_id`, `result_id`. The message is the user's, via the bot.

    With inline feedback, the bot is told. It can edit a message with buttons.

    Raises:
        PersonError: 404 the query has no such result, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    asked = box.inline_queries.get(str(body.get("query_id", "")))
    results = (asked.answer or {}).get("results", []) if asked is not None and asked.person_id == person.id else []
    result = known(next((each for each in results if each["id"] == body.get("result_id")), None), "result")
    content = {**result["message"], "via_bot": box.world.bot_user()}
    message = post(box, chat, person.as_user(), content, SendOptions(markup=Markup(inline=result["reply_markup"])))
    if box.world.settings.inline_feedback:
        chosen = {"result_id": result["id"], "from": person.as_user(), "query": asked.text if asked else ""}
        known_id = {"inline_message_id": inline_id(message)} if result["reply_markup"] else {}
        box.updates.add("chosen_inline_result", {**chosen, **known_id})
    return message


def add_person(box: Sandbox, body: JsonObject) -> Person:
    """Add a user: `first_name`, `language_code`, and optionally `last_name`, `username` and `role`."""
    person = Person(
        id=box.world.next_person_id(),
        first_name=str(body.get("first_name") or "Somebody"),
        language_code=str(body.get("language_code", "")),
        role=str(body.get("role", "sender")),
        last_name=str(body.get("last_name", "")),
        username=str(body.get("username") or ""),
    )
    box.world.add_person(person)
    box.publish("person", chat_id=person.id, person=vars(person).copy())
    return person


def add_group(box: Sandbox, body: JsonObject) -> Chat:
    """Add a group with the bot: `title`, `type` (group or supergroup), `is_forum`, `members`, `bot` (status).

    Raises:
        PersonError: 400 no such type or status, 404 no such member.
    """
    kind, place = str(body.get("type", "supergroup")), str(body.get("bot", "administrator"))
    members = [int(person_id) for person_id in body.get("members", [])]
    if kind not in {"group", "supergroup"} or place not in STATUSES:
        raise PersonError(400, "type must be group or supergroup")
    if not members or any(person_id not in box.world.people for person_id in members):
        raise PersonError(404, "no such person, or nobody at all")
    statuses = {person_id: "creator" if index == 0 else "member" for index, person_id in enumerate(members)}
    forum = kind == "supergroup" and bool(body.get("is_forum"))
    chat = Chat(box.world.next_group_id(kind), kind, str(body.get("title") or "Group"), forum, statuses)
    box.world.add_chat(chat)
    set_status(box, chat, box.world.people[members[0]].as_user(), box.world.settings.bot_id, place)
    return chat


def set_member(box: Sandbox, chat_id: int, body: JsonObject) -> Chat:
    """Give the user `person`, or the bot as the user `from`, another `status` in a group.

    Raises:
        PersonError: 400 no such status, 404 no such group or user.
    """
    chat = _group(box, chat_id)
    person = known(box.world.people.get(int(body.get("person") or body.get("from", 0))), "person")
    if body.get("status") not in STATUSES:
        raise PersonError(400, f"status must be one of {', '.join(sorted(STATUSES))}")
    user_id = person.id if "person" in body else box.world.settings.bot_id
    set_status(box, chat, person.as_user(), user_id, str(body["status"]))
    return chat


def allow_reactions(box: Sandbox, chat_id: int, body: JsonObject) -> Chat:
    """Allow or forbid reactions in a group: `allowed`.

    Raises:
        PersonError: 404 no such group.
    """
    chat = _group(box, chat_id)
    chat.reactions = bool(body.get("allowed", True))
    box.world.save_chat(chat)
    return chat


def migrate(box: Sandbox, chat_id: int, _: JsonObject) -> Chat:
    """Turn a group into a supergroup with another id. The old one stays as a pointer.

    Raises:
        PersonError: 404 no such group, 409 it is already a supergroup.
    """
    old = _group(box, chat_id)
    if old.type != "group" or old.migrated_to:
        raise PersonError(409, "only a basic group can become a supergroup, and only once")
    new = Chat(box.world.next_group_id("supergroup"), "supergroup", old.title, statuses=dict(old.statuses))
    box.world.add_chat(new)
    creator = box.world.people[next(user for user, status in old.statuses.items() if status == "creator")]
    post_service(box, old, creator.as_user(), {"migrate_to_chat_id": new.id})
    post_service(box, new, creator.as_user(), {"migrate_from_chat_id": old.id})
    old.migrated_to = new.id
    box.world.save_chat(old)
    box.publish("chat", chat_id=old.id, migrated_to=new.id)
    return new


def _group(box: Sandbox, chat_id: int) -> Chat:
    chat = box.world.chats.get(chat_id)
    if chat is None or chat.type == "private":
        raise PersonError(404, "no such group")
    return chat


def add_many_users(box: Sandbox, body: JsonObject) -> JsonObject:
    """Add `count` users and return their `ids`. The first `blocked` have blocked the bot. `languages` take turns.

    Neither the bot nor the chat page is notified: the page would have to show them all.
    """
    count, blocked = int(body.get("count", 0)), int(body.get("blocked", 0))
    languages = [str(each) for each in body.get("languages") or ["en"]]
    first = box.world.next_person_id()
    for number in range(count):
        language = languages[number % len(languages)]
        person = Person(first + number, f"Person {number + 1}", language, "sender", started=True)
        person.blocked = number < blocked
        box.world.add_person(person)
    return {"ids": list(range(first, first + count))}
