"""The panel's list of replicas in a real Chromium, with a program in place of the bot.

`SCREENSHOTS=folder` saves screenshots.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from bot.sandbox import page, settlement, telegram
from bot.sandbox.replicas import Replicas
from tests.e2e.chat_page import DESKTOP, PHONE, Viewer, first_of, open_address, save_screenshot
from tests.sandbox.serving import serving
from tests.sandbox.stand_in import COMMAND
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ON_A_DESKTOP = Viewer("replicas-desktop", 2001, DESKTOP)
VIEWERS = [Viewer("replicas-phone", 2001, PHONE, dark=True), ON_A_DESKTOP]


@asynccontextmanager
async def open_panel(browser: Browser, state: Path, *, count: int, who: Viewer = ON_A_DESKTOP) -> AsyncIterator[Page]:
    """Open the page of a sandbox with this many replicas. The panel is closed."""
    replicas, stop = Replicas(count, state, COMMAND), asyncio.Event()
    task = asyncio.create_task(replicas.run({}, stop))
    people = telegram.TelegramSandboxSettings(limits=telegram.Limits(enforce=False))
    service = settlement.create_app(settlement.SettlementSandboxSettings())
    async with (
        serving(telegram.create_app(people, page.routes(service, replicas))) as url,
        open_address(browser, url, who) as tab,
    ):
        yield tab
    stop.set()
    await task


def get_process(state: Path, number: int) -> str:
    """Return the number of a replica's process, or nothing while it is being started."""
    return (state / f"replica-{number}.lock").read_text()


async def show(row: Locator, state: str) -> None:
    await expect(row.get_by_test_id("replica-state")).to_have_text(state)


@pytest.mark.parametrize("who", first_of(VIEWERS), ids=lambda who: who.name)
async def test_an_operator_kills_freezes_and_restarts_replicas(browser: Browser, tmp_path: Path, who: Viewer) -> None:
    async with open_panel(browser, tmp_path, count=3, who=who) as tab:
        await tab.get_by_test_id("tab-service" if who.screen == PHONE else "service-toggle").click()
        first, second, third = (tab.get_by_test_id(f"replica-{number}") for number in (1, 2, 3))
        for row in (first, second, third):
            await show(row, "running")
            await expect(row.get_by_test_id("replica-leader")).to_have_text("leader")
            await expect(row.get_by_test_id("replica-chats")).to_have_text("3")
        await first.get_by_role("button", name="Kill replica 1").click()
        await show(first, "dead")
        await expect(first.get_by_test_id("replica-chats")).to_have_text("\N{EN DASH}")
        await expect(first.get_by_test_id("replica-freeze")).to_be_disabled()
        await second.get_by_role("button", name="Freeze replica 2").click()
        await show(second, "frozen")
        await save_screenshot(tab, who, "killed")
        # On a phone the panel would scroll to the side.
        assert await tab.get_by_test_id("service").evaluate("panel => panel.scrollWidth <= panel.clientWidth")
        await second.get_by_role("button", name="Continue replica 2").click()
        await show(second, "running")
        await first.get_by_role("button", name="Start replica 1").click()
        await show(first, "running")
        before = get_process(tmp_path, 3)
        await third.get_by_role("button", name="Restart replica 3").click()

        async def is_another() -> bool:
            return get_process(tmp_path, 3) not in {"", before}

        await until(is_another)
        await show(third, "running")
