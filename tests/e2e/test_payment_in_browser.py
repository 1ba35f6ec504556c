"""What a newcomer does first, in a real browser: open the page, send rupiah, pay in the wallet, see them sent.

`SCREENSHOTS=folder` keeps pictures of the way.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.e2e.world import World, world
from tests.integration.chromium import chromium

pytestmark = pytest.mark.browser

DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
SEEN_WITHIN = 20_000.0
Pictures = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None


@dataclass(frozen=True)
class Words:
    """What a sender of this language reads."""

    send: str
    skip: str
    confirm: str
    review: str
    paid: str
    sent: str


ENGLISH = Words("Send rupiah", "Skip", "Confirm", "Please check", "Payment received", "have been sent to the bank")
INDONESIAN = Words(
    "Kirim rupiah", "Lewati", "Konfirmasi", "Periksa dulu", "Pembayaran diterima", "sudah dikirim ke bank"
)


@dataclass(frozen=True)
class Story:
    """Who pays, on what, with which service."""

    name: str
    person: int
    words: Words
    screen: ViewportSize
    profile: str
    dark: bool = False


STORIES = [
    Story("emma-desktop", 1001, ENGLISH, DESKTOP, "documented"),
    Story("sari-desktop-live", 1002, INDONESIAN, DESKTOP, "live", dark=True),
    Story("emma-phone-live", 1001, ENGLISH, PHONE, "live"),
    Story("sari-phone", 1002, INDONESIAN, PHONE, "documented"),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_a_newcomer_sends_rupiah_through_the_page(story: Story, tmp_path: Path) -> None:
    async with world(tmp_path, story.profile) as kirim, opened(kirim, story) as page:
        pane = page.get_by_test_id(f"pane-{story.person}")
        if story.screen == PHONE:
            await page.get_by_test_id(f"show-{story.person}").click()
        await walks_to_the_invoice(page, pane, story)
        await pays_in_the_wallet(page, story)
        await expect(last(pane, story.words.paid)).to_be_visible(timeout=SEEN_WITHIN)
        await picture(page, story, "paid")
        await kirim.service.does("settings", speedSeconds=0.1)
        await expect(last(pane, story.words.sent)).to_be_visible(timeout=SEEN_WITHIN)
        await picture(page, story, "sent")
        [order] = await kirim.service.orders()
        assert order["state"] == "COMPLETED"
        assert order["idrAmount"] == 500_000


async def walks_to_the_invoice(page: Page, pane: Locator, story: Story) -> None:
    await pane.get_by_test_id("start").click()
    await tap(pane, story.words.send)
    for answer in ("bca", "1234567890"):
        await says(pane, answer)
    await tap(pane, story.words.skip)
    await says(pane, "500rb")
    await expect(last(pane, story.words.review)).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, story, "review")
    await tap(pane, story.words.confirm)
    await expect(pane.get_by_test_id("photo")).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, story, "invoice")


async def pays_in_the_wallet(page: Page, story: Story) -> None:
    if story.screen == PHONE:
        await page.get_by_test_id("tab-wallet").click()
    wallet = page.get_by_test_id(f"wallet-{story.person}")
    await wallet.get_by_test_id("wallet-scan").click()
    await expect(wallet.get_by_test_id("wallet-pay")).to_be_enabled(timeout=SEEN_WITHIN)
    await picture(page, story, "wallet")
    await wallet.get_by_test_id("wallet-pay").click()
    await expect(wallet.get_by_test_id("wallet-status")).to_be_visible()
    if story.screen == PHONE:
        await page.get_by_test_id("tab-chat").click()


async def says(pane: Locator, text: str) -> None:
    before = await pane.get_by_test_id("message").count()
    await pane.get_by_test_id("composer").fill(text)
    await pane.get_by_test_id("send").click()
    # The person's own message and the bot's answer to it.
    await expect(pane.get_by_test_id("message").nth(before + 1)).to_be_visible(timeout=SEEN_WITHIN)


async def tap(pane: Locator, label: str) -> None:
    await pane.get_by_test_id("inline-button").filter(has_text=label).last.click(timeout=SEEN_WITHIN)


def last(pane: Locator, text: str) -> Locator:
    return pane.get_by_test_id("message").filter(has_text=text).last


async def picture(page: Page, story: Story, step: str) -> None:
    if Pictures is not None:
        Pictures.mkdir(parents=True, exist_ok=True)
        await page.wait_for_timeout(400)
        await page.screenshot(path=Pictures / f"{story.name}-{step}.png")


@asynccontextmanager
async def opened(kirim: World, story: Story) -> AsyncIterator[Page]:
    async with chromium() as browser:
        context = await browser.new_context(viewport=story.screen, color_scheme="dark" if story.dark else "light")
        page = await context.new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        await page.goto(kirim.addresses.page)
        await expect(page.locator("body[data-ready]")).to_be_attached(timeout=SEEN_WITHIN)
        yield page
        assert troubles == []
