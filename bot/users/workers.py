"""Delete users who asked for it, and what is older than it has to be."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from bot.infra.telegram.inbound.chat_queues import ChatJobs
from bot.users.privacy import PrivacyService
from bot.users.retention import Retention

EVERY_SECONDS: Final = 2.0
A_DAY: Final = timedelta(days=1).total_seconds()


class DeletionWorkers:
    """Each method returns the seconds until its next call. `on_notification` is called when a message was queued."""

    def __init__(
        self, *, privacy: PrivacyService, retention: Retention, chat_jobs: ChatJobs, on_notification: Callable[[], None]
    ) -> None:
        self._privacy = privacy
        self._retention = retention
        self._chat_jobs = chat_jobs
        self._on_notification = on_notification

    async def delete_users(self) -> float:
        """Delete users who asked for it and have nothing open any longer, each in their chat's own queue."""
        for user_id in await self._privacy.find_deletable():
            self._chat_jobs.run(user_id, self._deletion_on_request(user_id))
        await self._privacy.clean_up()
        return EVERY_SECONDS

    async def prune(self) -> float:
        """Delete what is too old, and users who have blocked the bot for too long: once a day, and at each start."""
        await self._retention.run_once()
        for user_id in await self._privacy.find_long_blocked():
            self._chat_jobs.run(user_id, self._deletion_of_absent(user_id))
        return A_DAY

    def _deletion_on_request(self, user_id: int) -> Callable[[], Awaitable[None]]:
        async def delete() -> None:
            if await self._privacy.delete_as_requested(user_id):
                self._on_notification()

        return delete

    def _deletion_of_absent(self, user_id: int) -> Callable[[], Awaitable[None]]:
        async def delete() -> None:
            await self._privacy.delete_long_blocked(user_id)

        return delete
