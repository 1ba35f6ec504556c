"""Expire drafts that are idle for too long."""

from collections.abc import Callable, Mapping
from typing import Final

from bot.checkout.service import DraftService
from bot.infra.jobs.chat_jobs import ChatJobs
from bot.infra.jobs.repository import Job, JobHandler

EVERY_SECONDS: Final = 5.0
EXPIRE: Final = "expire-draft"
"""The job that expires a draft. Its argument is the draft's id."""


class DraftWorker:
    """Expire each draft between the updates of its chat, so that it can't overtake an answer.

    `on_notification` is called when a message was queued.
    """

    def __init__(self, drafts: DraftService, chat_jobs: ChatJobs, on_notification: Callable[[], None]) -> None:
        self._drafts = drafts
        self._chat_jobs = chat_jobs
        self._on_notification = on_notification

    async def tick(self) -> float:
        """Add a job for each idle draft, and return the seconds until the next time."""
        for draft in await self._drafts.expired():
            await self._chat_jobs.add(draft.chat_id, EXPIRE, draft.id)
        return EVERY_SECONDS

    def jobs(self) -> Mapping[str, JobHandler]:
        """Return what the job does."""
        return {EXPIRE: self._expire}

    async def _expire(self, job: Job) -> None:
        if await self._drafts.expire(job.argument, job.finish):
            self._on_notification()
