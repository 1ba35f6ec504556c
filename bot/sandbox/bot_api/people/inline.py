"""Inline queries of users: typing `@bot …` in any chat, and sending one of the results."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.box import WaitingInlineQuery
from bot.sandbox.bot_api.people.actions import writer
from bot.sandbox.bot_api.people.chat_messages import SendOptions, post
from bot.sandbox.bot_api.server.errors import PersonError
from bot.sandbox.bot_api.text.markup import Markup

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject, StoredMessage

KEPT_QUERIES = 200


async def query(box: Sandbox, chat_id: int, body: JsonObject) -> JsonObject:
    """Type an inline query as a user: `from`, `query`, and optionally `timeout` in seconds (10 by default).

    Raises:
        PersonError: 409 the bot has no inline mode, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    if not box.world.settings.inline_mode:
        raise PersonError(409, "the bot has no inline mode: @BotFather's /setinline turns it on")
    box.inline_count += 1
    query_id = str(2_000_000_000_000_000 + box.inline_count)
    waiting = box.inline_queries[query_id] = WaitingInlineQuery(person.id, box.world.now())
    while len(box.inline_queries) > KEPT_QUERIES:
        del box.inline_queries[next(iter(box.inline_queries))]
    text = str(body.get("query", ""))
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


def choose(box: Sandbox, chat_id: int, body: JsonObject) -> StoredMessage:
    """Send a result as a user: `from`, `query_id`, `result_id`. The message is the user's, via the bot.

    Raises:
        PersonError: 404 the query has no such result, and as `writer`.
    """
    chat, person = writer(box, chat_id, int(body.get("from", 0)))
    asked = box.inline_queries.get(str(body.get("query_id", "")))
    results = (asked.answer or {}).get("results", []) if asked is not None and asked.person_id == person.id else []
    result = next((each for each in results if each["id"] == body.get("result_id")), None)
    if result is None:
        raise PersonError(404, "no such result")
    content = {**result["message"], "via_bot": box.world.bot_user()}
    return post(box, chat, person.as_user(), content, SendOptions(markup=Markup(inline=result["reply_markup"])))
