"""Reads and writes of jobs in one transaction."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import bindparam, delete, func, select, update

from bot.infra.db import upsert
from bot.infra.db.columns import MALFORMED
from bot.infra.db.statements import once
from bot.infra.db.transaction import Transaction
from bot.infra.jobs.tables import jobs
from bot.infra.leases.repository import held_by_others

EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that waits for its turn in a chat: its kind, and what it is about."""

    id: int
    chat_id: int
    kind: str
    argument: str
    created_at: datetime
    attempts: int

    async def finish(self, tx: Transaction) -> None:
        """Delete the job, in the transaction that does its work. After a crash it is then done or not even begun."""
        await tx.connection.execute(delete(jobs).where(jobs.c.id == self.id))


JobHandler = Callable[[Job], Awaitable[None]]
"""Does a job. It calls `job.finish` in the transaction of its effect. If there is nothing to do, it just returns."""

Finish = Callable[[Transaction], Awaitable[None]]
"""`Job.finish`, for a function that has an effect and knows no jobs."""


async def no_job(_tx: Transaction) -> None:
    """Do nothing: the effect isn't that of a job."""


class JobRepository:
    """Reads and writes jobs."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def add(self, chat_id: int, kind: str, argument: str, now: datetime) -> bool:
        """Add a job, unless the same one waits already. Return whether it is new."""
        values = {"chat_id": chat_id, "kind": kind, "argument": argument, "created_at": now, "attempts": 0}
        return await upsert.insert_new(self._connection, jobs, values)

    async def find_of_chat(self, chat_id: int, known: Collection[int] = ()) -> tuple[Job, ...]:
        """Return the jobs of a chat without those in `known`, the oldest first."""
        of_chat = once(lambda: select(jobs).where(jobs.c.chat_id == bindparam("chat")).order_by(jobs.c.id))
        found = (await self._connection.execute(of_chat, {"chat": chat_id})).mappings()
        return tuple(_job(dict(row)) for row in found if row["id"] not in known)

    async def find_waiting(self, owner: str, limit: int) -> dict[int, int]:
        """Return the chats with jobs that no other process than `owner` holds, each with the number of its jobs."""
        waiting = select(jobs.c.chat_id, func.count().label("work")).where(~held_by_others(jobs.c.chat_id))
        oldest_first = waiting.group_by(jobs.c.chat_id).order_by(func.min(jobs.c.id)).limit(limit)
        rows = await self._connection.execute(oldest_first, {"me": owner})
        return {row.chat_id: row.work for row in rows}

    async def count_attempt(self, job_id: int) -> None:
        """Count one more attempt."""
        await self._connection.execute(update(jobs).where(jobs.c.id == job_id).values(attempts=jobs.c.attempts + 1))


def _job(row: dict[str, object]) -> Job:
    if row["created_at"] is MALFORMED:
        row["created_at"] = EARLIEST
    return Job(**row)  # type: ignore[arg-type]  # the columns have the types of the fields
