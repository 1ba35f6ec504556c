"""Limits, faults and the log of calls: what a test sets, and how it affects the bot."""

from __future__ import annotations

from typing import Any

from bot.sandbox.telegram import Limits
from tests.sandbox.telegram_sandbox import EMMA, SARI, Running, running


async def sent_until_refused(server: Running, chat: int, most: int) -> tuple[int, dict[str, Any]]:
    for count in range(most):
        body = (await server.calls("sendMessage", chat_id=chat, text=str(count))).json()
        if not body["ok"]:
            return count, body
    return most, {}


async def test_a_chat_takes_a_small_burst_then_one_message_a_second() -> None:
    async with running(limits=Limits(chat_burst=3)) as server:
        await server.says(EMMA, "/start")
        count, refused = await sent_until_refused(server, EMMA, 10)
        server.clock.pass_(seconds=1)
        next_second, _ = await sent_until_refused(server, EMMA, 10)
    assert (count, next_second) == (3, 1)
    assert refused == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 1",
        "parameters": {"retry_after": 1},
    }


async def sent_to_each(server: Running, chats: list[int], *texts: str) -> list[bool]:
    """Send the texts in turn to chats, and return which messages were accepted."""
    calls = [server.calls("sendMessage", chat_id=chat, text=texts[n % len(texts)]) for n, chat in enumerate(chats)]
    return [(await call).json()["ok"] for call in calls]


async def test_only_bulk_is_limited_to_thirty_a_second_if_that_is_how_the_document_is_read() -> None:
    limits = Limits(chat_burst=1_000, total_applies_to="bulk")
    async with running(limits=limits) as server:
        chats = await server.posts("/sandbox/crowd", {"count": 50}, "ids")
        bulk = await sent_to_each(server, chats, "To all")
        each_their_own = await sent_to_each(server, chats, *(f"Payment {chat} arrived" for chat in chats))
        server.clock.pass_(seconds=61)
        in_turn = await sent_to_each(server, chats, "Selamat pagi", "Good morning")
        server.clock.pass_(seconds=61)
        for chat in chats:
            await server.says(chat, "/send")
        answers = await sent_to_each(server, chats, "To whom?")
        paid = await server.calls("sendMessage", chat_id=chats[0], text="To all", allow_paid_broadcast=True)
    assert bulk == [True] * 31 + [False] * 19, "the first isn't recognised"
    assert all(each_their_own)
    assert in_turn == [True] * 32 + [False] * 18, "two languages, two first messages"
    assert all(answers)
    assert paid.json()["ok"]


async def test_what_the_total_counts_can_be_changed_while_running() -> None:
    async with running(limits=Limits(chat_burst=1_000)) as server:
        chats = await server.posts("/sandbox/crowd", {"count": 40}, "ids")
        texts = [str(number) for number in range(40)]
        counted = await sent_to_each(server, chats, *texts)
        await server.posts("/sandbox/limits", {"total_applies_to": "bulk"})
        uncounted = await sent_to_each(server, chats, *(f"again {each}" for each in texts))
        wrong = await server.people.post("/sandbox/limits", json={"total_applies_to": "some"})
        limits = (await server.people.get("/sandbox/limits")).json()
    assert (sum(counted), sum(uncounted)) == (30, 40)
    assert (wrong.status_code, wrong.json()) == (400, {"error": "total_applies_to: all or bulk"})
    assert limits["total_applies_to"] == "bulk"


async def test_faults_are_for_the_calls_they_name_and_can_be_listed_and_cleared() -> None:
    async with running() as server:
        for person in (EMMA, SARI):
            await server.says(person, "/start")
        await server.posts("/sandbox/faults", {"fault": "429", "retry_after": 7, "chat_id": SARI})
        await server.posts("/sandbox/faults", {"fault": "500", "method": "sendChatAction"})
        await server.posts("/sandbox/faults", {"fault": "html", "method": "getMe", "times": 1})
        sari = (await server.calls("sendMessage", chat_id=SARI, text="x")).json()
        emma = (await server.calls("sendMessage", chat_id=EMMA, text="x")).json()
        broken = await server.calls("sendChatAction", chat_id=EMMA, action="typing")
        page, me = await server.calls("getMe"), await server.calls("getMe")
        listed = (await server.people.get("/sandbox/faults")).json()["faults"]
        await server.people.delete("/sandbox/faults")
        healed = (await server.calls("sendMessage", chat_id=SARI, text="x")).json()
        nonsense = await server.people.post("/sandbox/faults", json={"fault": "earthquake"})
    assert (sari["parameters"], emma["ok"], healed["ok"]) == ({"retry_after": 7}, True, True)
    assert (broken.status_code, page.status_code, me.status_code) == (500, 502, 200)
    assert page.text.startswith("<html>")
    assert len(listed) == 3
    assert nonsense.status_code == 400
