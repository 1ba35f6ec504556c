"""Charts are drawn once for each reader, with round rates and times that fit."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.db.database import Database
from bot.infra.drawing.chart import make_scale, make_times
from bot.infra.i18n import Translations
from bot.rates.charts import Charts
from bot.rates.model import ChartPeriod
from bot.rates.repository import QuoteRepository
from bot.rates.service import QuoteService
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


JAKARTA, BERLIN = ZoneInfo("Asia/Jakarta"), ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 10, 6, tzinfo=UTC)
RATES = st.decimals(min_value=0, max_value=10**12, allow_nan=False, places=2)


@given(RATES, RATES)
def test_everything_is_within_the_scale_and_levels_are_few(one: Decimal, other: Decimal) -> None:
    ground = make_scale(min(one, other), max(one, other))
    assert 0 <= ground.share(min(one, other)) <= ground.share(max(one, other)) <= 1
    assert 1 <= len(ground.levels) <= 5
    assert all(0 <= ground.share(level) <= 1 and level % ground.step == 0 for level in ground.levels)


def hours(length: timedelta, zone: ZoneInfo, until: datetime = NOW) -> list[str]:
    return [f"{moment.astimezone(zone):%d %H:%M}" for moment in make_times(until - length, until, zone).moments]


def test_the_hour_that_a_clock_skips_or_has_twice_is_there_once() -> None:
    for until in (datetime(2026, 3, 29, 12, tzinfo=UTC), datetime(2026, 10, 25, 12, tzinfo=UTC)):
        moments = make_times(until - timedelta(hours=12), until, BERLIN).moments
        assert list(moments) == sorted(set(moments))


@given(st.integers(1, 400 * 86_400))
def test_there_are_never_too_many_times(seconds: int) -> None:
    found = make_times(NOW - timedelta(seconds=seconds), NOW, BERLIN)
    assert len(found.moments) <= 6 or found.step == timedelta(days=14)
    assert all(NOW - timedelta(seconds=seconds) <= moment <= NOW for moment in found.moments)
