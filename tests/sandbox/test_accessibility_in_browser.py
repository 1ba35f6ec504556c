"""The chat page for those who use a screen reader or only the keyboard, in a real Chromium."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from playwright.async_api import expect
from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from bot.payments.qr import invoice_qr_payload, render_png
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.accessibility import DESKTOP, PHONE, check_looks
from tests.sandbox.telegram_sandbox import EMMA

if TYPE_CHECKING:
    from tests.sandbox.chat_page import ChatPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

FORMATTED = (
    "<b>bold</b> <code>copied</code> <tg-spoiler>hidden</tg-spoiler> <a href='https://kirim.example'>link</a> /help"
    "<pre><code class='language-python'>print()</code></pre>"
    "<blockquote expandable>one\n<code>two</code>\nthree\nfour</blockquote>"
)
BUTTONS = InlineKeyboardMarkup(
    [
        [
            InlineKeyboardButton("Confirm", callback_data="yes"),
            InlineKeyboardButton("Terms", url="https://kirim.example"),
        ],
        [InlineKeyboardButton("Help", callback_data="help")],
    ]
)


async def write_every_kind(chat: ChatPage) -> None:
    """Send each kind of message to Emma and to the group, place two orders, and leave an unread message."""
    await chat.emma_says_hello()
    picture = io.BytesIO()
    Image.new("L", (40, 40)).save(picture, "PNG")
    await chat.bot.send_message(EMMA, FORMATTED, parse_mode="HTML", disable_notification=True)
    await chat.bot.send_photo(EMMA, picture.getvalue(), caption="The QR code")
    await chat.bot.send_document(EMMA, b"a,b", filename="orders.csv")
    await chat.bot.send_message(EMMA, "Where?")
    await chat.bot.send_message(EMMA, "Review", reply_markup=BUTTONS)
    topic = await chat.bot.create_forum_topic(SUPPORT_GROUP_ID, "T-1 Emma")
    await chat.bot.send_message(SUPPORT_GROUP_ID, "Hi", message_thread_id=topic.message_thread_id)
    await chat.orders()
    await chat.service.post("/control/fail", json={"orderId": (await chat.orders())["orderId"]})
    await expect(chat.emma.get_by_test_id("inline-button")).to_have_count(3)
    await expect(chat.page.get_by_test_id("order-row")).to_have_count(2)


async def test_axe_finds_nothing_on_any_part_of_the_page(chat: ChatPage) -> None:
    await write_every_kind(chat)
    page = chat.page
    await page.get_by_test_id("service-toggle").click()
    await check_looks(page, "chats", [(DESKTOP, "light"), (DESKTOP, "dark")])
    # With something to pay, and with the guide's scenes.
    order = await chat.orders()
    await chat.bot.send_photo(EMMA, render_png(invoice_qr_payload(order["bolt11"])), caption="Please pay")
    await page.set_viewport_size(PHONE[1])
    await expect(page.get_by_test_id("tab-wallet")).to_have_accessible_name("Wallet 1 to pay")
    paid = (await chat.orders())["orderId"]
    await chat.service.post("/control/pay", json={"orderId": paid})
    await chat.service.post("/control/fail", json={"orderId": paid})
    await expect(page.get_by_test_id("scene-kill")).to_be_visible()
    for tab in ("chat", "wallet", "service"):
        await page.set_viewport_size(PHONE[1])
        await page.get_by_test_id(f"tab-{tab}").click()
        await check_looks(page, tab, [(PHONE, "light"), (PHONE, "dark")])
    await page.get_by_test_id("tab-chat").click()
    await page.get_by_test_id(f"show-{SUPPORT_GROUP_ID}").click()
    await check_looks(page, "group", [(PHONE, "light"), (DESKTOP, "dark")])
    # On the wide screen, Emma's chat is beside the group's.
    await expect(chat.emma.get_by_test_id("wallet-scan")).to_have_class("scan fresh")
    await expect(chat.emma.get_by_test_id("wallet-scan")).to_be_visible()


async def test_the_input_is_two_tab_stops_from_the_newest_message(chat: ChatPage) -> None:
    await write_every_kind(chat)
    keyboard, composer = chat.page.keyboard, chat.emma.get_by_test_id("composer")
    await chat.emma.get_by_test_id("inline-button").last.focus()
    for _ in range(2):
        await keyboard.press("Tab")
    await expect(composer).to_be_focused()
    # However long the chat is, Tab leads from its beginning to the newest message.
    log = chat.emma.get_by_role("log")
    await log.focus()
    await keyboard.press("Tab")
    await expect(chat.emma.get_by_test_id("inline-button").first).to_be_focused()
    # The arrow keys choose an older message.
    messages = chat.emma.get_by_test_id("message")
    for _ in range(2):
        await keyboard.press("ArrowUp")
    document = messages.filter(has_text="orders.csv")
    await expect(document).to_be_focused()
    await keyboard.press("Tab")
    await expect(document.get_by_role("link")).to_be_focused()
    for _ in range(2):
        await keyboard.press("Tab")
    await expect(composer).to_be_focused()
    # A new message takes its place in the order, and an edit keeps it.
    sent = await chat.bot.send_message(EMMA, "New", reply_markup=BUTTONS)
    await expect(messages.last).to_contain_text("New")
    await sent.edit_text("Edited", reply_markup=BUTTONS)
    await expect(messages.last).to_contain_text("Edited")
    for _ in range(2):
        await keyboard.press("Shift+Tab")
    await expect(messages.last.get_by_test_id("inline-button").last).to_be_focused()
