"""Sari lets her request be paid in browsers. Somebody without Telegram pays it there, and Sari reads of it.

`SCREENSHOTS=folder` saves screenshots.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.accessibility import find_violations
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
from tests.e2e.orders.payment_pages import page_settings
from tests.e2e.payment_requests.test_paying_in_browser import EMMA, SARI, save_request
from tests.e2e.system import System, running_system
from tests.waiting import TIMEOUT_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@dataclass(frozen=True)
class Payer(Viewer):
    """Somebody in a browser. `has_scripts` says whether it runs JavaScript."""

    has_scripts: bool = True


PAYERS = [
    Payer("payer-phone-web", EMMA, PHONE),
    Payer("payer-desktop-web", EMMA, DESKTOP, dark=True, locale="id"),
    Payer("payer-phone-dark-web", EMMA, PHONE, dark=True, locale="id", has_scripts=False),
]
ASKER = Viewer("sari-desktop-browsers", SARI, DESKTOP, locale="id")


@pytest.mark.parametrize("who", first_of(PAYERS), ids=lambda who: who.name)
async def test_a_browser_pays_what_its_asker_has_agreed_to_show(who: Payer, browser: Browser, tmp_path: Path) -> None:
    async with running_system(tmp_path, **page_settings()) as kirim, open_page(browser, kirim, ASKER) as chat:
        request = await save_request(kirim, SARI)
        address = await lets_browsers_pay(chat, kirim)
        assert address.endswith(f"/r/{request.token}")
        context = await browser.new_context(
            viewport=who.screen,
            locale=who.locale,
            color_scheme="dark" if who.dark else "light",
            reduced_motion="reduce",
            java_script_enabled=who.has_scripts,
        )
        async with context:
            context.set_default_timeout(TIMEOUT_SECONDS * 1000)
            await pays(context, kirim, who, address)
        pane = chat.get_by_test_id(f"pane-{SARI}")
        await expect(last_message(pane, ASKER.reads("payment_requests.paid"))).to_be_visible()
        await save_screenshot(chat, ASKER, "04-paid")


async def lets_browsers_pay(chat: Page, kirim: System) -> str:
    """Agree to what strangers will see, and return the address of the page."""
    pane = chat.get_by_test_id(f"pane-{SARI}")
    if not await pane.is_visible():
        await show_chat(chat, kirim, SARI)
    await pane.get_by_test_id("start").click()
    await send_text(pane, "/requests")
    await tap_button(pane, "Rp150.000")
    await save_screenshot(chat, ASKER, "01-request")
    await tap_button(pane, ASKER.label("payment_requests.button.browsers"))
    await expect(last_message(pane, ASKER.reads("payment_requests.browsers.ask"))).to_be_visible()
    await save_screenshot(chat, ASKER, "02-consent")
    await tap_button(pane, ASKER.label("payment_requests.browsers.agree"))
    shown = last_message(pane, ASKER.reads("payment_requests.page.in_browsers"))
    await expect(shown).to_be_visible()
    await save_screenshot(chat, ASKER, "03-agreed")
    return next(word for word in (await shown.inner_text()).split() if "/r/" in word)


async def pays(context: BrowserContext, kirim: System, who: Payer, address: str) -> None:
    """Pay in the browser, go back, and see the same payment and its receipt."""
    page = await context.new_page()
    await page.goto(address)
    await expect(page.get_by_role("heading", name=who.label("payment_requests.web.heading"))).to_be_visible()
    await looks_right(page, who, "11-request")
    await page.get_by_role("button", name=who.label("payment_requests.web.pay")).click()
    await expect(page.get_by_text(who.label("orders.pay_page.waiting"))).to_be_visible()
    await looks_right(page, who, "12-invoice")
    payment = page.url
    await page.goto(address)
    assert page.url.partition("?")[0] == payment.partition("?")[0], "the same order"
    (order,) = await kirim.service.orders()
    await kirim.service.pays(order)
    await expect(page.get_by_text(who.label("orders.pay_page.paid"), exact=True).first).to_be_visible()
    await page.get_by_label(who.label("orders.pay_page.payer.contact")).fill("budi@example.com")
    await page.get_by_role("button", name=who.label("orders.pay_page.payer.contact_save")).click()
    await expect(page.locator("#why")).to_have_text(who.label("orders.pay_page.payer.contact_saved"))
    await looks_right(page, who, "13-paid")
    await kirim.service.does("advance", orderId=order["id"])
    while (await kirim.service.order(order["id"]))["state"] != "COMPLETED":
        await kirim.service.does("advance", orderId=order["id"])
    await expect(page.get_by_role("heading", name=who.label("orders.pay_page.sent"), exact=True)).to_be_visible()
    await looks_right(page, who, "14-receipt")


async def looks_right(page: Page, who: Payer, step: str) -> None:
    """Assert that axe-core finds nothing, and save the page as a screen and as paper show it."""
    if who.has_scripts:
        assert await find_violations(page) == []
    await save_screenshot(page, who, step)
    await page.emulate_media(media="print")
    await save_screenshot(page, who, f"{step}-print")
    await page.emulate_media(media="screen")
