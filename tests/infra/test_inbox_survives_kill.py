"""No update is lost after kill -9, with a real database, Bot API server and process."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.launcher import launcher
from tests.sandbox.telegram_sandbox import EMMA, SARI, Running, running
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.process


class ChildProcess:
    """The process, and the ids of the updates that it handled."""

    def __init__(self, server: Running, folder: Path) -> None:
        self.base_url = f"{server.url}/bot{server.settings.bot_token}"
        self.path = folder / "kirim.db"
        self.database = f"sqlite:///{self.path}"
        self.notes = folder / "notes"
        self.notes.touch()

    @asynccontextmanager
    async def run_and_kill(self, done: Callable[[], bool], limit: int) -> AsyncIterator[None]:
        """Run a process that handles `limit` updates. At the end of the block, wait for `done` and kill it."""
        with self.notes.with_suffix(".log").open("wb") as log:
            process = await launcher().start(
                [self.base_url, self.database, str(self.notes), str(limit)],
                program="tests.infra.inbox_child",
                environment={},
                log=log.fileno(),
            )
        try:
            yield
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while not done():
                    assert process.returncode is None, "it ended by itself"
                    await asyncio.sleep(0.01)
        finally:
            process.kill()
            await process.wait()

    def processed(self) -> list[int]:
        return [int(line) for line in self.notes.read_text().split()]

    def finished(self) -> int:
        """Return how many updates are finished in the inbox. That happens soon after they were handled."""
        with closing(sqlite3.connect(self.path, timeout=TIMEOUT_SECONDS)) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").fetchone():
                return 0
            found: int = database.execute("SELECT count(*) FROM inbox WHERE finished_at IS NOT NULL").fetchone()[0]
            return found


async def is_all_acknowledged(server: Running) -> bool:
    answer = await server.calls("getWebhookInfo")
    return int(answer.json()["result"]["pending_update_count"]) == 0


async def test_updates_that_telegram_has_forgotten_are_processed_after_kill_9(tmp_path: Path) -> None:
    async with running() as server:
        child = ChildProcess(server, tmp_path)
        for number in range(20):
            await server.says(EMMA if number % 2 else SARI, f"message {number}")
        async with child.run_and_kill(lambda: child.finished() == 4, limit=4):
            await until(partial(is_all_acknowledged, server), what="the end of what Telegram will tell again")
        async with child.run_and_kill(lambda: len(set(child.processed())) == 20, limit=20):
            pass
    counts = Counter(child.processed())
    assert len(counts) == 20
    assert set(counts.values()) == {1}, "what was finished is not met again"


async def test_kill_after_kill_while_updates_come_keeps_each_chat_in_order(tmp_path: Path) -> None:
    async with running() as server:
        child = ChildProcess(server, tmp_path)
        for wave in range(4):
            target = len(set(child.processed())) + 3
            async with child.run_and_kill(lambda target=target: len(set(child.processed())) >= target, limit=20):  # type: ignore[misc]
                for number in range(10):
                    await server.says(EMMA, f"message {wave}-{number}")
        async with child.run_and_kill(lambda: len(set(child.processed())) == 40, limit=40):
            pass
    first_times = list(dict.fromkeys(child.processed()))
    assert first_times == sorted(first_times)
