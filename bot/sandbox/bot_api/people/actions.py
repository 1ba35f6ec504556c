"""Actions of users: write, edit, delete, press buttons, block, join and leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import MEMBERS, Chat, Person, Press
from bot.sandbox.bot_api.people.chat_messages import SendOptions, change, post, quotable, remove
from bot.sandbox.bot_api.people.content import content_of, edited
from bot.sandbox.bot_api.people.members import queue_status_update
from bot.sandbox.bot_api.server.errors import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject, StoredMessage, Topic

ADMINISTRATORS = frozenset({"creator", "administrator"})
CHAT_INSTANCE_BASE = 7_000_000_000_000_000


def writer(box: Sandbox, chat_id: int, person_id: int) -> tuple[Chat, Person]:
    """Return the chat and the user, if the user can write there.

    Raises:
        PersonError: 404 unknown, 403 not in the chat, 409 the user blocked the bot, or the group moved.
    """
    chat, person = box.world.chats.get(chat_id), box.world.people.get(person_id)
    if chat is None or person is None:
        raise PersonError(404, "no such chat" if chat is None else "no such person")
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
    options = SendOptions(topic=_topic(chat, person, body), reply=_reply(box, chat, body))
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


def delete(box: Sandbox, chat_id: int, body: JsonObject) -> None:
    """Delete a user's message for everyone: `from`, `message_id`. As on Telegram, the bot gets no update.

    Raises:
        PersonError: 404 the user has no such message, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    remove(box, _own(box, chat, person, body))


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
    """Change a user's `language_code`, `username`, or how their messages are forwarded (`hides_forwards`).

    `blocked`: block or unblock the bot.

    Raises:
        PersonError: 404 unknown.
    """
    person = box.world.people.get(person_id)
    if person is None:
        raise PersonError(404, "no such person")
    person.language_code = str(body.get("language_code", person.language_code))
    person.username = str(body.get("username", person.username))
    person.hides_forwards = bool(body.get("hides_forwards", person.hides_forwards))
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


def _topic(chat: Chat, person: Person, body: JsonObject) -> Topic | None:
    thread_id = body.get("thread_id")
    if not thread_id:
        return None
    topic = chat.topics.get(int(thread_id))
    if topic is None:
        raise PersonError(404, "no such topic")
    if topic.closed and chat.statuses.get(person.id) not in ADMINISTRATORS:
        raise PersonError(409, "the topic is closed")
    return topic


def _reply(box: Sandbox, chat: Chat, body: JsonObject) -> JsonObject | None:
    if not body.get("reply_to"):
        return None
    answered = box.world.message(chat.id, int(body["reply_to"]))
    if answered is None:
        raise PersonError(404, "no such message to reply to")
    return {"reply_to_message": quotable(answered)}


def _pressed(box: Sandbox, chat: Chat, body: JsonObject) -> Press:
    message_id = int(body.get("message_id", 0))
    message = box.world.message(chat.id, message_id)
    if not body.get("force"):
        if message is None:
            raise PersonError(404, "no such message")
        rows = message.body.get("reply_markup", {}).get("inline_keyboard", [])
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
