"""The users' side of the sandbox: what they do and see, and the controls."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, RINA, SARI, Running, running
from tests.waiting import TIMEOUT_SECONDS

BUTTON = {"inline_keyboard": [[{"text": "x", "callback_data": "y"}]]}


async def events(server: Running, count: int, after: int = 0) -> list[dict[str, Any]]:
    """Return the next events of the stream."""
    found: list[dict[str, Any]] = []
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        server.people.stream("GET", "/sandbox/events", params={"after": after}) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
    return found


async def test_people_see_messages_edits_deletions_answers_and_typing_as_they_happen() -> None:
    async with running() as server:
        stream = asyncio.create_task(events(server, 8))
        await server.says(EMMA, "/start")
        await server.calls("sendChatAction", chat_id=EMMA, action="typing")
        sent = (await server.calls("sendMessage", chat_id=EMMA, text="hi", reply_markup=BUTTON)).json()["result"]
        number = sent["message_id"]
        pressed = await server.presses(EMMA, number, "y")
        await server.calls("answerCallbackQuery", callback_query_id=pressed["query_id"], text="ok")
        await server.calls("editMessageText", chat_id=EMMA, message_id=number, text="ho")
        await server.calls("deleteMessage", chat_id=EMMA, message_id=number)
        await server.calls("setMyCommands", commands=[])
        await server.people.patch(f"/sandbox/people/{EMMA}", json={"language_code": "id"})
        seen = await stream
        replayed = await events(server, 2, after=seen[5]["seq"])
    assert [event["type"] for event in seen] == [
        "message",
        "chat_action",
        "message",
        "callback_answer",
        "edit",
        "delete",
        "commands",
        "person",
    ]
    assert [event["seq"] for event in seen] == list(range(1, 9))
    assert seen[2]["message"]["reply_markup"] == BUTTON
    assert (seen[3]["text"], seen[4]["message"]["text"], seen[5]["message_id"]) == ("ok", "ho", number)
    assert replayed == seen[6:]


async def test_a_press_waits_for_the_bots_answer() -> None:
    async with running() as server:
        await server.says(EMMA, "/start")
        sent = (await server.calls("sendMessage", chat_id=EMMA, text="x", reply_markup=BUTTON)).json()["result"]
        press = asyncio.create_task(server.presses(EMMA, sent["message_id"], "y", timeout=TIMEOUT_SECONDS))
        query: dict[str, Any] = {}
        while not query:
            updates = await server.hears(timeout=50)
            query = updates[-1].get("callback_query", {})
        await server.calls("answerCallbackQuery", callback_query_id=query["id"], text="done", show_alert=True)
        answer = await press
    assert query["message"]["message_id"] == sent["message_id"]
    assert (query["data"], query["from"]["id"]) == ("y", EMMA)
    assert answer == {"query_id": query["id"], "answered": True, "text": "done", "show_alert": True, "url": ""}


@pytest.mark.parametrize(
    ("chat", "order", "status"),
    [
        (EMMA, {"from": SARI, "text": "x"}, 403),
        (SUPPORT_GROUP_ID, {"from": EMMA, "text": "x"}, 403),
        (99, {"from": EMMA, "text": "x"}, 404),
        (EMMA, {"from": EMMA, "text": " "}, 400),
        (EMMA, {"from": EMMA, "text": "x" * 4097}, 400),
        (EMMA, {"from": EMMA, "text": "x", "reply_to": 99}, 404),
        (EMMA, {"from": "Emma", "text": "x"}, 400),
    ],
)
async def test_what_a_person_could_not_do_is_refused(chat: int, order: dict[str, Any], status: int) -> None:
    async with running() as server:
        answer = await server.people.post(f"/sandbox/chats/{chat}/send", json=order)
    assert (answer.status_code, "error" in answer.json()) == (status, True)


async def test_who_waits_for_events_of_a_chat_gets_them_at_once_and_none_of_others() -> None:
    async with running() as server:
        await server.says(EMMA, "before")
        path = f"/sandbox/chats/{EMMA}/messages"
        known = (await server.people.get(path)).json()["seq"]
        waiting = asyncio.create_task(server.people.get(path, params={"changed_after": known}))
        await server.says(RINA, "elsewhere", SUPPORT_GROUP_ID)
        for _ in range(3):  # time for an answer that must not come
            await server.people.get(path)
        assert not waiting.done()
        await server.says(EMMA, "after")
        told = (await waiting).json()
        nothing = await server.people.get(path, params={"changed_after": told["seq"], "changed_within": 0.05})
    assert [message["text"] for message in told["messages"]] == ["before", "after"]
    assert nothing.json() == told


async def test_a_bot_that_is_no_administrator_hears_only_what_is_meant_for_it() -> None:
    async with running() as server:
        await server.posts(f"/sandbox/chats/{SUPPORT_GROUP_ID}/bot", {"from": OSCAR, "status": "member"})
        for text in ("among us", "/help", "hey @kirim_sandbox_bot"):
            await server.says(OSCAR, text, SUPPORT_GROUP_ID)
        heard = [update["message"]["text"] for update in await server.hears() if "message" in update]
    assert heard == ["/help", "hey @kirim_sandbox_bot"]
