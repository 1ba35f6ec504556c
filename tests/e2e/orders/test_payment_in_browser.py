"""What a new user does first in a real browser: open the page, send rupiah, pay with the wallet, and see them sent.

`SCREENSHOTS=folder` saves screenshots.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.chat_page import (
    DESKTOP,
    PHONE,
    Pictures,
    Viewer,
    last_message,
    open_page,
    pay_in_wallet,
    save_screenshot,
    send_text,
    show_chat,
    tap_button,
    wait_until_on_screen,
)
from tests.e2e.system import running_system

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@dataclass(frozen=True, kw_only=True)
class Story(Viewer):
    """The user who pays, and the service."""

    profile: str


STORIES = [
    Story("emma-phone-live", 1001, PHONE, profile="live"),
    Story("sari-phone", 1002, PHONE, locale="id", profile="documented", dark=True),
    *([Story("emma-desktop", 1001, DESKTOP, profile="documented")] if Pictures else []),
]
"""On a phone each language has to fit on the screen. A link is paid on a desktop (`test_paying_in_browser`)."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_a_newcomer_sends_rupiah_through_the_page(story: Story, browser: Browser, tmp_path: Path) -> None:
    async with running_system(tmp_path, story.profile) as kirim, open_page(browser, kirim, story) as page:
        pane = page.get_by_test_id(f"pane-{story.user}")
        if story.screen == PHONE:
            await show_chat(page, kirim, story.user)
        await go_to_invoice(page, pane, story)
        await pay_in_wallet(page, story)
        await expect(last_message(pane, story.reads("orders.notification.paid"))).to_be_visible()
        await save_screenshot(page, story, "paid")
        await kirim.service.does("settings", speedSeconds=0.1)
        await expect(last_message(pane, story.reads("orders.notification.sent_bank"))).to_be_visible()
        await save_screenshot(page, story, "sent")
        [order] = await kirim.service.orders()
        assert order["state"] == "COMPLETED"
        assert order["idrAmount"] == 500_000
        if story.screen == PHONE:
            await go_to_deposit(page, pane, story)


async def go_to_invoice(page: Page, pane: Locator, story: Story) -> None:
    await pane.get_by_test_id("start").click()
    await tap_button(pane, story.label("users.button.send"))
    for answer in ("bca", "1234567890"):
        await send_text(pane, answer)
    await tap_button(pane, story.label("checkout.holder.skip"))
    await send_text(pane, "500rb")
    review = last_message(pane, story.reads("checkout.review.title"))
    await expect(review).to_be_visible()
    if story.screen == PHONE:
        await wait_until_on_screen(pane, review, review.get_by_test_id("inline-button").last)
    await save_screenshot(page, story, "review")
    await tap_button(pane, story.label("checkout.review.confirm"))
    code = pane.get_by_test_id("photo")
    await expect(code).to_be_visible()
    if story.screen == PHONE:
        invoice = last_message(pane, story.reads("orders.pay.lightning"))
        await wait_until_on_screen(pane, code, invoice.locator("strong").filter(has_text="sats"))
    await save_screenshot(page, story, "invoice")


async def go_to_deposit(page: Page, pane: Locator, story: Story) -> None:
    """Order with a token, and see the sum and the QR code together. The message is longer than the screen."""
    await send_text(pane, "500rb bca 1234567890")
    await tap_button(pane, story.label("checkout.review.use_way", way="BTCB"))
    confirm = pane.get_by_test_id("inline-button").filter(has_text=story.label("checkout.review.confirm_deposit"))
    await expect(confirm).to_be_visible()
    await wait_until_on_screen(pane, last_message(pane, story.reads("checkout.review.title")), confirm)
    await confirm.click()
    deposit = last_message(pane, story.reads("orders.pay.deposit"))
    code = deposit.get_by_test_id("photo")
    await expect(code).to_be_visible()
    copy = deposit.get_by_test_id("inline-button").filter(has_text=story.label("orders.pay.copy_amount"))
    await wait_until_on_screen(pane, deposit.locator("strong").filter(has_text="BTCB"), copy)
    await save_screenshot(page, story, "deposit")
