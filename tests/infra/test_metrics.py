"""The first series of a metric, and how late the event loop is."""

import asyncio
import time

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest

from bot.infra.metrics import LoopLag, start_at_zero
from tests.virtual_time import in_virtual_time


def test_every_series_exists_before_anything_is_counted() -> None:
    registry = CollectorRegistry()
    things = Counter("kirim_things", "Things.", ["kind", "result"], registry=registry)
    start_at_zero(things, ("one", "two"), ("good", "bad"))
    text = generate_latest(registry).decode()
    assert text.count("\nkirim_things_total{") == 4
    assert 'kirim_things_total{kind="two",result="bad"} 0.0' in text
    assert "_created" not in text


@in_virtual_time
async def test_a_loop_that_runs_has_no_lag() -> None:
    lag = LoopLag()
    measuring = asyncio.create_task(lag.run())
    await asyncio.sleep(2 * LoopLag.INTERVAL_SECONDS + 0.1)
    assert lag.seconds == pytest.approx(0, abs=0.01)
    measuring.cancel()


async def test_a_blocked_loop_is_seen() -> None:
    lag = LoopLag()
    measuring = asyncio.create_task(lag.run())
    await asyncio.sleep(0)
    time.sleep(LoopLag.INTERVAL_SECONDS + 0.2)  # noqa: ASYNC251  the loop is to stand still
    await asyncio.sleep(0.01)
    assert lag.seconds >= 0.2
    measuring.cancel()
