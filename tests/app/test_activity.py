"""A chat shows that the bot is at work if an answer takes longer than a second."""

import asyncio
from typing import Any, cast

from bot.infra.telegram.outcomes import Delivered, Outcome, TryLater
from bot.updates import MOST_ACTIVE_CHATS, ActivityIndicator
from tests.virtual_time import in_virtual_time

EMMA = 1001


class Telegram:
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.shown: list[tuple[int, float]] = []

    async def show_typing(self, chat_id: int) -> Outcome:
        self.shown.append((chat_id, asyncio.get_running_loop().time()))
        return self.outcome


async def _work(seconds: float, outcome: Outcome, chats: int = 1) -> list[float]:
    """Return after how many seconds of work it was shown."""
    telegram = Telegram(outcome)
    indicator, began = ActivityIndicator(cast("Any", telegram)), asyncio.get_running_loop().time()

    async def work(chat_id: int) -> None:
        async with indicator.show_in(chat_id):
            await asyncio.sleep(seconds)

    await asyncio.gather(*(work(EMMA + number) for number in range(chats)))
    await asyncio.sleep(60)
    return [at - began for _, at in telegram.shown]


@in_virtual_time
async def test_a_quick_answer_shows_nothing() -> None:
    assert await _work(0.9, Delivered()) == []


@in_virtual_time
async def test_a_slow_answer_is_shown_from_the_first_second_until_its_end() -> None:
    assert await _work(11.0, Delivered()) == [1.0, 5.5, 10.0]


@in_virtual_time
async def test_it_isnt_repeated_where_telegram_rejects_it() -> None:
    assert await _work(20.0, TryLater(3.0)) == [1.0]


@in_virtual_time
async def test_only_some_chats_show_it_at_once() -> None:
    assert len(await _work(2.0, Delivered(), chats=MOST_ACTIVE_CHATS + 30)) == MOST_ACTIVE_CHATS
