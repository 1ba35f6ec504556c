"""Steps on the chat page in a real browser.

`SCREENSHOTS=folder` saves screenshots of each step.
"""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from bot.sandbox.telegram import TelegramSandboxSettings
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, until

DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
BOT_ID = TelegramSandboxSettings().bot_id
Pictures = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None


@dataclass(frozen=True)
class Viewer:
    """The user whose chat is open, their language, and the size of the screen."""

    name: str
    user: int
    screen: ViewportSize
    dark: bool = False
    locale: str = "en"

    def label(self, key: str, /, **arguments: object) -> str:
        """Return the text of a button or heading with this key."""
        return label(key, self.locale, **arguments)

    def reads(self, key: str, /, **given: object) -> re.Pattern[str]:
        """Return a pattern for the message of `key`. The page can break its lines at other places."""
        return re.compile(re.sub(r"(?:\\\s)+", r"\\s*", like(key, self.locale, **given)))


V = TypeVar("V", bound=Viewer)


def first_of(viewers: list[V]) -> list[V]:
    """Return the viewer who goes through a story, or all of them if screenshots are saved.

    What a language can break is tested for every screen, and by stories in the process. Only a story whose messages
    have to fit on a screen needs each language here.
    """
    return viewers if Pictures else viewers[:1]


async def wait_for_users(page: Page, kirim: System) -> None:
    """Wait until the page shows the current users. It reloads for a new user or another language."""
    people = (await kirim.telegram.get("/sandbox/state")).raise_for_status().json()["people"]
    drawn = ",".join(f"{each['id']} {each['language_code']}" for each in people)
    await expect(page.locator("body")).to_have_attribute("data-people", drawn)


async def show_chat(page: Page, kirim: System, place: int) -> None:
    """Select the chat of a user."""
    await wait_for_users(page, kirim)
    await page.get_by_test_id(f"show-{place}").click()


async def pay_in_wallet(page: Page, who: Viewer) -> None:
    if who.screen == PHONE:
        await page.get_by_test_id("tab-wallet").click()
    wallet = page.get_by_test_id(f"wallet-{who.user}")
    await wallet.get_by_test_id("wallet-scan").click()
    await expect(wallet.get_by_test_id("wallet-pay")).to_be_enabled()
    await save_screenshot(page, who, "wallet")
    await wallet.get_by_test_id("wallet-pay").click()
    await expect(wallet.get_by_test_id("wallet-status")).to_be_visible()
    if who.screen == PHONE:
        await page.get_by_test_id("tab-chat").click()


async def send_text(pane: Locator, text: str) -> None:
    # Only what people wrote is counted: the bot deletes its answered questions at any time.
    written = pane.locator(f'[data-testid="message"]:not([data-from="{BOT_ID}"])')
    before = await written.count()
    await pane.get_by_test_id("composer").fill(text)
    await pane.get_by_test_id("send").click()
    await expect(written.nth(before)).to_be_visible()


async def tap_button(pane: Locator, button: str) -> None:
    await pane.get_by_test_id("inline-button").filter(has_text=button).last.click()


def last_message(pane: Locator, text: str | re.Pattern[str]) -> Locator:
    return pane.get_by_test_id("message").filter(has_text=text).last


async def wait_until_on_screen(pane: Locator, first: Locator, last: Locator) -> None:
    """Wait until all from the top of `first` to the bottom of `last` is between the chat's header and its input."""
    messages = pane.get_by_role("log")

    async def fits() -> bool:
        boxes = [await shown.bounding_box() for shown in (messages, first, last)]
        chat, top, bottom = (box for box in boxes if box is not None)
        return chat["y"] <= top["y"] and bottom["y"] + bottom["height"] <= chat["y"] + chat["height"]

    await until(fits, what="both on the screen")


async def save_screenshot(page: Page, who: Viewer, step: str) -> None:
    if Pictures is not None:
        Pictures.mkdir(parents=True, exist_ok=True)
        await page.wait_for_timeout(400)
        await page.screenshot(path=Pictures / f"{who.name}-{step}.png")


@asynccontextmanager
async def open_page(browser: Browser, kirim: System, who: Viewer) -> AsyncIterator[Page]:
    async with open_address(browser, kirim.addresses.page, who) as page:
        yield page


@asynccontextmanager
async def open_address(browser: Browser, address: str, who: Viewer) -> AsyncIterator[Page]:
    colours: Literal["dark", "light"] = "dark" if who.dark else "light"
    # Animations cost much processor time, and no script waits for one.
    async with await browser.new_context(viewport=who.screen, color_scheme=colours, reduced_motion="reduce") as context:
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        page = await context.new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        await page.goto(address)
        await expect(page.locator("body[data-ready]")).to_be_attached()
        yield page
        assert troubles == []
