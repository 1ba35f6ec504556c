"""An agent looks up orders, users and tickets on the chat page of the sandbox, in both languages.

`SCREENSHOTS=folder` saves a picture of each step.
"""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.chat_page import (
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
from tests.e2e.new_users import new_user
from tests.e2e.support.lookups import add_old_orders, place_order
from tests.e2e.system import running_system
from tests.texts import shown_user

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

RINA = 3001
SUPPORTERS = [
    Viewer("rina-phone-en", RINA, PHONE),
    Viewer("rina-phone-id", RINA, PHONE, dark=True, locale="id"),
]
HALF_A_MILLION = {"en": "Rp500,000", "id": "Rp500.000"}


@pytest.mark.parametrize("who", first_of(SUPPORTERS), ids=lambda who: who.name)
async def test_support_finds_an_order_its_user_and_their_tickets_on_a_phone(
    who: Viewer, browser: Browser, tmp_path: Path
) -> None:
    async with running_system(tmp_path) as kirim:
        emma = await new_user(kirim)
        reference, _ = await place_order(kirim, emma)
        await add_old_orders(kirim, emma, 7)
        await kirim.rina.speaks(who.locale)
        async with open_page(browser, kirim, who) as page:
            await show_chat(page, kirim, RINA)
            pane = page.get_by_test_id(f"pane-{RINA}")
            await pane.get_by_test_id("start").click()
            await send_text(pane, "/find bca 500rb today")
            await sees(
                page,
                pane,
                who,
                who.reads("support.lookup.sought", what=f"BCA · {HALF_A_MILLION[who.locale]}"),
                "01-find",
            )
            await tap_button(pane, reference)
            await sees(page, pane, who, who.reads("support.case.reference", reference=reference), "02-order")
            await tap_button(pane, who.label("support.lookup.person"))
            await sees(page, pane, who, who.reads("support.lookup.known_since"), "03-person")
            await tap_button(pane, who.label("support.lookup.all_orders"))
            await sees(page, pane, who, who.reads("support.lookup.orders_of", user=shown_user(emma.id)), "04-orders")
            await tap_button(pane, who.label("support.lookup.more"))
            await expect(pane.get_by_text(who.label("support.lookup.back")).last).to_be_visible()
            await send_text(pane, "/tickets")
            await tap_button(pane, who.label("support.lookup.list.closed", count=0))
            await sees(page, pane, who, who.reads("support.lookup.no_tickets"), "05-tickets")
            await send_text(pane, "/customer @nobody_at_all")
            await sees(page, pane, who, who.reads("support.lookup.nobody_called"), "06-nobody")


async def sees(page: Page, pane: Locator, who: Viewer, text: re.Pattern[str], step: str) -> None:
    await expect(last_message(pane, text)).to_be_visible()
    await save_screenshot(page, who, step)
