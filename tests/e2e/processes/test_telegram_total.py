"""Many users at once beside a broadcast, under both readings of Telegram's limit of 30 messages a second."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.broadcasts.subscribers import add_confirmed_broadcast, add_subscribers, count_messages, wait_for_report
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.system import System, running_system
from tests.texts import says
from tests.waiting import found

USERS, READERS = 60, 20
TYPED = ("/send", "bca")
ANSWERS = ("checkout.destination.ask", "checkout.number.ask_bank")
TOO_MANY = 429


@pytest.mark.parametrize("counted", ["all", "bulk"])
async def test_many_users_beside_a_broadcast_get_all_answers_in_order(tmp_path: Path, counted: str) -> None:
    async with running_system(tmp_path) as kirim:
        await kirim.oscar.says("/start")
        users = [await new_user(kirim) for _ in range(USERS)]
        readers = await add_subscribers(kirim, READERS)
        only_the_total = {"enforce": True, "total_applies_to": counted, "chat_per_second": 100, "chat_burst": 100}
        (await kirim.telegram.post("/sandbox/limits", json=only_the_total)).raise_for_status()
        broadcast = await add_confirmed_broadcast(kirim)
        await asyncio.gather(*(user.says_all(TYPED) for user in users))
        await found(partial(answered, kirim, users), lambda done: done == USERS, what="all answers")
        assert await wait_for_report(kirim, broadcast) == {"delivered": READERS}
        assert set((await count_messages(kirim, readers)).values()) == {1}
        for user in users:
            texts = [message["text"] for message in await user.messages() if message["from"]["id"] != user.id]
            assert len(texts) == len(ANSWERS), texts
            assert all(says(text, key) for text, key in zip(texts, ANSWERS, strict=True)), texts
        sent = [call for call in await kirim.calls("sendMessage") if call["chat_id"] != kirim.oscar.id]
        rejected = sum(call["error_code"] == TOO_MANY for call in sent)
        assert (rejected > 0) == (counted == "all"), rejected


async def answered(kirim: System, users: Sequence[ChatUser]) -> int:
    """Return how many of the users got all their answers."""
    sent = Counter(call["chat_id"] for call in await kirim.calls("sendMessage") if call["ok"])
    return sum(sent[user.id] >= len(ANSWERS) for user in users)
