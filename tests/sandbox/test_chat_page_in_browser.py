"""The chat page in a real Chromium, with both sandboxes behind it over real HTTP."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest
import pytest_asyncio
from playwright.async_api import expect
from starlette.applications import Starlette
from telegram import CopyTextButton, InlineKeyboardButton, InlineKeyboardMarkup

from bot.payments.qr import invoice_qr_payload, render_png
from bot.sandbox import page, telegram
from tests.ports import free_port
from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

    from tests.sandbox.chat_page import ChatPage, Host


pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def files(host: Host) -> AsyncIterator[Page]:
    """A tab that can import the page's modules. It shows no page."""
    async with host.page.serves(Starlette(routes=page.routes(host.service))):
        yield host.tab


async def test_the_wallet_reads_the_code_in_the_chat_pays_it_and_the_service_knows(chat: ChatPage) -> None:
    order = await chat.orders()
    await chat.emma_says_hello()
    # The caption has no invoice, so the wallet must have read the picture.
    await chat.bot.send_photo(EMMA, render_png(invoice_qr_payload(order["bolt11"])), caption="Please pay")
    await expect(chat.emma.get_by_test_id("photo")).to_be_visible()
    await chat.emma.get_by_test_id("wallet-scan").click()
    await expect(chat.emma.get_by_test_id("wallet-amount")).to_have_text(f"{order['satAmount']:,} sats")
    await expect(chat.emma.get_by_test_id("wallet-expiry")).to_contain_text(re.compile(r"\b59:\d\d$"))
    await chat.emma.get_by_test_id("wallet-pay").click()
    await expect(chat.emma.get_by_test_id("wallet-status")).to_have_attribute("data-tone", "good")
    await expect(chat.emma.get_by_test_id("wallet-balance")).to_contain_text(f"{1_000_000 - order['satAmount']:,}")
    assert (await chat.state_of(order))["state"] == "LN_INVOICE_PAID"
    row = chat.page.get_by_test_id("order-row").first
    await expect(row.locator("strong")).to_have_text("Rp500,000")
    await row.get_by_test_id("next-state").click()
    await expect(chat.page.get_by_test_id("order-state").first).to_have_text("LN_SWAP_PENDING")


async def test_chat_and_wallet_have_every_word_in_both_languages(files: Page) -> None:
    english, indonesian = [await files.evaluate(WORDS_OF, language) for language in ("en", "id")]
    assert english.keys() == indonesian.keys()
    assert english["wallet"].keys() == indonesian["wallet"].keys()
    assert english["empty"] != indonesian["empty"]


async def test_an_invoice_that_was_let_expire_has_not_failed_and_is_paid_late_only_on_purpose(chat: ChatPage) -> None:
    order = await chat.orders()
    await chat.emma.get_by_test_id("wallet-invoice").fill(f"lightning:{order['bolt11']}")
    await chat.emma.get_by_test_id("wallet-expire").click()
    await expect(chat.emma.get_by_test_id("wallet-expiry")).to_have_class("countdown expired")
    await expect(chat.emma.get_by_test_id("wallet-pay")).to_have_count(0)
    row = chat.page.get_by_test_id("order-row")
    await expect(row.get_by_test_id("order-words")).to_have_text("expired unpaid")
    await expect(row).to_have_class("order expired")
    assert not (await chat.state_of(order))["paid"]
    await chat.emma.get_by_test_id("wallet-pay-late").click()
    await expect(chat.emma.get_by_test_id("wallet-status")).to_have_attribute("data-tone", "good")
    assert (await chat.state_of(order))["paid"]
    await expect(row.get_by_test_id("order-words")).to_have_text("paid too late")


async def test_a_row_names_the_sender_and_the_reference_also_once_the_message_has_neither(chat: ChatPage) -> None:
    lightning, token = await chat.orders(), await chat.orders(depositChannel="cbbtc")
    await chat.emma_says_hello()
    line = "Rp500,000 → BCA ••••7890"
    shown = await chat.bot.send_message(EMMA, f"{line} · ABC2345\nPay\n{lightning['bolt11']}")
    deposit = token["deposit"]
    copied = [deposit["toAddress"], f"{token['satAmount'] / 10**8:.8f}"]
    buttons = [InlineKeyboardButton(text, copy_text=CopyTextButton(text)) for text in copied]
    await chat.bot.send_message(EMMA, f"{line} · DEF6789\nPay", reply_markup=InlineKeyboardMarkup([buttons]))
    whose = chat.page.get_by_test_id("order-whose")
    await expect(whose).to_have_text(["Emma DEF6789", "Emma ABC2345"])
    await shown.edit_text("Paid")
    await chat.page.reload()
    await expect(whose).to_have_text(["Emma DEF6789", "Emma ABC2345"])


