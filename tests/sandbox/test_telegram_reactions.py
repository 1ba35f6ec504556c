"""Reactions of the bot in the sandbox's Telegram: users see them, bots get no update, invalid ones are rejected."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import EMMA, RINA, Running, running


async def under(server: Running, chat: int) -> list[list[str]]:
    return [message["sandbox"]["reactions"] for message in await server.sees(chat)]


async def test_people_see_the_bots_reaction_until_it_is_taken_away() -> None:
    async with running() as server:
        text = await server.says(RINA, "done", SUPPORT_GROUP_ID)
        await server.bot.set_message_reaction(SUPPORT_GROUP_ID, text["message_id"], "👌")
        first = await under(server, SUPPORT_GROUP_ID)
        await server.bot.set_message_reaction(SUPPORT_GROUP_ID, text["message_id"], "👀")
        second = await under(server, SUPPORT_GROUP_ID)
        await server.bot.set_message_reaction(SUPPORT_GROUP_ID, text["message_id"])
        third = await under(server, SUPPORT_GROUP_ID)
        updates = await server.hears()
    assert (first, second, third) == ([["👌"]], [["👀"]], [[]])
    assert [set(update) - {"update_id"} for update in updates] == [{"message"}]


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({"reaction": [{"type": "emoji", "emoji": "✅"}]}, "REACTION_INVALID"),
        ({"reaction": [{"type": "paid"}]}, "REACTION_INVALID"),
        ({"reaction": [{"type": "emoji", "emoji": "👌"}] * 2}, "REACTIONS_TOO_MANY"),
        ({"reaction": "{"}, "can't parse reaction JSON object"),
        ({"message_id": 99}, "message to react not found"),
        ({"chat_id": 77}, "chat not found"),
    ],
)
async def test_a_reaction_that_telegram_refuses_is_refused(params: dict[str, Any], description: str) -> None:
    async with running() as server:
        text = await server.says(EMMA, "hello")
        order = {"chat_id": EMMA, "message_id": text["message_id"], **params}
        body = (await server.calls("setMessageReaction", **order)).json()
    assert (body["error_code"], body["description"]) == (400, f"Bad Request: {description}")
