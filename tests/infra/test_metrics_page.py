"""`/metrics` over HTTP: gauges are refreshed first, and a lost database hides nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import httpx
import pytest
from prometheus_client import REGISTRY, Gauge

from bot.infra.db.errors import StoreDown
from bot.infra.http import health as page


@pytest.fixture
def sample() -> Iterator[Gauge]:
    """A gauge that only one test shows."""
    yield (made := Gauge("kirim_sample", "A sample."))
    REGISTRY.unregister(made)


async def read(refresh: Callable[[], Awaitable[object]]) -> httpx.Response:
    transport = httpx.ASGITransport(page.create_metrics_app(refresh))
    async with httpx.AsyncClient(transport=transport, base_url="http://bot.example") as browser:
        return await browser.get("/metrics")


def failures() -> float:
    return REGISTRY.get_sample_value("kirim_gauges_not_refreshed_total") or 0.0


async def test_gauges_are_refreshed_before_they_are_shown(sample: Gauge) -> None:
    async def refresh() -> None:
        sample.set(1)

    answer = await read(refresh)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    assert "\nkirim_sample 1.0\n" in answer.text
    assert "\nprocess_resident_memory_bytes " in answer.text


async def test_without_its_database_it_shows_the_rest_and_counts_that() -> None:
    async def fail() -> None:
        raise StoreDown

    before = failures()
    answer = await read(fail)
    assert answer.status_code == 200
    assert f"\nkirim_gauges_not_refreshed_total {before + 1}\n" in answer.text


async def test_a_database_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "WITHIN_SECONDS", 0.01)
    before = failures()
    answer = await read(asyncio.Event().wait)
    assert answer.status_code == 200
    assert failures() == before + 1
