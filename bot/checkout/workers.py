"""Expire drafts that are idle for too long."""

from collections.abc import Awaitable, Callable
from typing import Final

from bot.checkout.service import DraftService
from bot.infra.telegram.inbound.chat_queues import ChatJobs

EVERY_SECONDS: Final = 5.0


class DraftWorker:
    """Expire each draft in its chat's own queue, so that it can't overtake an answer.

    `on_notification` is called when a message was queued.
    """

    def __init__(self, drafts: DraftService, chat_jobs: ChatJobs, on_notification: Callable[[], None]) -> None:
        self._drafts = drafts
        self._chat_jobs = chat_jobs
        self._on_notification = on_notification

    async def tick(self) -> float:
        """Expire idle drafts once, and return the seconds until the next time."""
        for draft in await self._drafts.expired():
            self._chat_jobs.run(draft.chat_id, self._expiry(draft.id))
        return EVERY_SECONDS

    def _expiry(self, draft_id: str) -> Callable[[], Awaitable[None]]:
        async def expire() -> None:
            if await self._drafts.expire(draft_id):
                self._on_notification()

        return expire
