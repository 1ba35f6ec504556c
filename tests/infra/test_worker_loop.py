"""A worker survives any failure and ends only when it is stopped."""

import asyncio

import pytest

from bot.infra.workers import Wakeup, run_forever
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


@in_virtual_time
async def test_a_worker_that_is_cancelled_ends() -> None:
    async def once() -> float:
        await asyncio.sleep(5)
        return 1.0

    worker = asyncio.create_task(run_forever("worker", once, Wakeup()))
    await asyncio.sleep(1)
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
