"""A worker survives any failure and ends only when it is stopped."""

import asyncio

import pytest
from prometheus_client import REGISTRY
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from bot.infra.db.fence import LeaseLost
from bot.infra.workers import Wakeup, run_each, run_forever
from tests.virtual_time import in_virtual_time


@in_virtual_time
async def test_a_stray_cancellation_does_not_end_a_worker() -> None:
    calls = 0

    async def once() -> float:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise asyncio.CancelledError
        return 1.0

    worker = asyncio.create_task(run_forever("worker", once, Wakeup()))
    await asyncio.sleep(60)
    assert calls > 3
    assert not worker.done()
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker


async def fail_for_two(item: str) -> str:
    if item == "two":
        raise ValueError("it quotes a row")
    return item.upper()


async def test_one_item_that_fails_stops_no_other_and_is_logged_without_its_text() -> None:
    before = failures("sweep")
    with capture_logs(processors=[merge_contextvars]) as lines:
        assert await run_each("sweep", ["one", "two", "three"], fail_for_two, field="order") == ["ONE", "THREE"]
    assert failures("sweep") == before + 1
    (line,) = lines
    assert (line["event"], line["worker"], line["error"], line["order"]) == (
        "worker_item_failed",
        "sweep",
        "ValueError",
        "two",
    )
    assert "quotes" not in str(line)


async def test_a_sweep_ends_when_its_process_no_longer_leads() -> None:
    done = []

    async def lose(item: int) -> None:
        done.append(item)
        raise LeaseLost

    with pytest.raises(LeaseLost):
        await run_each("sweep", [1, 2], lose)
    assert done == [1]


def failures(worker: str) -> float:
    return REGISTRY.get_sample_value("kirim_worker_failures_total", {"worker": worker}) or 0.0
