"""What the clock brings about by itself: drafts put away, rows forgotten, messages found half sent."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement

from bot.checkout.drafts import Drafts
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.inbox import InboxRepository
from bot.orders.repository import OrderRepository
from bot.users.privacy import KEEP_NEWS, KEEP_UPDATES

EVERY_FEW_SECONDS = 5.0
EVERY_MINUTE = 60.0
FAR_AHEAD = timedelta(days=1)
"""Orders are looked at and messages tried again much sooner than that."""

RunInLane = Callable[[int, Callable[[], Awaitable[None]]], object]


class Sweeps:
    """Small jobs, each to be run by a loop of its own. `keep`: which old rows of the outbox a feature still needs."""

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        drafts: Drafts,
        delivery: OutboxDelivery,
        run_in_lane: RunInLane,
        on_news: Callable[[], None],
        keep: Sequence[ColumnElement[bool]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._drafts = drafts
        self._delivery = delivery
        self._run_in_lane = run_in_lane
        self._on_news = on_news
        self._keep = keep

    async def lapses(self) -> float:
        """Put idle drafts away, each in its chat's own queue, so that it can't overtake an answer."""
        for draft in await self._drafts.lapsed():
            self._run_in_lane(draft.chat_id, self._lapsing(draft.id))
        return EVERY_FEW_SECONDS

    async def housekeeping(self) -> float:
        """Forget what is done with, and take up news whose request nobody finished."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            await InboxRepository(tx).forget_finished(now - KEEP_UPDATES)
            await OutboxRepository(tx).forget_told(now - KEEP_NEWS, self._keep)
        await self._read_what_is_never_due()
        if await self._delivery.recover():
            self._on_news()
        return EVERY_MINUTE

    async def _read_what_is_never_due(self) -> None:
        """Read the rows that seem to be due too far ahead.

        SQLite compares times as text, so a malformed one can come after all others. Nobody would ever read its row,
        and a chat's queue would wait behind it. Once read it is noted, and then treated as any unreadable row.
        """
        from_then = self._clock.now() + FAR_AHEAD
        async with self._store.reading() as tx:
            for is_paid in (True, False):
                await OrderRepository(tx).due_after(from_then, is_paid=is_paid)
            await OutboxRepository(tx).due_after(from_then)

    def _lapsing(self, draft_id: str) -> Callable[[], Awaitable[None]]:
        async def lapse() -> None:
            if await self._drafts.lapse(draft_id):
                self._on_news()

        return lapse
