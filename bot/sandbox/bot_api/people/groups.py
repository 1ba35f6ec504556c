"""Groups of the sandbox: creating them, moving to a supergroup, and the members' status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import Chat, Person
from bot.sandbox.bot_api.people.chat_messages import post_service
from bot.sandbox.bot_api.people.members import set_status
from bot.sandbox.bot_api.server.errors import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject

STATUSES = frozenset({"administrator", "member", "left", "kicked"})


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


def set_bot_status(box: Sandbox, chat_id: int, body: JsonObject) -> Chat:
    """Give the bot another `status` in a group, or remove it, as the user `from`.

    Raises:
        PersonError: 400 no such status, 404 no such group or user.
    """
    chat, person = box.world.chats.get(chat_id), box.world.people.get(int(body.get("from", 0)))
    if chat is None or chat.type == "private" or person is None:
        raise PersonError(404, "no such group or person")
    if body.get("status") not in STATUSES:
        raise PersonError(400, f"status must be one of {', '.join(sorted(STATUSES))}")
    set_status(box, chat, person.as_user(), box.world.settings.bot_id, str(body["status"]))
    return chat


def set_person_status(box: Sandbox, chat_id: int, body: JsonObject) -> Chat:
    """Add the user `person` to a group, change the user's `status`, or remove the user.

    Raises:
        PersonError: 400 no such status, 404 no such group or user.
    """
    chat, person = _group(box, chat_id), box.world.people.get(int(body.get("person", 0)))
    if person is None:
        raise PersonError(404, "no such person")
    if body.get("status") not in STATUSES:
        raise PersonError(400, f"status must be one of {', '.join(sorted(STATUSES))}")
    set_status(box, chat, person.as_user(), person.id, str(body["status"]))
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


def migrate(box: Sandbox, chat_id: int) -> Chat:
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
