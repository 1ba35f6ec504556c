"""Starts the sandbox's Telegram on a free port, with a bot of python-telegram-bot and users for tests."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
from telegram import Bot
from telegram.request import HTTPXRequest

from bot.sandbox.telegram import Limits, TelegramSandboxSettings, create_app
from tests.sandbox.serving import serving
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

EMMA, SARI, OSCAR, RINA = 1001, 1002, 2001, 3001


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_(self, **span: float) -> None:
        self.time += timedelta(**span)


@dataclass
class Running:
    """A running server. `people` calls the person API."""

    url: str
    bot: Bot
    people: httpx.AsyncClient
    clock: Clock
    settings: TelegramSandboxSettings

    async def says(self, person: int, text: str, chat: int | None = None, **more: Any) -> dict[str, Any]:
        order = {"from": person, "text": text, **more}
        message: dict[str, Any] = await self.posts(f"/sandbox/chats/{chat or person}/send", order, "message")
        return message

    async def posts(self, path: str, order: dict[str, Any], field: str | None = None) -> Any:
        answer = await self.people.post(path, json=order)
        assert answer.is_success, answer.text
        return answer.json()[field] if field else answer.json()

    async def hears(self, **params: Any) -> list[dict[str, Any]]:
        """Return what the bot gets from getUpdates."""
        answer = await self.calls("getUpdates", **params)
        assert answer.is_success, answer.text
        updates: list[dict[str, Any]] = answer.json()["result"]
        return updates

    async def presses(self, person: int, message_id: int, data: str, **more: Any) -> dict[str, Any]:
        order = {"from": person, "message_id": message_id, "data": data, "timeout": 0, **more}
        chat = order.pop("chat", person)
        answer: dict[str, Any] = await self.posts(f"/sandbox/chats/{chat}/press", order)
        return answer

    async def sees(self, chat: int) -> list[dict[str, Any]]:
        answer = await self.people.get(f"/sandbox/chats/{chat}/messages")
        messages: list[dict[str, Any]] = answer.json()["messages"]
        return messages

    async def calls(self, method: str, **params: Any) -> httpx.Response:
        return await self.people.post(f"/bot{self.settings.bot_token}/{method}", json=params)


def new_bot(url: str, token: str) -> Bot:
    requests = [HTTPXRequest(httpx_kwargs={"trust_env": False, "verify": False}) for _ in range(2)]
    return Bot(token, f"{url}/bot", f"{url}/file/bot", request=requests[0], get_updates_request=requests[1])


@asynccontextmanager
async def running(**changes: Any) -> AsyncIterator[Running]:
    """Yield a server without limits (unless given) and a ready bot."""
    clock = Clock()
    base = TelegramSandboxSettings(limits=Limits(enforce=False), clock=clock)
    settings = replace(base, **changes)
    async with (
        serving(create_app(settings)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=3 * TIMEOUT_SECONDS) as people,
        new_bot(url, settings.bot_token) as bot,
    ):
        yield Running(url, bot, people, clock, settings)
