"""Inline queries are answered from memory: the newest of each user, never saved, and never in the way of anything."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.telegram.inbound import inline_queries
from bot.infra.telegram.inbound.inline_queries import InlineQueries
from bot.infra.telegram.inbound.receiver import UpdateIntake
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import InlineAnswer, InlineQuery
from tests.infra.test_receiver import FakeQueues
from tests.settlement.fake_settlement import MovedClock

EMMA, SARI = 1001, 1002


class RecordingMessenger:
    """Records the answers."""

    def __init__(self) -> None:
        self.answered: list[str] = []

    async def answer_inline(self, query_id: str, _: InlineAnswer) -> Outcome:
        self.answered.append(query_id)
        return Delivered()


class HeldAnswers:
    """Answers queries once they are released."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.released = asyncio.Event()

    async def answer(self, query: InlineQuery) -> InlineAnswer:
        self.asked.append(query.text)
        if query.text == "broken":
            raise ValueError(query.text)
        await self.released.wait()
        return InlineAnswer()


def a_query(query_id: str, text: str = "", user_id: int = EMMA, **more: Any) -> dict[str, Any]:
    return {"id": query_id, "from": {"id": user_id, "is_bot": False}, "query": text, "offset": "", **more}


@pytest.fixture
async def held() -> HeldAnswers:
    return HeldAnswers()


@pytest.fixture
async def messenger() -> RecordingMessenger:
    return RecordingMessenger()


@pytest.fixture
async def queries(held: HeldAnswers, messenger: RecordingMessenger) -> AsyncIterator[InlineQueries]:
    made = InlineQueries(held.answer, messenger)  # type: ignore[arg-type]
    yield made
    await made.close()


async def rest(held: HeldAnswers, queries: InlineQueries) -> None:
    """Let all queries be answered."""
    await asyncio.sleep(0)
    held.released.set()
    await asyncio.gather(*queries._tasks.values(), return_exceptions=True)


async def test_only_the_newest_query_of_a_user_is_answered(
    held: HeldAnswers, queries: InlineQueries, messenger: RecordingMessenger
) -> None:
    for letter in range(1, 4):
        queries.submit(a_query(str(letter), "5" * letter))
        await asyncio.sleep(0)
    queries.submit(a_query("9", user_id=SARI))
    await rest(held, queries)
    assert messenger.answered == ["3", "9"]


async def test_a_query_that_fails_or_is_no_users_disturbs_no_other(
    held: HeldAnswers, queries: InlineQueries, messenger: RecordingMessenger
) -> None:
    queries.submit(a_query("1", "broken"))
    for wrong in ({"from": None}, {"from": {"id": SARI, "is_bot": True}}, {"id": 5}, {"query": None}):
        queries.submit(a_query("2", user_id=SARI) | wrong)
    queries.submit(a_query("3", user_id=SARI))
    await rest(held, queries)
    assert messenger.answered == ["3"]


async def test_a_crowd_that_types_is_left_out_beyond_a_limit(
    held: HeldAnswers, queries: InlineQueries, messenger: RecordingMessenger
) -> None:
    for user in range(inline_queries.MAX_AT_ONCE + 5):
        queries.submit(a_query(str(user), user_id=5000 + user))
    await rest(held, queries)
    assert len(messenger.answered) == inline_queries.MAX_AT_ONCE


async def test_a_query_reaches_no_inbox_and_the_messages_beside_it_do(
    store: Database, held: HeldAnswers, queries: InlineQueries, messenger: RecordingMessenger
) -> None:
    queues, written = FakeQueues(), {"update_id": 2, "message": {"chat": {"id": EMMA}, "text": "hello"}}
    intake = UpdateIntake(store, queues, MovedClock(), inline_queries=queries)
    await intake.save([{"update_id": 1, "inline_query": a_query("1", "secret")}, written])
    await rest(held, queries)
    assert (queues.submitted, messenger.answered) == ([2], ["1"])
    async with store.reading() as tx:
        assert await InboxRepository(tx).count_unfinished() == 1
