"""Everything around a payment on a phone: phrase, order in one line, payment page, receipt, and settings.

`SCREENSHOTS=folder` saves screenshots.
"""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.chat_page import (
    PHONE,
    Viewer,
    first_of,
    last_message,
    open_page,
    pay_in_wallet,
    save_screenshot,
    send_text,
    show_chat,
    tap_button,
    wait_until_on_screen,
)
from tests.e2e.orders.payment_pages import page_settings, scan_qr_code
from tests.e2e.orders.steps import complete_order
from tests.e2e.system import System, running_system
from tests.infra.on_disk import find_texts
from tests.pictures import qr_texts

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NUMBER = "8620557913"
SENDERS = [
    Viewer("sari-phone-around", 1002, PHONE, dark=True, locale="id"),
    Viewer("emma-phone-around", 1001, PHONE),
]


@pytest.mark.parametrize("who", first_of(SENDERS), ids=lambda who: who.name)
async def test_a_sender_finds_everything_around_a_payment(who: Viewer, browser: Browser, tmp_path: Path) -> None:
    async with (
        running_system(tmp_path, "documented", **page_settings()) as kirim,
        open_page(browser, kirim, who) as page,
    ):
        pane = page.get_by_test_id(f"pane-{who.user}")
        await show_chat(page, kirim, who.user)
        await pane.get_by_test_id("start").click()
        await expect(last_message(pane, who.reads("home.start.text"))).to_be_visible()
        await save_screenshot(page, who, "01-start")
        phrase = await order_in_one_line(page, pane, who)
        order = await pay_beside_page(kirim, page, pane, who)
        await complete_order(kirim, order)
        await expect(last_message(pane, who.reads("orders.notification.sent_bank"))).to_be_visible()
        await get_receipt(kirim, page, pane, who, phrase)
        await change_settings(page, pane, who)
        await delete_data(page, pane, who)
        assert find_texts(kirim.state / "kirim.db", [NUMBER, "Budi Santoso", phrase]) == {}
        assert find_texts(kirim.state / "telegram.db", [NUMBER]), "the search finds what is there"


async def choose_phrase(page: Page, pane: Locator, who: Viewer) -> str:
    """Take the phrase that the review of the first order offers, and go back to the review."""
    await tap_button(pane, who.label("checkout.button.other_words"))
    offer = last_message(pane, who.reads("users.phrase.offer"))
    await expect(offer).to_be_visible()
    phrase = await offer.locator("b, strong").filter(has_text=re.compile(r"^\w+ \w+ \w+\??$")).first.inner_text()
    await tap_button(pane, who.label("users.phrase.use"))
    await expect(last_message(pane, who.reads("users.phrase.kept", phrase=phrase))).to_be_visible()
    await save_screenshot(page, who, "03-phrase")
    await tap_button(pane, who.label("checkout.draft.continue"))
    return phrase


async def order_in_one_line(page: Page, pane: Locator, who: Viewer) -> str:
    """Order, and return the anti-phishing phrase."""
    await send_text(pane, f"500rb bca {NUMBER} Budi Santoso")
    review = last_message(pane, who.reads("checkout.review.title"))
    await expect(review).to_be_visible()
    await wait_until_on_screen(pane, review, review.get_by_test_id("inline-button").last)
    await save_screenshot(page, who, "02-one-line")
    phrase = await choose_phrase(page, pane, who)
    await tap_button(pane, who.label("checkout.review.confirm"))
    await expect(pane.get_by_test_id("photo")).to_be_visible()
    await expect(last_message(pane, "lnbcrt")).to_contain_text(phrase)
    await save_screenshot(page, who, "04-invoice")
    return phrase


async def pay_beside_page(kirim: System, page: Page, pane: Locator, who: Viewer) -> dict[str, object]:
    """Pay with the wallet while the payment page is open on the phone. The page updates without a reload."""
    async with page.context.expect_page() as opening:
        await tap_button(pane, who.label("orders.pay.page"))
    wallet_page = await opening.value
    await expect(wallet_page.locator('main[data-state="waiting"]')).to_be_visible()
    await expect(wallet_page.locator("h1")).to_have_text(who.label("orders.pay_page.waiting"))
    [order] = await kirim.service.orders()
    assert await scan_qr_code(wallet_page) == [f"LIGHTNING:{order['invoiceBolt11'].upper()}"]
    await save_screenshot(wallet_page, who, "05-page")
    shown = await wallet_page.locator("main").inner_text()
    assert [fact for fact in (NUMBER, NUMBER[-4:], "Budi", "BCA") if fact in shown] == []
    await page.bring_to_front()
    await pay_in_wallet(page, who)
    await wallet_page.bring_to_front()
    await expect(wallet_page.locator("h1")).to_have_text(who.label("orders.pay_page.paid"))
    await save_screenshot(wallet_page, who, "06-page-paid")
    await wallet_page.close()
    return order


async def get_receipt(kirim: System, page: Page, pane: Locator, who: Viewer, phrase: str) -> None:
    receipt = last_message(pane, who.reads("orders.notification.sent_bank"))
    await expect(receipt.get_by_test_id("photo")).to_be_visible()
    await expect(receipt).not_to_contain_text(phrase)
    await save_screenshot(page, who, "07-receipt")
    address = await receipt.get_by_test_id("photo").get_attribute("src")
    assert address is not None
    drawn = await page.request.get(urljoin(page.url, address))
    [link] = qr_texts(await drawn.body())
    before, _, code = link.rpartition("/")
    assert before == f"{kirim.environment['PUBLIC_URL']}/verify"
    check = receipt.get_by_test_id("inline-button").filter(has_text=who.label("orders.button.check"))
    await expect(check.first).to_have_attribute("href", link)
    await send_text(pane, f"/verify {code.lower()}")
    await expect(last_message(pane, who.reads("orders.verify.true"))).to_contain_text("500")
    await save_screenshot(page, who, "08-verified")
    wrong = code[:-1] + ("2" if code[-1] != "2" else "3")
    await send_text(pane, f"/verify {wrong}")
    await expect(pane.get_by_test_id("message").last).to_contain_text(who.reads("orders.verify.false"))


async def change_settings(page: Page, pane: Locator, who: Viewer) -> None:
    await send_text(pane, "/settings")
    await expect(last_message(pane, who.reads("home.settings.text"))).to_be_visible()
    await save_screenshot(page, who, "14-settings")
    await tap_button(pane, who.label("orders.settings.notices"))
    await expect(last_message(pane, who.reads("orders.preferences.text"))).to_be_visible()
    await save_screenshot(page, who, "15-notices")


async def delete_data(page: Page, pane: Locator, who: Viewer) -> None:
    await send_text(pane, "/privacy")
    await expect(last_message(pane, who.reads("users.privacy.text"))).to_be_visible()
    await save_screenshot(page, who, "18-privacy")
    await tap_button(pane, who.label("users.privacy.delete"))
    await save_screenshot(page, who, "19-sure")
    await tap_button(pane, who.label("users.privacy.yes"))
    await expect(last_message(pane, who.reads("users.privacy.deleted"))).to_be_visible()
    await save_screenshot(page, who, "20-deleted")
