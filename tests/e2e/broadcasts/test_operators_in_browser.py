"""An operator's day on a phone: the rate, a price alert, a broadcast from draft to report, statistics, alarms.

`SCREENSHOTS=folder` saves screenshots.
"""

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
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.system import System, running_system
from tests.texts import label, like, text

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

OSCAR = 2001
OPERATORS = [
    Viewer("oscar-phone-id", OSCAR, PHONE, dark=True, locale="id"),
    Viewer("oscar-phone-en", OSCAR, PHONE),
]


@pytest.mark.parametrize("who", first_of(OPERATORS), ids=lambda who: who.name)
async def test_an_operator_finds_everything_on_a_phone(who: Viewer, browser: Browser, tmp_path: Path) -> None:
    async with running_system(tmp_path, QUOTE_RECORD_SECONDS="10") as kirim:
        readers = {locale: await new_user(kirim, locale) for locale in ("en", "id")}
        await subscribe(readers["en"], label("rates.subscription.daily"), "06:00")
        await subscribe(readers["id"], label("rates.subscription.daily", "id"), "06.00")
        await kirim.oscar.speaks(who.locale)
        async with open_page(browser, kirim, who) as page:
            await show_chat(page, kirim, OSCAR)
            pane = page.get_by_test_id(f"pane-{OSCAR}")
            await pane.get_by_test_id("start").click()
            await send_a_broadcast(page, pane, who, readers)
            await look_at_the_statistics(page, pane, who)
            await look_at_the_alarms(kirim, page, pane, who)


async def subscribe(reader: ChatUser, daily: str, at: str) -> None:
    await reader.says("/rate")
    await reader.taps(daily)
    await reader.taps(at)
    await reader.sees(at)


async def send_a_broadcast(page: Page, pane: Locator, who: Viewer, readers: dict[str, ChatUser]) -> None:
    await send_text(pane, "/broadcast")
    await save_screenshot(page, who, "04-broadcast")
    await tap_button(pane, who.label("broadcasts.picture"))
    await tap_button(pane, who.label("broadcasts.chart.day"))
    await tap_button(pane, who.label("broadcasts.preview"))
    await expect(last_message(pane, who.reads("broadcasts.confirm"))).to_be_visible()
    await save_screenshot(page, who, "05-preview")
    await tap_button(pane, text("broadcasts.send", who.locale, count=len(readers)))
    await expect(last_message(pane, who.reads("broadcasts.delivery.done"))).to_be_visible()
    await save_screenshot(page, who, "06-report")
    for locale, reader in readers.items():
        rate = like("broadcasts.default", locale)
        message = await reader.sees(rate, anywhere=True)
        assert message["photo"]
        assert await reader.count(rate) == 1
    await send_text(pane, "/broadcasts")
    await save_screenshot(page, who, "07-broadcasts")


async def look_at_the_statistics(page: Page, pane: Locator, who: Viewer) -> None:
    await send_text(pane, "/stats")
    await expect(last_message(pane, who.reads("operations.statistics.head"))).to_be_visible()
    await save_screenshot(page, who, "08-stats")
    await send_text(pane, "/export")
    # The statistics above have a button of the same name.
    await expect(last_message(pane, who.reads("staff.export.ask"))).to_be_visible()
    await tap_button(pane, who.label("staff.export.week"))
    await expect(last_message(pane, who.reads("staff.export.none"))).to_be_visible()
    await save_screenshot(page, who, "09-export")


async def look_at_the_alarms(kirim: System, page: Page, pane: Locator, who: Viewer) -> None:
    await send_text(pane, "/status")
    await expect(last_message(pane, who.reads("operations.status.figures"))).to_be_visible()
    await save_screenshot(page, who, "10-status")
    await kirim.service.fails_with("401", method="GET", path="/v1/quote")
    await expect(last_message(pane, who.reads("staff.alarm.key_refused"))).to_be_visible()
    await save_screenshot(page, who, "11-alarm")
    await kirim.service.heals()
    await expect(last_message(pane, who.reads("staff.alarm.over"))).to_be_visible()
    await save_screenshot(page, who, "12-over")
