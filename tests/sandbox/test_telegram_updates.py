"""Delivery of updates to the bot: offsets, long polls and conflicts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.sandbox.bot_api import methods
from bot.sandbox.bot_api.calls import ApiError
from bot.sandbox.bot_api.updates import UpdateQueue
from bot.sandbox.bot_api.world import Journal, World
from bot.sandbox.telegram import TelegramSandboxSettings
from tests.sandbox.telegram_sandbox import EMMA, SARI, running
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


async def test_a_negative_offset_keeps_the_newest_and_a_limit_gives_the_oldest() -> None:
    async with running() as server:
        for number in range(5):
            await server.says(EMMA, str(number))
        limited = await server.hears(limit=2)
        newest = await server.hears(offset=-2)
        rest = await server.hears()
    assert [update["message"]["text"] for update in limited] == ["0", "1"]
    assert [update["message"]["text"] for update in newest] == ["3", "4"]
    assert rest == newest


async def test_updates_are_forgotten_after_a_day() -> None:
    async with running() as server:
        await server.says(EMMA, "old")
        server.clock.pass_(hours=24, seconds=1)
        await server.says(EMMA, "new")
        assert [update["message"]["text"] for update in await server.hears()] == ["new"]


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


async def test_of_two_long_polls_one_ends_with_a_conflict_and_one_gets_the_update(for_ever: int) -> None:
    async with running() as server, asyncio.timeout(TIMEOUT_SECONDS):
        polls = {asyncio.create_task(server.calls("getUpdates", timeout=for_ever)) for _ in range(2)}
        (ended,), (waiting,) = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
        await server.says(EMMA, "/start")
        conflict, updates = (await ended).json(), (await waiting).json()["result"]
    assert conflict["error_code"] == 409
    assert conflict["description"] == (
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    )
    assert len(updates) == 1


async def test_a_webhook_ends_a_poll_that_waits() -> None:
    queue = UpdateQueue(World(TelegramSandboxSettings(), Journal(None)), [])
    poll = asyncio.create_task(queue.poll(0, 100, 30))
    await asyncio.sleep(0)
    queue.end_poll_for_webhook()
    with pytest.raises(ApiError, match="terminated by setWebhook request"):
        await poll


async def test_polling_beside_a_webhook_is_a_conflict() -> None:
    async with running() as server:
        await server.calls("setWebhook", url="https://127.0.0.1:1/")
        body = (await server.calls("getUpdates")).json()
    assert body["error_code"] == 409
    assert body["description"].startswith("Conflict: can't use getUpdates method while webhook is active")


async def test_only_wanted_kinds_of_updates_are_kept() -> None:
    async with running() as server:
        await server.hears(allowed_updates=["callback_query"])
        await server.says(EMMA, "not wanted")
        assert await server.hears() == []
        await server.hears(allowed_updates=[])
        await server.says(EMMA, "wanted")
        assert len(await server.hears()) == 1


async def test_a_changed_language_shows_in_the_next_message() -> None:
    async with running() as server:
        await server.says(SARI, "satu")
        await server.people.patch(f"/sandbox/people/{SARI}", json={"language_code": "en"})
        await server.says(SARI, "two")
        languages = [update["message"]["from"]["language_code"] for update in await server.hears()]
    assert languages == ["id", "en"]


async def test_a_corrected_message_is_an_update_of_its_own() -> None:
    async with running() as server:
        sent_message = await server.says(EMMA, "50rb")
        order = {"from": EMMA, "message_id": sent_message["message_id"], "text": "500rb"}
        await server.posts(f"/sandbox/chats/{EMMA}/edit", order)
        edited = (await server.hears())[-1]["edited_message"]
    assert (edited["text"], "edit_date" in edited) == ("500rb", True)
