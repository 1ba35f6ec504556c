"""Reactions of the bot in the sandbox's Telegram: users see them, bots get no update, invalid ones are rejected."""

from __future__ import annotations

from typing import Any

import pytest
from telegram import ReactionTypeEmoji
from telegram.constants import ReactionEmoji
from telegram.error import BadRequest

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


async def test_the_same_reaction_again_changes_nothing_and_is_no_error() -> None:
    async with running() as server:
        text = await server.says(EMMA, "hello")
        for _ in range(2):
            assert await server.bot.set_message_reaction(EMMA, text["message_id"], "👌")
        seq = (await server.people.get("/sandbox/state")).json()["seq"]
        await server.bot.set_message_reaction(EMMA, text["message_id"], "👌")
        assert (await server.people.get("/sandbox/state")).json()["seq"] == seq


async def test_every_emoji_that_the_library_knows_is_taken() -> None:
    async with running() as server:
        text = await server.says(EMMA, "hello")
        for emoji in ReactionEmoji:
            assert await server.bot.set_message_reaction(EMMA, text["message_id"], [ReactionTypeEmoji(emoji)])
        assert await under(server, EMMA) == [[list(ReactionEmoji)[-1]]]


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


async def test_a_group_may_allow_none() -> None:
    async with running() as server:
        text = await server.says(RINA, "done", SUPPORT_GROUP_ID)
        await server.posts(f"/sandbox/chats/{SUPPORT_GROUP_ID}/reactions", {"allowed": False})
        with pytest.raises(BadRequest, match=r"(?i)reaction_invalid"):
            await server.bot.set_message_reaction(SUPPORT_GROUP_ID, text["message_id"], "👌")
