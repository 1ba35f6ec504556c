"""Many users at once beside a broadcast, under both readings of Telegram's limit of 30 messages a second."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.broadcasts.subscribers import add_confirmed_broadcast, add_subscribers, count_messages, wait_for_report
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.system import System, running_system
from tests.texts import says
from tests.waiting import found

USERS, READERS = 60, 15
PER_SECOND, LESS_PER_SECOND = 30, 5
TYPED = ("/send", "bca")
ANSWERS = ("checkout.destination.ask", "checkout.number.ask_bank")
"""Each is a message below what was typed. The first goes when the second is there."""

TOO_MANY = 429


@pytest.mark.parametrize("counted", ["all", "bulk"])
async def test_many_users_beside_a_broadcast_get_all_answers_in_order(tmp_path: Path, counted: str) -> None:
    async with running_system(tmp_path) as kirim:
        await kirim.oscar.says("/start")
        users = [await new_user(kirim) for _ in range(USERS)]
        readers = await add_subscribers(kirim, READERS)
        # A slow machine might not exceed 30 a second, so Telegram begins with less.
        await limit_total(kirim, counted, PER_SECOND if counted == "bulk" else LESS_PER_SECOND)
        broadcast = await add_confirmed_broadcast(kirim)
        await asyncio.gather(*(user.says_all(TYPED) for user in users))
        if counted == "all":
            await found(partial(rejected_chats, kirim), bool, what="a rejection")
            await limit_total(kirim, counted)
        await found(partial(answered, kirim, users), lambda done: done == USERS, what="all answers")
        assert await wait_for_report(kirim, broadcast) == {"delivered": READERS}
        assert set((await count_messages(kirim, readers)).values()) == {1}
        for user in users:
            await check_answers(kirim, user)
        sent = [call for call in await answer_calls(kirim) if call["chat_id"] != kirim.oscar.id]
        rejected = sum(call["error_code"] == TOO_MANY for call in sent)
        assert (rejected > 0) == (counted == "all"), rejected


async def limit_total(kirim: System, counted: str, per_second: int = PER_SECOND) -> None:
    """Let Telegram limit only the total."""
    limits = {"total_per_second": per_second, "total_applies_to": counted, "chat_per_second": 100, "chat_burst": 100}
    (await kirim.telegram.post("/sandbox/limits", json={"enforce": True, **limits})).raise_for_status()


async def rejected_chats(kirim: System) -> set[int]:
    """Return the chats in which Telegram has rejected a message, without that of the broadcast's live message."""
    rejected = {call["chat_id"] for call in await kirim.calls("sendMessage") if call["error_code"] == TOO_MANY}
    return rejected - {kirim.oscar.id}


async def answered(kirim: System, users: Sequence[ChatUser]) -> int:
    """Return how many of the users got all their answers."""
    shown = Counter(call["chat_id"] for call in await answer_calls(kirim) if call["ok"])
    return sum(shown[user.id] >= len(ANSWERS) for user in users)


async def answer_calls(kirim: System) -> list[Json]:
    """Return the calls that show an answer."""
    return await kirim.calls("sendMessage")


async def check_answers(kirim: System, user: ChatUser) -> None:
    """Check that the user was shown each answer once, in order, and that the last one is left."""
    told = await kirim.telegram.get(f"/sandbox/chats/{user.id}/messages", params={"shown_after": 0})
    shown = [each for each in told.raise_for_status().json()["shown"] if each["from"]["id"] != user.id]
    texts = [version["text"] for version in shown]
    assert len(texts) == len(ANSWERS), texts
    assert all(says(text, key) for text, key in zip(texts, ANSWERS, strict=True)), texts
    await found(partial(questions_of, user), lambda left: left == shown[-1:], what="the end of the first question")


async def questions_of(user: ChatUser) -> list[Json]:
    """Return the messages of the bot in the chat."""
    return [each for each in await user.messages() if each["from"]["id"] != user.id]
