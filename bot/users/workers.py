"""Delete users who asked for deletion, and rows that are too old."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from bot.infra.db.user_rows import list_pruned_columns, prune_rows
from bot.infra.feature import Infra
from bot.infra.i18n import Translations, translator_for
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.infra.telegram.inbound.repository import InboxItem, JobHandler
from bot.infra.workers import run_each
from bot.users import screens
from bot.users.model import DeletedUser, UserNotification
from bot.users.privacy import PrivacyService
from bot.users.readers import RenderContext, Renderer
from bot.users.user_data import Prune, UserData


class DeletionMessage:
    """The message that everything was deleted. The user's row is gone, so the notification carries their language."""

    def __init__(self, translations: Translations) -> None:
        self._translations = translations

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {UserNotification.DATA_DELETED: self.render}

    async def render(self, notification: Notification[DeletedUser], context: RenderContext) -> DeliveryOutcome:
        """Send the message."""
        t = translator_for(self._translations, notification.payload)
        return await replace(context, t=t).send_text(
            notification, screens.confirm_deleted(t), priority="money", silent=True
        )


DELETION_SECONDS: Final = 2.0
DAY_SECONDS: Final = timedelta(days=1).total_seconds()

DELETE_ON_REQUEST: Final = "delete-user"
DELETE_ABSENT: Final = "delete-absent-user"
"""The jobs that delete the user of a chat: one who asked for it, and one who blocked the bot long ago."""

BATCH_ROWS = 500
"""Rows in one transaction. After it comes a pause, so that others can write."""

PAUSE_SECONDS = 0.05


class Retention:
    """Delete rows that are too old. Personal data is kept for `days` after its last use (0: forever)."""

    def __init__(
        self,
        infra: Infra,
        user_data: Sequence[UserData],
        days: int,
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._kept = timedelta(days=days) if days else None
        self._user_data = user_data
        self._rest = rest

    async def run_once(self) -> int:
        """Delete all rows that are too old, and return how many."""
        now = self._clock.now()
        special: list[Prune] = [each.prune for each in self._user_data if each.prune is not None]
        prunes = special + [partial(prune_rows, column) for column in list_pruned_columns()]
        deleted = sum(await run_each("retention", prunes, lambda prune: self._in_batches(prune, now)))
        if deleted:
            await self._database.erase_deleted()
        return deleted

    async def _in_batches(self, prune: Prune, now: datetime) -> int:
        deleted = 0
        while True:
            async with self._database.transaction() as tx:
                count = await prune(tx, now, self._kept, BATCH_ROWS)
            deleted += count
            if count < BATCH_ROWS:
                return deleted
            await self._rest(PAUSE_SECONDS)


class DeletionWorkers:
    """Delete users and old rows.

    `delete_users` and `prune` return the seconds until their next call.
    """

    def __init__(self, infra: Infra, privacy: PrivacyService, retention: Retention) -> None:
        self._privacy = privacy
        self._retention = retention
        self._inbox = infra.inbox

    async def delete_users(self) -> float:
        """Add a job for each user who asked for deletion and has nothing open."""
        await self._privacy.clean_up()
        users = await self._privacy.find_deletable()
        await run_each("deletion", users, lambda user_id: self._inbox.add_job(user_id, DELETE_ON_REQUEST))
        return DELETION_SECONDS

    async def prune(self) -> float:
        """Delete old rows, and users who blocked the bot long ago. It runs at each start and once a day."""
        await self._retention.run_once()
        users = await self._privacy.find_long_blocked()
        await run_each("retention", users, lambda user_id: self._inbox.add_job(user_id, DELETE_ABSENT))
        return DAY_SECONDS

    def jobs(self) -> Mapping[str, JobHandler]:
        """Return what the jobs do, between the updates of the user's chat."""
        return {DELETE_ON_REQUEST: self._delete_on_request, DELETE_ABSENT: self._delete_absent}

    async def _delete_on_request(self, job: InboxItem) -> None:
        await self._privacy.delete_as_requested(job.chat_id, job.finish)

    async def _delete_absent(self, job: InboxItem) -> None:
        await self._privacy.delete_long_blocked(job.chat_id, job.finish)
