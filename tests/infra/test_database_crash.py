"""kill -9 at any time loses no committed transaction and leaves none half done."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import pytest

from bot.infra.db.database import Database
from bot.orders.repository import OrderRepository
from tests.e2e.launcher import Child, launcher
from tests.infra.builders import all_notifications

pytestmark = pytest.mark.process


class Writer:
    """A process that writes orders, and what it prints."""

    def __init__(self, process: Child, output: TextIO) -> None:
        self._process = process
        self._output = output

    def read_line(self) -> str:
        """Wait for its next line, and return it."""
        return self._output.readline().strip()

    async def kill(self) -> list[str]:
        """Kill it, and return the lines that weren't read."""
        self._process.kill()
        await self._process.wait()
        return self._output.read().split()


@asynccontextmanager
async def running_writer(database: str, folder: Path, pause_at: int) -> AsyncIterator[Writer]:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="ascii") as output, (folder / "log").open("wb") as log:
        process = await launcher().start(
            [database, str(pause_at)],
            program="tests.infra.writing_child",
            environment={},
            log=log.fileno(),
            stdout=writing,
        )
        os.close(writing)
        writer = Writer(process, output)
        try:
            yield writer
        finally:
            await writer.kill()


async def read_committed(store: Database) -> set[int]:
    """Return the numbers in the database, each with its order and its notification."""
    async with store.reading() as tx:
        orders = {int(order.reference) for order in await OrderRepository(tx).of_user(1001, limit=100_000)}
        notifications = {head.chat_id for head in await all_notifications(tx)}
    assert orders == notifications
    return orders


async def test_a_kill_in_the_middle_of_a_transaction_leaves_no_half(
    store: Database, database: str, tmp_path: Path
) -> None:
    async with running_writer(database, tmp_path, pause_at=4) as writer:
        assert [writer.read_line() for _ in range(4)] == ["1", "2", "3", "half"]
        await writer.kill()
        assert await read_committed(store) == {1, 2, 3}
        async with store.transaction() as tx:  # the lock of the killed writer is gone
            assert await OrderRepository(tx).get("4") is None


@pytest.mark.parametrize("after", [1, 7, 23, 40])
async def test_a_kill_at_any_moment_loses_nothing_committed(
    store: Database, database: str, tmp_path: Path, after: int
) -> None:
    async with running_writer(database, tmp_path, pause_at=-1) as writer:
        assert [writer.read_line() for _ in range(after)] == [str(number) for number in range(1, after + 1)]
        committed = after + len(await writer.kill())
    there = await read_committed(store)
    assert there >= set(range(1, committed + 1)), "what it said was committed is there"
    assert there <= set(range(1, committed + 2)), "and at most the one it had no time to speak of"
