"""Log lines have the fields of the work that they are about, and never those of other work."""

import asyncio
import contextvars
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta

import pytest
import structlog
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.testing import capture_logs
from structlog.typing import EventDict
from telegram import Update

from bot.infra.db.errors import StoreDown
from bot.infra.logging import bind_fields, shared_task_context
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.repository import InboxItem
from bot.infra.workers import Wakeup, run_forever
from bot.settlement.catalogue import CachedValue
from tests.infra.fake_inbox import LoopClock, inbox_in_memory  # noqa: F401  a fixture
from tests.infra.test_chat_queues import JOB, RecordingQueues, a_job, item
from tests.virtual_time import in_virtual_time

log = structlog.get_logger(__name__)


LINES: list[EventDict] = []
"""The lines of the running test. Tests in virtual time take no fixtures."""


@pytest.fixture(autouse=True)
def _captured_lines() -> Iterator[None]:
    with capture_logs([merge_contextvars]) as lines:
        global LINES  # noqa: PLW0603  see there
        LINES = lines
        yield


class LoggingQueues(RecordingQueues):
    """Queues whose updates log a line, with more that a test adds for an update."""

    def __init__(self) -> None:
        self.more: dict[int, Callable[[ChatQueues], Awaitable[None]]] = {}
        super().__init__()

    async def do_job(self, job: InboxItem) -> None:
        log.info("job_done")
        await super().do_job(job)

    async def process(self, update: Update) -> None:
        log.info("update_handled")
        if update.update_id in self.more:
            await self.more[update.update_id](self.queues)
        await super().process(update)


def fields(event: str) -> list[dict[str, object]]:
    """Return the context of each line of an event."""
    own = {"event", "log_level", "error", "where", "attempts", "retry_in", "what"}
    return [{name: line[name] for name in line if name not in own} for line in LINES if line["event"] == event]


@in_virtual_time
async def test_each_update_of_a_chat_has_its_own_id_in_its_lines() -> None:
    chats = LoggingQueues()
    await chats.receive((1, 7), (2, 7), (3, 8))
    await chats.wait_until_finished()
    assert sorted(str(each["update"]) for each in fields("update_handled")) == ["1", "2", "3"]
    assert get_contextvars() == {}


@in_virtual_time
async def test_a_failed_update_leaves_no_field_to_the_next() -> None:
    chats = LoggingQueues()
    chats.errors[1] = [RuntimeError(), asyncio.CancelledError()] * 3

    async def reads_the_context(_: ChatQueues) -> None:
        seen.append(get_contextvars())

    seen: list[dict[str, object]] = []
    chats.more[2] = reads_the_context
    await chats.receive((1, 7), (2, 7))
    await chats.wait_until_finished()
    assert fields("chat_work_failed") == [{"update": 1}] * 5
    assert fields("chat_work_dropped") == [{"update": 1}]
    assert seen == [{"update": 2}]


@in_virtual_time
async def test_a_cancelled_handler_leaves_no_field_to_other_updates() -> None:
    chats = LoggingQueues()

    async def is_cancelled(_: ChatQueues) -> None:
        with bind_fields(order="R2345AB"):
            raise asyncio.CancelledError

    chats.more[1] = is_cancelled
    await chats.receive((1, 7), (2, 7), (3, 8))
    await chats.wait_until_finished()
    assert {"update": 2} in fields("update_handled")
    assert {"update": 3} in fields("update_handled")
    assert fields("chat_work_dropped") == [{"update": 1}]


@in_virtual_time
async def test_a_task_that_an_update_starts_has_its_id_and_the_next_update_does_not() -> None:
    chats = LoggingQueues()
    tasks: list[asyncio.Task[None]] = []

    async def starts_a_task(_: ChatQueues) -> None:
        with bind_fields(order="R2345AB"):
            tasks.append(asyncio.create_task(logs_later()))

    chats.more[1] = starts_a_task
    await chats.receive((1, 7), (2, 7))
    await chats.wait_until_finished()
    await asyncio.gather(*tasks)
    assert fields("task_done") == [{"update": 1, "order": "R2345AB"}]
    assert fields("update_handled") == [{"update": 1}, {"update": 2}]


