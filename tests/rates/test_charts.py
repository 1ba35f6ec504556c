"""A chart is drawn once for all readers of the same chart."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from bot.infra.db.database import Database
from bot.infra.i18n import Translations
from bot.rates.charts import Charts
from bot.rates.history import ChartPeriod
from bot.rates.quote_service import QuoteService
from bot.rates.repository import QuoteRepository
from bot.settlement.model import Quote
from tests.infra.keys import VAULT
from tests.settlement.fake_settlement import BEGINNING, FakeSettlement

QUOTE = Quote(Decimal(1_612_345_678), BEGINNING, Decimal(16_250), "sandbox")
TRANSLATIONS = Translations.load(strict=True)
ENGLISH, INDONESIAN = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")


@pytest.fixture
async def charts(file: str, service: FakeSettlement) -> AsyncIterator[Charts]:
    store = Database(file, VAULT)
    async with store.transaction() as tx:
        for hour in range(1, 49):
            earlier = QUOTE.fetched_at - timedelta(hours=hour)
            await QuoteRepository(tx).add(replace(QUOTE, fetched_at=earlier, btc_idr=QUOTE.btc_idr + hour * 10**5))
    yield Charts(QuoteService(store, service, service.clock, lambda: None), remembered=3)
    await store.close()


async def test_all_who_look_at_the_same_at_once_get_one_picture(charts: Charts) -> None:
    looks = await asyncio.gather(*(charts.of(ENGLISH, ChartPeriod.DAY, QUOTE) for _ in range(9)))
    assert len(set(map(id, looks))) == 1
    assert looks[0].history.change_percent


async def test_each_language_period_zone_and_quote_has_its_own(charts: Charts) -> None:
    pictures = {
        (await charts.of(ENGLISH, ChartPeriod.DAY, QUOTE)).png,
        (await charts.of(INDONESIAN, ChartPeriod.DAY, QUOTE)).png,
        (await charts.of(ENGLISH, ChartPeriod.WEEK, QUOTE)).png,
        (await charts.of(ENGLISH, ChartPeriod.DAY, QUOTE, ZoneInfo("Asia/Tokyo"))).png,
        (await charts.of(ENGLISH, ChartPeriod.DAY, replace(QUOTE, btc_idr=Decimal(1_600_000_000)))).png,
    }
    assert len(pictures) == 5


async def test_what_was_drawn_long_ago_is_drawn_again_the_same(charts: Charts) -> None:
    first = await charts.of(ENGLISH, ChartPeriod.DAY, QUOTE)
    for second in range(1, 4):
        await charts.of(
            ENGLISH, ChartPeriod.DAY, replace(QUOTE, fetched_at=QUOTE.fetched_at + timedelta(seconds=second))
        )
    again = await charts.of(ENGLISH, ChartPeriod.DAY, QUOTE)
    assert again is not first
    assert again == first
