"""The bot's shutdown: unfinished work gets less time than a service manager waits."""

import asyncio

from bot import process
from bot.core.shutdown import finish_tasks
from bot.infra.http import server
from tests.virtual_time import in_virtual_time, now

FIVE_SECONDS = 5.0


def test_all_that_the_end_gives_to_unfinished_work_fits_into_five_seconds() -> None:
    simultaneous = max(process.FINISH_UPDATES, process.FINISH_ORDER_REQUESTS, process.FINISH_NOTIFICATIONS)
    assert server.CLOSE_SECONDS + simultaneous + process.FINISH_SUPPORT < FIVE_SECONDS


@in_virtual_time
async def test_work_that_never_ends_is_cut_off_after_what_it_is_given() -> None:
    for seconds in (process.FINISH_ORDER_REQUESTS, process.FINISH_NOTIFICATIONS, process.FINISH_SUPPORT):
        work = asyncio.create_task(asyncio.Event().wait())
        began = now()
        await finish_tasks(lambda work=work: [] if work.done() else [work], seconds)  # type: ignore[misc]
        assert work.cancelled()
        assert now() - began == seconds


@in_virtual_time
async def test_a_start_that_hangs_is_left_at_once_when_the_bot_is_to_end() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(1, stop.set)
    began = now()
    assert (
        await process._run_unless_stopped(stop, asyncio.sleep(max(process.CONNECT_RETRIES.seconds), result=True))
        is None
    )
    assert now() - began == 1
