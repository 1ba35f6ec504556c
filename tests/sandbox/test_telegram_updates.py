"""Delivery of updates to the bot: offsets, long polls and conflicts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.sandbox.bot_api import methods
from tests.sandbox.telegram_sandbox import EMMA, running
from tests.waiting import TIMEOUT_SECONDS


def ids(updates: list[dict[str, Any]]) -> list[int]:
    return [update["update_id"] for update in updates]


async def test_updates_stay_until_a_later_offset_acknowledges_them() -> None:
    async with running() as server:
        for text in ("/start", "b", "c"):
            await server.says(EMMA, text)
        first = await server.hears()
        again = await server.hears(offset=first[0]["update_id"])
        later = await server.hears(offset=first[1]["update_id"])
        back = await server.hears()
    assert ids(first) == ids(again)
    assert [update["message"]["text"] for update in first] == ["/start", "b", "c"]
    assert ids(later) == ids(back) == ids(first)[1:]


@pytest.fixture
def for_ever(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a long wait for tests of polls that end earlier."""
    seconds = int(10 * TIMEOUT_SECONDS)
    monkeypatch.setattr(methods, "MAX_WAIT_SECONDS", seconds)
    return seconds


async def test_a_long_poll_ends_as_soon_as_somebody_writes(for_ever: int) -> None:
    async with running() as server:
        poll = asyncio.create_task(server.hears(timeout=for_ever))
        await asyncio.sleep(0)
        await server.says(EMMA, "/start")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            updates = await poll
    assert updates[0]["message"]["from"]["language_code"] == "en"


async def test_only_wanted_kinds_of_updates_are_kept() -> None:
    async with running() as server:
        await server.hears(allowed_updates=["callback_query"])
        await server.says(EMMA, "not wanted")
        assert await server.hears() == []
        await server.hears(allowed_updates=[])
        await server.says(EMMA, "wanted")
        assert len(await server.hears()) == 1