async def logs_later() -> None:
    await asyncio.sleep(10)
    log.info("task_done")


@in_virtual_time
async def test_a_job_names_its_kind_and_the_updates_of_its_chat_do_not() -> None:
    chats = LoggingQueues()

    async def adds_a_job(_: ChatQueues) -> None:
        # Chat 8 has no queue yet, so this update also starts its task.
        await chats.store.inbox.add([a_job(8)])
        await chats.look()

    chats.errors[JOB] = [RuntimeError()]
    chats.more[1] = adds_a_job
    await chats.receive((1, 7))
    await asyncio.sleep(1)
    await chats.receive((2, 8))
    await asyncio.sleep(1)
    assert fields("job_done") == [{"job": "job"}]
    assert fields("chat_work_failed") == [{"job": "job"}]
    assert fields("update_handled") == [{"update": 1}, {"update": 2}]


@in_virtual_time
async def test_a_queue_that_an_update_of_another_chat_started_keeps_none_of_its_fields() -> None:
    chats = LoggingQueues()
    fault = StoreDown()

    async def submits_elsewhere(queues: ChatQueues) -> None:
        chats.store.failures.append(fault)
        queues.submit_updates([item(2, 8)], [2])

    chats.more[1] = submits_elsewhere
    await chats.receive((1, 7))
    await chats.store.inbox.add([item(2, 8)])
    await chats.wait_until_finished()
    # The failed commit finishes the updates of several chats.
    assert fields("retry_scheduled") == [{}]
    assert fields("update_handled") == [{"update": 1}, {"update": 2}]


@in_virtual_time
async def test_a_worker_keeps_no_field_of_a_failed_round() -> None:
    rounds: list[dict[str, object]] = []

    async def polls() -> float:
        rounds.append(get_contextvars())
        with bind_fields(order=f"R{len(rounds)}"):
            log.info("order_read")
            raise RuntimeError

    worker = asyncio.create_task(run_forever("poller", polls, Wakeup()))
    await asyncio.sleep(4)
    worker.cancel()
    assert rounds == [{}] * len(rounds)
    assert [each["order"] for each in fields("order_read")][:2] == ["R1", "R2"]
    assert all(each == {"worker": "poller"} | {"exc_info": True} for each in fields("worker_failed"))


@in_virtual_time
async def test_a_request_that_several_share_has_the_fields_of_none() -> None:
    async def fetch() -> int:
        log.info("list_read")
        return 1

    with bind_fields(update=1):
        assert await CachedValue(fetch, timedelta(0), LoopClock()).get() == 1
    assert fields("list_read") == [{}]


def test_a_context_shared_task_context_keeps_the_other_variables() -> None:
    other = contextvars.ContextVar[str]("other")
    other.set("kept")
    with bind_fields(update=1):
        context = shared_task_context()
    assert context.run(get_contextvars) == {}
    assert context[other] == "kept"


PROGRAM = """
import asyncio, logging, threading
import structlog
from bot.infra import logging as logs
from bot.infra.logging import bind_fields
logs.configure("info", "json")
log = structlog.get_logger("test")
async def main():
    with bind_fields(update=7):
        log.info("first_thing_done", order="R2345AB")
        await asyncio.to_thread(log.info, "second_thing_done")
        thread = threading.Thread(target=log.info, args=["third_thing_done"])
        thread.start()
        thread.join()
    logging.getLogger("library").warning("a library's line")
asyncio.run(main())
"""


@pytest.mark.process
def test_every_line_has_the_id_of_its_process_and_each_start_another() -> None:
    starts = [run_program() for _ in range(2)]
    ids = [{line["process"] for line in lines} for lines in starts]
    assert [len(each) for each in ids] == [1, 1]
    assert ids[0] != ids[1]
    first, second, third, library = starts[0]
    assert (first["update"], first["order"]) == (7, "R2345AB")
    assert second["update"] == 7
    assert "update" not in third | library


def run_program() -> list[dict[str, object]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]
