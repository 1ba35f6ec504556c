"""What a newcomer sees on the chat page in the first two minutes: the steps, the scenes' captions, times and widths."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from bot.payments.qr import render_png
from tests.e2e.local_times import JAKARTA
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, SARI
from tests.waiting import found

if TYPE_CHECKING:
    from playwright.async_api import Locator, ViewportSize

    from tests.sandbox.chat_page import ChatPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LAPTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


async def finish_first_steps(chat: ChatPage) -> None:
    """Pay an order, complete it, and let the bot send the receipt."""
    await chat.emma_says_hello()
    order = await chat.orders()
    await chat.service.post("/control/pay", json={"bolt11": order["bolt11"]})
    await chat.service.post("/control/advance", json={"orderId": order["orderId"], "state": "COMPLETED"})
    await chat.bot.send_photo(EMMA, render_png("the receipt"), caption="Sent")
    await expect(chat.page.get_by_test_id("scene-kill")).to_be_visible()


async def sees_all_of(each: Locator) -> bool:
    """Return whether nothing of the element is cut, nor outside the window."""
    cut: bool = await each.evaluate(
        """node => {
          const { left, right } = node.getBoundingClientRect();
          const holder = node.parentElement.getBoundingClientRect();
          return left < 0 || right > innerWidth || right > holder.right + 1 || node.scrollWidth > node.clientWidth;
        }"""
    )
    return not cut


async def test_the_first_steps_end_with_the_receipt_not_with_the_payment(chat: ChatPage) -> None:
    current = chat.page.get_by_test_id("guide").locator("[aria-current=step]")
    await chat.emma_says_hello()
    await expect(current).to_contain_text("Any account number works.")
    order = await chat.orders()
    await chat.bot.send_photo(EMMA, render_png("an invoice"), caption="Please pay")
    await chat.service.post("/control/pay", json={"bolt11": order["bolt11"]})
    await expect(current).to_have_attribute("data-step", "receipt")
    await expect(chat.page.get_by_test_id("scene-kill")).to_be_hidden()
    # Messages have whole seconds. A picture of the second in which the order ends is taken for its receipt.
    await asyncio.sleep(1)
    await chat.service.post("/control/advance", json={"orderId": order["orderId"], "state": "COMPLETED"})
    await expect(chat.page.get_by_test_id("order-state")).to_have_text("COMPLETED")
    await expect(current).to_have_attribute("data-step", "receipt")
    await chat.bot.send_photo(EMMA, render_png("the receipt"), caption="Sent")
    await expect(chat.page.get_by_test_id("scene-kill")).to_be_visible()


async def test_a_new_order_is_not_called_not_from_a_chat_before_its_message(chat: ChatPage) -> None:
    await chat.orders()
    await expect(chat.page.get_by_test_id("order-whose")).to_have_text("New order")


async def test_the_wallet_names_the_end_of_a_deposit_that_the_message_names(chat: ChatPage) -> None:
    deposit = (await chat.orders(depositChannel="cbbtc"))["deposit"]
    await chat.emma_says_hello()
    end = datetime.now(UTC) + timedelta(minutes=30)
    caption = f'Pay before <tg-time unix="{int(end.timestamp())}">12:00</tg-time>'
    await chat.bot.send_photo(EMMA, render_png(deposit["qrValue"]), caption=caption, parse_mode="HTML")
    await expect(chat.emma.get_by_test_id("photo")).to_be_visible()
    await chat.emma.get_by_test_id("wallet-scan").click()
    await expect(chat.emma.get_by_test_id("wallet-expiry")).to_have_text(re.compile(r"^Expires in (29:\d\d|30:00)$"))
    await chat.emma.get_by_test_id("wallet-invoice").fill(deposit["qrValue"])
    await expect(chat.emma.get_by_test_id("wallet-expiry")).to_have_text("The chat says until when")


async def test_chat_text_wallet_and_panel_tell_the_same_time(chat: ChatPage) -> None:
    order = await chat.orders()
    await chat.emma_says_hello()
    moment = datetime(2026, 1, 2, 20, 5, tzinfo=UTC)
    text = f'<tg-time unix="{int(moment.timestamp())}" format="t">20:05</tg-time>'
    await chat.bot.send_message(EMMA, text, parse_mode="HTML")
    await expect(chat.emma.locator("time.moment")).to_have_text("03:05")
    began = datetime.now(JAKARTA)
    await chat.emma.get_by_test_id("wallet-invoice").fill(order["bolt11"])
    await chat.emma.get_by_test_id("wallet-pay").click()
    paid = chat.emma.locator(".payments time")
    await expect(paid).to_be_visible()
    possible = {f"{each:%H:%M}" for each in (began, datetime.now(JAKARTA))}
    assert await paid.text_content() in possible
    await expect(chat.page.get_by_text("times in WIB")).to_be_visible()


async def test_two_chats_with_their_wallets_fit_beside_each_other_at_1280(chat: ChatPage) -> None:
    await chat.page.set_viewport_size(LAPTOP)
    await chat.page.reload()
    for places in ((EMMA, SARI), (EMMA, OSCAR)):
        for place in (EMMA, SARI, OSCAR):
            chip = chat.page.get_by_test_id(f"show-{place}")
            if (await chip.get_attribute("aria-pressed") == "true") != (place in places):
                await chip.click()
        for place in places:
            await expect(chat.page.get_by_test_id(f"pane-{place}")).to_be_visible()
        assert await chat.page.locator("#stage").evaluate("stage => stage.scrollWidth <= stage.clientWidth")


async def test_a_phone_shows_every_chips_name_and_every_scenes_button_whole(chat: ChatPage) -> None:
    await chat.page.set_viewport_size(PHONE)
    step = chat.page.locator(".step.current > :last-child")
    assert await sees_all_of(step)
    await finish_first_steps(chat)
    chips = chat.page.locator(".person-chip")
    assert await chips.count() == 6
    for chip in await chips.all():
        await expect(chip.locator("span:nth-child(2)")).to_be_visible()
        assert await sees_all_of(chip), await chip.text_content()
    for scene in await chat.page.locator(".scene").all():
        assert await sees_all_of(scene), await scene.text_content()


async def test_a_caption_of_a_scene_is_shown_for_two_and_a_half_seconds_or_longer(chat: ChatPage) -> None:
    shown = await chat.page.evaluate(CAPTIONS)
    assert [text for _, text in shown] == ["short", "l" * 100, "end"]
    first, second, end = (at for at, _ in shown)
    assert second - first >= 2500
    assert end - second >= 5000


async def test_the_panel_offers_invoices_without_an_expiry_of_their_own(chat: ChatPage) -> None:
    await chat.page.get_by_test_id("service-toggle").click()
    none = chat.page.get_by_test_id("invoiceExpirySeconds-none")
    await none.check(force=True)
    await expect(none).to_be_checked()
    await found(
        lambda: chat.control("settings"),
        lambda settings: settings["invoiceExpirySeconds"] is None,
        what="the saved setting",
    )


# Time passes only while the scene waits.
CAPTIONS = """async () => {
  const { Play } = await import('/static/play.js');
  const real = { now: Date.now, wait: window.setTimeout };
  let now = real.now();
  Date.now = () => now;
  window.setTimeout = (done, ms) => { now += ms; queueMicrotask(done); };
  const shown = [];
  const play = new Play({ say: (text) => shown.push([now, text]) });
  await play.say('short');
  await play.say('l'.repeat(100));
  await play.read();
  shown.push([now, 'end']);
  Date.now = real.now;
  window.setTimeout = real.wait;
  return shown;
}"""
