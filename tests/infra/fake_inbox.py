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
from bot.infra.jobs.repository import Job
from bot.infra.telegram.inbound import attempts, chat_queues, receiver
from bot.infra.telegram.inbound.model import InboxItem

FOR_OTHERS = "sealed with a key of others"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def inbox_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace `InboxRepository` and `JobRepository` by the rows of `FakeStore`."""
    for module in (attempts, chat_queues, receiver):
        monkeypatch.setattr(module, "InboxRepository", lambda tx: tx.inbox)
    monkeypatch.setattr(chat_queues, "JobRepository", lambda tx: tx.jobs)


class LoopClock:
    """A clock that shows the event loop's time as a date."""

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())


class FakeInbox:
    def __init__(self) -> None:
        self.rows: dict[int, InboxItem] = {}
        self.finished: dict[int, datetime] = {}
        self.left = set[int]()
        """The updates that only others can read."""

    @staticmethod
    async def read_time(clock: Clock) -> datetime:
        return clock.now()

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        fresh = frozenset(item.update_id for item in items if item.update_id not in self.rows)
        self.rows |= {item.update_id: item for item in items if item.update_id in fresh}
        return fresh

    async def find_unfinished(
        self, chat_id: int, *, known: Collection[int] = (), limit: int = 50
    ) -> tuple[InboxItem, ...]:
        rows = [self.rows[key] for key in self.unfinished() if key not in known]
        mine = sorted(rows, key=lambda item: (item.received_at, item.update_id))
        found = [item for item in mine if item.chat_id == chat_id][:limit]
        self.left = {item.update_id for item in found if item.body == FOR_OTHERS}
        return tuple(item for item in found if item.body != FOR_OTHERS)

    async def find_waiting(self, _owner: str, _limit: int) -> dict[int, int]:
        return dict(Counter(self.rows[key].chat_id for key in sorted(self.unfinished())))

    async def count_attempt(self, update_ids: Collection[int]) -> None:
        for key in update_ids:
            self.rows[key] = replace(self.rows[key], attempts=self.rows[key].attempts + 1)

    async def finish(self, update_ids: Collection[int], at: datetime) -> None:
        for key in update_ids:
            self.finished.setdefault(key, at)

    def unfinished(self) -> set[int]:
        return set(self.rows) - set(self.finished)


class FakeJobs:
    def __init__(self) -> None:
        self.waiting: list[Job] = []

    def add(self, chat_id: int, kind: str, argument: str = "") -> None:
        job_id = max((job.id for job in self.waiting), default=0) + 1
        created = LoopClock().now()
        self.waiting.append(
            FakeJob(id=job_id, chat_id=chat_id, kind=kind, argument=argument, created_at=created, attempts=0)
        )

    async def find_of_chat(self, chat_id: int, known: Collection[int] = ()) -> tuple[Job, ...]:
        return tuple(job for job in self.waiting if job.chat_id == chat_id and job.id not in known)

    async def find_waiting(self, _owner: str, _limit: int) -> dict[int, int]:
        return dict(Counter(job.chat_id for job in self.waiting))

    async def count_attempt(self, job_id: int) -> None:
        self.waiting = [replace(job, attempts=job.attempts + (job.id == job_id)) for job in self.waiting]


class FakeJob(Job):
    async def finish(self, tx: Any) -> None:
        tx.jobs.waiting = [job for job in tx.jobs.waiting if job.id != self.id]


class FakeStore:
    """A database in memory. Transactions raise `failures` when they begin, and `late_failures` after the commit."""

    def __init__(self, *, commits_take: float = 0.0) -> None:
        self.inbox = FakeInbox()
        self.jobs = FakeJobs()
        self.commits_take = commits_take
        self.failures: list[Exception] = []
        self.late_failures: list[Exception] = []
        self.reads = 0
        self.left: list[str] = []
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

    def record_left(self, table: str, key: object) -> None:
        self.left.append(f"{table} {key}")

    @property
    def port(self) -> Database:
        """This fake, typed as a `Database`."""
        return cast("Database", self)
