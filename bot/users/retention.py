"""What deletes itself: recipients not used for the settable time, and what was written and pressed as long ago.

Besides these, drafts put away, and broadcasts' old ledgers.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.missed_repository import MissedOrderRepository
from bot.recipients.repository import RecipientRepository
from bot.users.deletion import UserDataRepository
from bot.users.event_repository import UserEventRepository
from bot.users.privacy import KEEP_CLOSED_DRAFTS, KEEP_LEDGERS, KEEP_NEVER_SHOWN

AT_ONCE = 500
"""Rows in one transaction, and then a breath: whoever waits to write comes in between."""

BREATH_SECONDS = 0.05


class Retention:
    """`days` is how long a recipient is kept after the last use; 0 is for ever. Orders keep their skeleton."""

    def __init__(
        self, store: Database, clock: Clock, days: int, rest: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._store = store
        self._clock = clock
        self._kept = timedelta(days=days) if days else None
        self._rest = rest

    async def run_once(self) -> int:
        """Delete what is due; how many rows that concerned."""
        now = self._clock.now()
        closed_before = now - min(KEEP_CLOSED_DRAFTS, self._kept or KEEP_CLOSED_DRAFTS)
        forgotten = await self._in_batches(lambda tx: UserDataRepository(tx).closed_drafts(closed_before, AT_ONCE))
        ended_before = now - min(KEEP_LEDGERS, self._kept or KEEP_LEDGERS)
        forgotten += await self._in_batches(lambda tx: UserDataRepository(tx).deliveries(ended_before, AT_ONCE))
        never_shown_before = now - KEEP_NEVER_SHOWN
        forgotten += await self._in_batches(
            lambda tx: UserDataRepository(tx).never_shown_orders(never_shown_before, AT_ONCE)
        )
        if self._kept is not None:
            before = now - self._kept
            forgotten += await self._in_batches(lambda tx: UserDataRepository(tx).recipients_of_orders(before, AT_ONCE))
            forgotten += await self._in_batches(lambda tx: UserDataRepository(tx).entries_of_tickets(before, AT_ONCE))
            async with self._store.transaction() as tx:
                forgotten += await RecipientRepository(tx).forget_unused(before)
                forgotten += await UserEventRepository(tx).forget(before)
                forgotten += await MissedOrderRepository(tx).forget(before)
        if forgotten:
            await self._store.erase()
        return forgotten

    async def _in_batches(self, forget: Callable[[Transaction], Awaitable[int]]) -> int:
        forgotten = 0
        while True:
            async with self._store.transaction() as tx:
                count = await forget(tx)
            forgotten += count
            if count < AT_ONCE:
                return forgotten
            await self._rest(BREATH_SECONDS)
