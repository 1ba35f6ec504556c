"""An operator's day on a phone: the rate, what they wish to hear, a broadcast from draft to report, figures, alarms.

`SCREENSHOTS=folder` keeps pictures of the way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from bot.i18n import Translations
from tests.e2e.browsing import PHONE, SEEN_WITHIN, Onlooker, last, opened, picture, says, tap
from tests.e2e.people import Newcomer, newcomer
from tests.e2e.world import World, world

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

OSCAR = 2001
TRANSLATIONS = Translations.load(strict=True)


@dataclass(frozen=True, kw_only=True)
class Operator(Onlooker):
    """Oscar on a phone, and what he reads in his language."""

    locale: str
    preview: str
    finished: str
    glance: str
    refused: str
    of_which_time: str
    no_orders: str

    @property
    def label(self) -> Callable[..., str]:
        """What stands on the button of a key."""
        return TRANSLATIONS.get(self.locale).plain


OPERATORS = [
    Operator(
        "oscar-phone-en",
        OSCAR,
        PHONE,
        locale="en",
        preview="This is what they get",
        finished="The broadcast is finished",
        glance="At a glance",
        refused="The service refuses our API key",
        of_which_time="Of which time",
        no_orders="No orders were placed in this time",
    ),
    Operator(
        "oscar-phone-id",
        OSCAR,
        PHONE,
        dark=True,
        locale="id",
        preview="Inilah yang mereka terima",
        finished="Siaran selesai",
        glance="Sekilas",
        refused="Layanan menolak API key kami",
        of_which_time="Untuk waktu yang mana",
        no_orders="Tidak ada pesanan dalam waktu ini",
    ),
]


@pytest.mark.parametrize("who", OPERATORS, ids=lambda who: who.name)
async def test_an_operator_finds_everything_on_a_phone(who: Operator, browser: Browser, tmp_path: Path) -> None:
    async with world(tmp_path, QUOTE_RECORD_SECONDS="10") as kirim, opened(browser, kirim, who) as page:
        readers = [await newcomer(kirim), await newcomer(kirim, "id")]
        for reader, daily, at in zip(readers, ("Daily quote", "Kurs harian"), ("06:00", "06.00"), strict=True):
            await subscribes(reader, daily, at)
        await kirim.oscar.speaks(who.locale)
        await page.get_by_test_id(f"show-{OSCAR}").click()
        pane = page.get_by_test_id(f"pane-{OSCAR}")
        await pane.get_by_test_id("start").click()
        await looks_at_the_rate(page, pane, who)
        await wishes_to_be_told(page, pane, who)
        await broadcasts(page, pane, who, readers)
        await sees_the_figures(page, pane, who)
        await hears_of_trouble(kirim, page, pane, who)


async def subscribes(reader: Newcomer, daily: str, at: str) -> None:
    await reader.says("/rate")
    await reader.taps(daily)
    await reader.taps(at)
    await reader.sees(at)


async def looks_at_the_rate(page: Page, pane: Locator, who: Operator) -> None:
    await says(pane, "/rate")
    rate = last(pane, "1 BTC")
    await expect(rate.get_by_test_id("photo")).to_be_visible(timeout=SEEN_WITHIN)
    await tap(pane, who.label("rate.button_week"))
    chosen = pane.get_by_test_id("inline-button").filter(has_text=f"· {who.label('rate.button_week')} ·")
    await expect(chosen.last).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "01-rate")


async def wishes_to_be_told(page: Page, pane: Locator, who: Operator) -> None:
    await tap(pane, who.label("subscription.alert"))
    await expect(last(pane, "🔔")).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "02-alert")
    await tap(pane, "+5")
    once = who.label("subscription.once")
    await tap(pane, once)
    await expect(last(pane, "✅")).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "03-alert-set")


async def broadcasts(page: Page, pane: Locator, who: Operator, readers: list[Newcomer]) -> None:
    await says(pane, "/broadcast")
    await picture(page, who, "04-broadcast")
    await tap(pane, who.label("broadcast.picture"))
    await tap(pane, who.label("broadcast.chart.day"))
    await tap(pane, who.label("broadcast.preview"))
    await expect(last(pane, who.preview)).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "05-preview")
    sending = TRANSLATIONS.get(who.locale).n("broadcast.send", 3)
    await tap(pane, str(sending))
    await expect(last(pane, who.finished)).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "06-report")
    for reader, words in zip(readers, ("Today's rate", "Kurs hari ini"), strict=True):
        told = await reader.sees(words, anywhere=True)
        assert told["photo"]
        assert await reader.count(words) == 1
    await says(pane, "/broadcasts")
    await picture(page, who, "07-broadcasts")


async def sees_the_figures(page: Page, pane: Locator, who: Operator) -> None:
    await says(pane, "/stats")
    await expect(last(pane, "📊")).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "08-stats")
    await says(pane, "/export")
    # The figures above have a button of the same name.
    await expect(last(pane, who.of_which_time)).to_be_visible(timeout=SEEN_WITHIN)
    await tap(pane, who.label("export.week"))
    await expect(last(pane, who.no_orders)).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "09-export")


async def hears_of_trouble(kirim: World, page: Page, pane: Locator, who: Operator) -> None:
    await says(pane, "/status")
    await expect(last(pane, who.glance)).to_be_visible(timeout=SEEN_WITHIN)
    await picture(page, who, "10-status")
    await kirim.service.fails_with("401", method="GET", path="/v1/quote")
    await expect(last(pane, who.refused)).to_be_visible(timeout=SEEN_WITHIN * 2)
    await picture(page, who, "11-alarm")
    await kirim.service.heals()
    await expect(last(pane, who.label("alarm.key_refused_over"))).to_be_visible(timeout=SEEN_WITHIN * 2)
    await picture(page, who, "12-over")
