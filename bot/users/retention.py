"""Delete what is too old, in small transactions. Each feature knows its own periods."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.users.repository import UserEventRepository
from bot.users.user_data import Prune, UserData

AT_ONCE = 500
"""Rows in one transaction. Then comes a pause, so that others can write in between."""

PAUSE_SECONDS = 0.05


class Retention:
    """Delete what is too old. `days` is how long personal data is kept after the last use; 0 is forever."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        days: int,
        features: Sequence[UserData],
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._clock = clock
        self._kept = timedelta(days=days) if days else None
        self._features = features
        self._rest = rest

    async def run_once(self) -> int:
        """Delete what is due and return how many rows that were."""
        now = self._clock.now()
        deleted = 0
        for feature in self._features:
            if feature.prune is not None:
                deleted += await self._in_batches(feature.prune, now)
        if self._kept is not None:
            async with self._store.transaction() as tx:
                deleted += await UserEventRepository(tx).delete_before(now - self._kept)
        if deleted:
            await self._store.erase_deleted()
        return deleted

    async def _in_batches(self, prune: Prune, now: datetime) -> int:
        deleted = 0
        while True:
            async with self._store.transaction() as tx:
                count = await prune(tx, now, self._kept, AT_ONCE)
            deleted += count
            if count < AT_ONCE:
                return deleted
            await self._rest(PAUSE_SECONDS)
