"""A fake database with the inbox in memory. Writes become visible when they are committed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.telegram.inbound import attempts, chat_queues, receiver
from bot.infra.telegram.inbound.repository import InboxItem

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def inbox_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace `InboxRepository` by the rows of `FakeStore`."""
    for module in (attempts, chat_queues, receiver):
        monkeypatch.setattr(module, "InboxRepository", lambda tx: tx.inbox)


class LoopClock:
    """A clock that shows the event loop's time as a date."""

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())


class FakeInbox:
    def __init__(self) -> None:
        self.rows: dict[int, InboxItem] = {}
        self.finished: dict[int, datetime] = {}

    @staticmethod
    async def read_time(clock: Clock) -> datetime:
        return clock.now()

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        fresh = frozenset(item.id for item in items if item.id not in self.rows)
        self.rows |= {item.id: item for item in items if item.id in fresh}
        return fresh

    async def find_unfinished(
        self, chat_id: int, *, known: Collection[int] = (), limit: int = 50
    ) -> tuple[InboxItem, ...]:
        found = [self.rows[key] for key in self.unfinished() if key not in known and self.rows[key].chat_id == chat_id]
        return tuple(sorted(found, key=lambda item: (not item.is_update, item.received_at, item.id))[:limit])

    async def find_waiting(self, _owner: str, _limit: int, *, left: Collection[int] = ()) -> dict[int, int]:
        return dict(Counter(self.rows[key].chat_id for key in sorted(self.unfinished() - set(left))))

    async def count_attempt(self, key: int, by: int = 1) -> None:
        self.rows[key] = replace(self.rows[key], attempts=self.rows[key].attempts + by)

    async def finish(self, ids: Collection[int], at: datetime) -> None:
        for key in ids:
            if self.rows[key].is_update:
                self.finished.setdefault(key, at)
            else:
                del self.rows[key]

    def unfinished(self) -> set[int]:
        return set(self.rows) - set(self.finished)


class FakeStore:
    """A database in memory. Transactions raise `failures` when they begin, and `late_failures` after the commit."""

    def __init__(self, *, commits_take: float = 0.0) -> None:
        self.inbox = FakeInbox()
        self.commits_take = commits_take
        self.failures: list[Exception] = []
        self.late_failures: list[Exception] = []
        self.reads = 0
        self.unknown: dict[str, int] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with self._turn:
            if self.failures:
                raise self.failures.pop(0)
            before = dict(self.inbox.rows), dict(self.inbox.finished)
            try:
                yield self
                await asyncio.sleep(self.commits_take)
            except BaseException:
                self.inbox.rows, self.inbox.finished = before
                raise
            if self.late_failures:
                raise self.late_failures.pop(0)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        self.reads += 1
        await asyncio.sleep(0)
        yield self

    def record_unknown(self, _table: str, key: object) -> None:
        self.unknown[str(key)] = self.unknown.get(str(key), 0) + 1

    def list_unknown(self, _table: str) -> list[int]:
        return sorted(map(int, self.unknown))

    @property
    def port(self) -> Database:
        """This fake, typed as a `Database`."""
        return cast("Database", self)
