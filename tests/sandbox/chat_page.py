"""The chat page in a real Chromium, with both sandboxes over real HTTP, and a bot that the tests control.

Opening a tab costs more than most tests do with it, so those of a module share one, and its two addresses. Each test
has sandboxes of its own behind them.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from playwright.async_api import expect
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders

from bot.sandbox import page, settlement, telegram
from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA, new_bot
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import Browser, Locator, Page, ViewportSize
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from telegram import Bot

KEY = {"x-api-key": settlement.SANDBOX_API_KEY}
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
BLANK = "/nothing"
"""What the tab shows between two tests: a 404. A page of another site would have a process of its own."""
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA", "recipientDetails": "1234567890"}


@dataclass
class ChatPage:
    """The page in a browser. `emma` is her part of the page."""

    page: Page
    emma: Locator
    bot: Bot
    service: httpx.AsyncClient

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


async def _at_once(_path: str) -> None:
    pass


class Exchangeable:
    """An application that is another one for each test. `before` is awaited with the path of each request."""

    def __init__(self) -> None:
        """Serve nothing yet."""
        self._app: ASGIApp = Starlette()
        self.before: Callable[[str], Awaitable[None]] = _at_once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the present application does, and let the browser keep the page's files, which don't change."""

        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["cache-control"] = "max-age=3600"
            await send(message)

        # The server's own start and end aren't those of an application.
        app = self._app if scope["type"] == "http" else Starlette()
        path = scope.get("path", "")
        await self.before(path)
        await app(scope, receive, kept if path.startswith("/static/") else send)

    @asynccontextmanager
    async def serves(self, app: Starlette) -> AsyncIterator[None]:
        """Serve this application within the block."""
        async with app.router.lifespan_context(app):
            self._app = app
            try:
                yield
            finally:
                self._app, self.before = Starlette(), _at_once


@dataclass(frozen=True)
class Host:
    """A tab, and what serves its page and the settlement sandbox. `troubles` are the browser's errors."""

    tab: Page
    page: Exchangeable
    page_url: str
    service: Exchangeable
    service_url: str
    troubles: list[str]


@asynccontextmanager
async def open_host(browser: Browser) -> AsyncIterator[Host]:
    """Open a tab, and serve nothing yet."""
    shown, service = Exchangeable(), Exchangeable()
    async with (
        serving(service) as service_url,
        serving(shown) as url,
        await browser.new_context(viewport=DESKTOP) as context,
    ):
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        tab = await context.new_page()
        troubles: list[str] = []
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda line: troubles.append(line.text) if "Content Security" in line.text else None)
        await tab.goto(url + BLANK)
        yield Host(tab, shown, url, service, service_url, troubles)


@asynccontextmanager
async def running_chat(host: Host) -> AsyncIterator[ChatPage]:
    """Show the page of new sandboxes in the tab. At the end, assert no errors."""
    people = telegram.TelegramSandboxSettings(limits=telegram.Limits(enforce=False))
    by_hand = settlement.SettlementSandboxSettings(speed_seconds=None)
    tab = host.tab
    host.troubles.clear()
    async with (
        host.service.serves(settlement.create_app(by_hand)),
        host.page.serves(telegram.create_app(people, page.routes(host.service))),
        httpx.AsyncClient(base_url=host.service_url, trust_env=False) as service,
        new_bot(host.page_url, people.bot_token) as bot,
    ):
        await tab.evaluate("localStorage.clear()")
        await tab.set_viewport_size(DESKTOP)
        # Animations cost much processor time, and no script waits for one.
        await tab.emulate_media(color_scheme="light", reduced_motion="reduce")
        try:
            await tab.goto(host.page_url)
            await tab.wait_for_selector("body[data-ready]")
            yield ChatPage(tab, tab.get_by_test_id(f"pane-{EMMA}"), bot, service)
            assert host.troubles == []
        finally:
            # The page asks for news all the time.
            await tab.goto(host.page_url + BLANK)
