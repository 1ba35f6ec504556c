"""kill -9 at any time loses no committed transaction and leaves none half done."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.repository import OrderRepository
from tests.times import NOW

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]

WRITING = """
import asyncio, sys
from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.repository import OrderRepository
from tests.orders.builders import an_order
from tests.infra.builders import a_notification
from tests.infra.keys import VAULT

async def write(store, n, pause):
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order(str(n)))
        if pause:
            print("half", flush=True)
            await asyncio.Event().wait()
        await OutboxRepository(tx).add([a_notification(f"order:{n}", chat_id=n)])
    print(n, flush=True)

async def main(url, pause_at):
    store = Database(url, VAULT)
    for n in range(1, 100_000):
        await write(store, n, n == pause_at)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@contextmanager
def run_writer(database: str, pause_at: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, database, str(pause_at)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def read_committed(store: Database) -> set[int]:
    """Return the numbers in the database, each with its order and its notification."""
    async with store.reading() as tx:
        orders = {int(order.reference) for order in await OrderRepository(tx).of_user(1001, limit=100_000)}
        notifications = {head.chat_id for head in await OutboxRepository(tx).find_heads(NOW, limit=100_000)}
    assert orders == notifications
    return orders


async def test_a_kill_in_the_middle_of_a_transaction_leaves_no_half(store: Database, database: str) -> None:
    with run_writer(database, pause_at=4) as process:
        assert [read_line(process) for _ in range(4)] == ["1", "2", "3", "half"]
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert await read_committed(store) == {1, 2, 3}
        async with store.transaction() as tx:  # the lock of the killed writer is gone
            assert await OrderRepository(tx).get("4") is None


@pytest.mark.parametrize("after", [1, 7, 23, 40])
async def test_a_kill_at_any_moment_loses_nothing_committed(store: Database, database: str, after: int) -> None:
    with run_writer(database, pause_at=-1) as process:
        for _ in range(after):
            read_line(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        committed = after + len(process.stdout.read().split())
    there = await read_committed(store)
    assert there >= set(range(1, committed + 1)), "what it said was committed is there"
    assert there <= set(range(1, committed + 2)), "and at most the one it had no time to speak of"