async def test_a_token_is_sent_for_the_order_that_waits_for_it(chat: ChatPage) -> None:
    order = await chat.orders(depositChannel="btcb")
    await chat.emma.get_by_test_id("wallet-invoice").fill(order["deposit"]["qrValue"])
    await expect(chat.emma.get_by_test_id("wallet-amount")).to_contain_text("BTCB")
    await chat.emma.get_by_test_id("wallet-pay").click()
    await expect(chat.emma.get_by_test_id("wallet-status")).to_have_attribute("data-tone", "good")
    assert (await chat.state_of(order))["state"] == "USDT_RECEIVED"


async def test_what_people_and_bots_write_is_shown_as_text(chat: ChatPage) -> None:
    evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    buttons = InlineKeyboardMarkup([[InlineKeyboardButton(evil[:40], callback_data="x")]])
    title = await chat.page.title()
    await chat.emma_says_hello()
    await chat.bot.send_message(EMMA, evil, reply_markup=buttons)
    message = chat.emma.get_by_test_id("message").last
    await expect(message).to_contain_text(evil)
    await expect(message.locator("img, script")).to_have_count(0)
    assert await chat.page.title() == title != "1"


async def test_the_page_shows_and_changes_what_telegrams_total_counts(chat: ChatPage) -> None:
    await chat.page.get_by_test_id("service-toggle").click()
    total = {name: chat.page.get_by_test_id(f"telegramLimit-{name}") for name in ("all", "bulk", "off")}
    await expect(total["off"]).to_be_checked()
    for name in ("bulk", "all"):
        await total[name].check(force=True)
        await expect(total[name]).to_be_checked()
        limits = await (await chat.page.request.get(urljoin(chat.page.url, "/sandbox/limits"))).json()
        assert (limits["enforce"], limits["total_applies_to"]) == (True, name)


async def test_the_open_panel_leaves_the_chat_its_height_and_its_faults_are_switches(chat: ChatPage) -> None:
    messages = chat.emma.get_by_role("log")
    before = await messages.bounding_box()
    await chat.page.get_by_test_id("service-toggle").click()
    down, stuck = (chat.page.get_by_test_id(f"fault-{name}") for name in ("down", "stuck"))
    await expect(down).to_contain_text("503")
    after = await messages.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["y"], after["height"]) == (before["y"], before["height"])
    for switch in (down, stuck):
        await switch.click()
        await expect(switch).to_have_attribute("aria-pressed", "true")
    assert [fault["fault"] for fault in (await chat.control("faults"))["faults"]] == ["503"]
    assert (await chat.control("settings"))["stuck"] is True
    await down.click()
    await expect(down).to_have_attribute("aria-pressed", "false")
    await chat.page.get_by_test_id("clear-faults").click()
    await expect(stuck).to_have_attribute("aria-pressed", "false")
    assert (await chat.control("faults"))["faults"] == []
    # By now the page has asked for the replicas. One bot alone is no list of them.
    await expect(chat.page.get_by_test_id("replicas")).not_to_be_visible()


async def test_a_page_left_open_starts_afresh_with_a_sandbox_that_did_and_so_does_its_wallet(browser: Browser) -> None:
    port = free_port()
    async with await browser.new_context() as context:
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        tab = await context.new_page()
        emma = tab.get_by_test_id(f"pane-{EMMA}")
        async with sandbox_at(port):
            await tab.goto(f"http://127.0.0.1:{port}")
            await emma.get_by_test_id("start").click()
            await expect(emma.get_by_test_id("message")).to_have_count(1)
            await emma.get_by_test_id("wallet-top-up").click()
            await expect(emma.get_by_test_id("wallet-balance")).to_have_text("2,000,000 sats")
            await tab.get_by_test_id("theme").click()
            theme = await tab.locator("html").get_attribute("data-theme")
        await expect(tab.get_by_test_id("connection")).to_have_class("connection lost")
        async with sandbox_at(port):
            await expect(emma.get_by_test_id("start")).to_be_visible()
            await expect(emma.get_by_test_id("message")).to_have_count(0)
            await expect(emma.get_by_test_id("wallet-balance")).to_have_text("1,000,000 sats")
            await expect(tab.locator("html")).to_have_attribute("data-theme", theme or "-")


@asynccontextmanager
async def sandbox_at(port: int) -> AsyncIterator[None]:
    app = telegram.create_app(telegram.TelegramSandboxSettings(), page.routes(Starlette()))
    async with serving(app, port):
        yield


# A text with a name or an amount is a function: its source stands for it.
WORDS_OF = """async (language) => JSON.parse(JSON.stringify(
  (await import('/static/words.js')).wordsFor({ language_code: language }),
  (_, word) => (typeof word === 'function' ? String(word) : word)))"""
