"""A user asks for rupiah on the chat page, shares it inline in a group, and another member opens the link.

`SCREENSHOTS=folder` saves screenshots.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from bot.sandbox.bot_api.model import FRIENDS_GROUP_ID
from tests.e2e.chat_page import (
    DESKTOP,
    PHONE,
    Viewer,
    first_of,
    last_message,
    open_page,
    save_screenshot,
    send_text,
    show_chat,
    tap_button,
)
from tests.e2e.system import System, running_system

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NUMBER = "7731004455"
ASKERS = [
    Viewer("emma-phone-asking", 1001, PHONE, dark=True),
    Viewer("sari-desktop-asking", 1002, DESKTOP, locale="id"),
]


@pytest.mark.parametrize("who", first_of(ASKERS), ids=lambda who: who.name)
async def test_a_request_is_shared_inline_and_its_link_opens_the_bot(
    who: Viewer, browser: Browser, tmp_path: Path
) -> None:
    async with running_system(tmp_path, "documented") as kirim, open_page(browser, kirim, who) as page:
        pane = page.get_by_test_id(f"pane-{who.user}")
        if not await pane.is_visible():
            await show_chat(page, kirim, who.user)
        await pane.get_by_test_id("start").click()
        await tap_button(pane, who.label("payment_requests.button.ask"))
        await asks(page, pane, who)
        await shares(page, pane, who)
        await types_a_sum(page, kirim, pane, who)


async def asks(page: Page, pane: Locator, who: Viewer) -> None:
    """Answer the questions, and agree to what payers will see."""
    for said, key in (
        ("bca", "checkout.number.ask_bank"),
        (NUMBER, "checkout.request.holder.ask"),
        ("Sari Dewi", "checkout.request.amount.ask"),
        ("150rb", "payment_requests.ask.note"),
        ("Patungan makan siang", "payment_requests.ask.uses"),
    ):
        await send_text(pane, said)
        await expect(last_message(pane, who.reads(key))).to_be_visible()
    await tap_button(pane, who.label("payment_requests.uses.once"))
    await expect(last_message(pane, who.reads("payment_requests.review.seen"))).to_be_visible()
    await save_screenshot(page, who, "01-review")
    await tap_button(pane, who.label("payment_requests.review.confirm"))
    await expect(last_message(pane, who.reads("payment_requests.card.caption"))).to_be_visible()
    await save_screenshot(page, who, "02-picture")


async def shares(page: Page, pane: Locator, who: Viewer) -> None:
    """Share the request in the group without the bot. There, the other member presses the button."""
    await tap_button(pane, who.label("payment_requests.button.share"))
    await page.get_by_test_id("choice").filter(has_text="Emma & Sari").click()
    group = page.get_by_test_id(f"pane-{FRIENDS_GROUP_ID}")
    await expect(group.get_by_test_id("inline-result")).to_have_count(1)
    await save_screenshot(page, who, "03-inline")
    await group.get_by_test_id("inline-result").click()
    await expect(last_message(group, who.reads("payment_requests.inline.message"))).to_be_visible()
    await expect(group.get_by_test_id("via-bot")).to_contain_text("@kirim_sandbox_bot")
    await save_screenshot(page, who, "04-shared")
    (other,) = {1001, 1002} - {who.user}
    await group.get_by_test_id("group-speaker").select_option(str(other))
    await group.get_by_test_id("inline-button").filter(has_text=who.label("payment_requests.inline.pay")).click()
    opened = page.get_by_test_id(f"pane-{other}")
    await expect(opened.get_by_test_id("message").filter(has_text="/start r_")).to_be_visible()
    await save_screenshot(page, who, "05-opened")


async def types_a_sum(page: Page, kirim: System, pane: Locator, who: Viewer) -> None:
    """See what a sum costs in any chat."""
    if not await pane.is_visible():
        await show_chat(page, kirim, who.user)
    await pane.get_by_test_id("composer").fill("@kirim_sandbox_bot 500rb")
    await expect(pane.get_by_test_id("inline-result").first).to_contain_text("≈")
    await save_screenshot(page, who, "06-price")
