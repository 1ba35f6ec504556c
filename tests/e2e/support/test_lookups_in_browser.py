"""Support looks things up on a phone, in the sandbox's chat page, in both languages.

`SCREENSHOTS=folder` keeps pictures of the way.
"""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.browsing import PHONE, Onlooker, last, opened, picture, says, shows, tap
from tests.e2e.looking_up import has_ordered, orders
from tests.e2e.people import newcomer
from tests.e2e.world import world

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

RINA = 3001
SUPPORTERS = [
    Onlooker("rina-phone-en", RINA, PHONE),
    Onlooker("rina-phone-id", RINA, PHONE, dark=True, locale="id"),
]
HALF_A_MILLION = {"en": "Rp500,000", "id": "Rp500.000"}


@pytest.mark.parametrize("who", SUPPORTERS, ids=lambda who: who.name)
async def test_support_finds_an_order_its_user_and_their_tickets_on_a_phone(
    who: Onlooker, browser: Browser, tmp_path: Path
) -> None:
    async with world(tmp_path) as kirim, opened(browser, kirim, who) as page:
        emma = await newcomer(kirim)
        reference, _ = await orders(kirim, emma)
        await has_ordered(kirim, emma, 7)
        await kirim.rina.speaks(who.locale)
        await shows(page, kirim, RINA)
        pane = page.get_by_test_id(f"pane-{RINA}")
        await pane.get_by_test_id("start").click()
        await says(pane, "/find bca 500rb today")
        await sees(page, pane, who, who.reads("lookup.sought", what=f"BCA · {HALF_A_MILLION[who.locale]}"), "01-find")
        await tap(pane, reference)
        await sees(page, pane, who, who.reads("case.reference", reference=reference), "02-order")
        await tap(pane, who.label("lookup.person"))
        await sees(page, pane, who, who.reads("lookup.known_since"), "03-person")
        await tap(pane, who.label("lookup.all_orders"))
        await sees(page, pane, who, who.reads("lookup.orders_of", user=str(emma.id)), "04-orders")
        await tap(pane, who.label("lookup.more"))
        await expect(pane.get_by_text(who.label("lookup.back")).last).to_be_visible()
        await says(pane, "/tickets")
        await tap(pane, who.label("lookup.list.closed", count=0))
        await sees(page, pane, who, who.reads("lookup.no_tickets"), "05-tickets")
        await says(pane, "/person @nobody_at_all")
        await sees(page, pane, who, who.reads("lookup.nobody_called"), "06-nobody")


async def sees(page: Page, pane: Locator, who: Onlooker, text: re.Pattern[str], step: str) -> None:
    await expect(last(pane, text)).to_be_visible()
    await picture(page, who, step)
