"""Inline mode of the sandbox's Telegram: queries of users, the bot's answers, and the messages that results become."""

import asyncio
from typing import Any

from bot.sandbox.bot_api.model import FRIENDS_GROUP_ID
from tests.sandbox.telegram_sandbox import SARI, Running, running

ARTICLE: dict[str, Any] = {
    "type": "article",
    "id": "1",
    "title": "Rp150,000",
    "description": "BCA",
    "input_message_content": {"message_text": "<b>Pay</b> me", "parse_mode": "HTML"},
    "reply_markup": {"inline_keyboard": [[{"text": "Pay", "url": "https://t.me/kirim_sandbox_bot?start=r_x"}]]},
}


async def asks(server: Running, text: str = "", **more: Any) -> tuple[asyncio.Task[Any], dict[str, Any]]:
    """Let Sari type an inline query, and return her wait for the answer and what the bot hears."""
    order = {"from": SARI, "query": text, "timeout": 5, **more}
    waiting = asyncio.create_task(server.posts(f"/sandbox/chats/{SARI}/inline", order))
    (update,) = await server.hears(timeout=5)
    query: dict[str, Any] = update["inline_query"]
    return waiting, query


async def test_a_query_is_answered_and_a_result_becomes_a_message_via_the_bot() -> None:
    async with running() as server:
        waiting, query = await asks(server, "500rb")
        assert (query["from"]["id"], query["query"], query["offset"]) == (SARI, "500rb", "")
        button = {"text": "Ask", "start_parameter": "ask"}
        answer = await server.calls(
            "answerInlineQuery",
            inline_query_id=query["id"],
            results=[ARTICLE],
            is_personal=True,
            cache_time=0,
            button=button,
        )
        assert answer.is_success, answer.text
        seen = await waiting
        assert (seen["answered"], seen["is_personal"], seen["cache_time"], seen["button"]) == (True, True, 0, button)
        assert [(each["title"], each["description"]) for each in seen["results"]] == [("Rp150,000", "BCA")]
        chosen = {"from": SARI, "query_id": seen["query_id"], "result_id": "1"}
        message = await server.posts(f"/sandbox/chats/{FRIENDS_GROUP_ID}/choose", chosen, "message")
        assert (message["text"], message["entities"][0]["type"]) == ("Pay me", "bold")
        assert (message["from"]["id"], message["via_bot"]["username"]) == (SARI, "kirim_sandbox_bot")
        assert message["reply_markup"] == ARTICLE["reply_markup"]
        # The bot isn't in this group, so it hears only that its result was chosen.
        (update,) = await server.hears(offset=-1)
        told = update["chosen_inline_result"]
        assert (told["from"]["id"], told["result_id"], told["query"]) == (SARI, "1", "500rb")
        edit = {"inline_message_id": told["inline_message_id"], "text": "Paid"}
        assert (await server.calls("editMessageText", **edit)).json()["result"] is True
        assert "not modified" in (await server.calls("editMessageText", **edit)).json()["description"]
        wrong = await server.calls("editMessageText", **{**edit, "inline_message_id": "inline.1.1"})
        assert "MESSAGE_ID_INVALID" in wrong.json()["description"]
        assert (await server.sees(FRIENDS_GROUP_ID))[-1]["text"] == "Paid"
        assert (await server.sees(FRIENDS_GROUP_ID))[-1]["message_id"] == message["message_id"]


async def test_a_query_is_answered_once_and_in_time() -> None:
    async with running() as server:
        waiting, query = await asks(server)
        known = {"inline_query_id": query["id"], "results": []}
        assert (await server.calls("answerInlineQuery", **known)).is_success
        assert (await server.calls("answerInlineQuery", **known)).status_code == 400
        assert (await waiting)["results"] == []
        waiting, query = await asks(server)
        server.clock.pass_(seconds=11)
        late = await server.calls("answerInlineQuery", inline_query_id=query["id"], results=[])
        assert "too old" in late.json()["description"]
        waiting.cancel()
