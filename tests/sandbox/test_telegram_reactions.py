"""Reactions of the bot in the sandbox's Telegram: users see them, bots get no update, invalid ones are rejected."""

from __future__ import annotations

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import RINA, Running, running


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
