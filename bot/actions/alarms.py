"""What operators are told by themselves: the service refuses our key, and works again."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import structlog

from bot.actions.news import staff_news
from bot.actions.ports import Clock, Store
from bot.domain.order import Notice

log = structlog.get_logger(__name__)


class KeyAlarm:
    """One alarm an incident, however many calls are refused in it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        operator_ids: frozenset[int],
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._operators = operator_ids
        self._on_news = on_news
        self._since: datetime | None = None
        self._turn = asyncio.Lock()

    @property
    def is_raised(self) -> bool:
        """Whether the key is known to be refused just now."""
        return self._since is not None

    async def refused(self) -> bool:
        """The service answered 401; whether that is news."""
        async with self._turn:
            if self._since is not None:
                return False
            now = self._clock.now()
            await self._tell(Notice.STAFF_KEY_REFUSED, now)
            # Only now: a database that fails meanwhile must not swallow the alarm.
            self._since = now
        log.error("api_key_refused")
        return True

    async def works(self) -> bool:
        """The service took the key; whether that is news."""
        if self._since is None:
            return False
        async with self._turn:
            if self._since is None:
                return False
            await self._tell(Notice.STAFF_KEY_WORKS, self._since)
            self._since = None
        log.info("api_key_works_again")
        return True

    async def _tell(self, notice: Notice, since: datetime) -> None:
        subject = f"key:{since:%Y%m%dT%H%M%S%f}"
        async with self._store.transaction() as tx:
            await tx.outbox.add(staff_news(self._operators, notice, subject, self._clock.now()))
        self._on_news()
