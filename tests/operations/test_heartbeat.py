"""The outside watcher is called only while the bot can do its work. Its address is a secret."""

from collections.abc import Callable
from typing import Any, cast

import httpx
import pytest
import structlog
from telegram.error import NetworkError

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.operations.heartbeat import INTERVAL_SECONDS, Heartbeat

URL = "https://watcher.example/ping/s3cret"


class FakeBot:
    """A bot that reaches Telegram, or doesn't."""

    def __init__(self, *, is_connected: bool = True) -> None:
        self._is_connected = is_connected

    async def get_me(self) -> None:
        if not self._is_connected:
            raise NetworkError("no route to s3cret")


async def call_watcher(
    database: Database, answer: Callable[[httpx.Request], httpx.Response], *, is_connected: bool = True
) -> list[str]:
    """Let a heartbeat happen. Return why the watcher wasn't called."""
    heartbeat = Heartbeat(
        database, cast("Any", FakeBot(is_connected=is_connected)), URL, transport=httpx.MockTransport(answer)
    )
    with structlog.testing.capture_logs() as logs:
        assert await heartbeat.tick() == INTERVAL_SECONDS
    assert "s3cret" not in repr(logs)
    return [str(line["reason"]) for line in logs]


async def test_a_bot_that_works_calls_the_watcher(store: Database) -> None:
    calls: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return httpx.Response(200)

    assert await call_watcher(store, answer) == []
    assert [(call.method, str(call.url)) for call in calls] == [("GET", URL)]


async def test_a_bot_that_does_not_reach_telegram_is_silent(store: Database) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        pytest.fail("the watcher was called")

    assert await call_watcher(store, answer, is_connected=False) == ["NetworkError"]


async def test_a_bot_without_its_database_is_silent(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails() -> bool:
        raise StoreDown("gone")

    def answer(_: httpx.Request) -> httpx.Response:
        pytest.fail("the watcher was called")

    monkeypatch.setattr(store, "has_usable_tables", fails)
    assert await call_watcher(store, answer) == ["StoreDown"]


async def test_a_watcher_that_fails_is_reported_and_called_again(store: Database) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(404)

    def break_off(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"no route to {URL}", request=request)

    assert await call_watcher(store, refuse) == ["the watcher answered 404"]
    assert await call_watcher(store, break_off) == ["ConnectError"]
