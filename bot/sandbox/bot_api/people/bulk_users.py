"""Thousands of users who have started the bot, for trying broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import Person
from bot.sandbox.bot_api.server.errors import PersonError

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject

MOST_AT_ONCE = 100_000


def add_many_users(box: Sandbox, body: JsonObject) -> list[int]:
    """Add `count` users and return their ids. The first `blocked` have blocked the bot. `languages` take turns.

    Neither the bot nor the chat page is notified: the page would have to show them all.

    Raises:
        PersonError: 400, too many.
    """
    count, blocked = int(body.get("count", 0)), int(body.get("blocked", 0))
    languages = [str(each) for each in body.get("languages") or ["en"]]
    if not 0 < count <= MOST_AT_ONCE:
        raise PersonError(400, f"count must be 1 to {MOST_AT_ONCE}")
    first = box.world.next_person_id()
    for number in range(count):
        language = languages[number % len(languages)]
        person = Person(first + number, f"Person {number + 1}", language, "sender", started=True)
        person.blocked = number < blocked
        box.world.add_person(person)
    return list(range(first, first + count))
