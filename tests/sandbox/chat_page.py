"""The chat page in a real Chromium, with both sandboxes over real HTTP, and a bot that the tests control."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from playwright.async_api import expect

from bot.sandbox import page, settlement, telegram
from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA, new_bot
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Locator, Page
    from telegram import Bot

KEY = {"x-api-key": settlement.SANDBOX_API_KEY}
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA", "recipientDetails": "1234567890"}


@dataclass
class ChatPage:
    """The page in a browser. `emma` is her part of the page. `troubles` are the browser's errors."""

    page: Page
    emma: Locator
    bot: Bot
    service: httpx.AsyncClient
    troubles: list[str]

    async def emma_says_hello(self) -> None:
        # A bot can't write to users who have never written to it.
        await self.emma.get_by_test_id("start").click()
        await expect(self.emma.get_by_test_id("message")).to_have_count(1)

    async def orders(self, **more: Any) -> dict[str, Any]:
        answer = await self.service.post("/v1/offramp/orders", headers=KEY, json={**BCA, "idrAmount": 500_000, **more})
        order: dict[str, Any] = answer.json()
        return order

    async def control(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.service.get(f"/control/{path}")).json()
        return answer

    async def state_of(self, order: dict[str, Any]) -> dict[str, Any]:
        answer = await self.service.get("/control/orders", params={"orderId": order["orderId"]})
        state: dict[str, Any] = answer.json()["orders"][0]
        return state


@asynccontextmanager
async def running_chat(browser: Browser) -> AsyncIterator[ChatPage]:
    people = telegram.TelegramSandboxSettings(limits=telegram.Limits(enforce=False))
    by_hand = settlement.SettlementSandboxSettings(speed_seconds=None)
    async with (
        serving(settlement.create_app(by_hand)) as service_url,
        serving(telegram.create_app(people, page.routes(service_url))) as url,
        httpx.AsyncClient(base_url=service_url, trust_env=False) as service,
        new_bot(url, people.bot_token) as bot,
        await browser.new_context(viewport={"width": 1440, "height": 900}) as context,
    ):
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        tab = await context.new_page()
        troubles: list[str] = []
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda line: troubles.append(line.text) if "Content Security" in line.text else None)
        await tab.goto(url)
        await tab.wait_for_selector("body[data-ready]")
        yield ChatPage(tab, tab.get_by_test_id(f"pane-{EMMA}"), bot, service, troubles)
