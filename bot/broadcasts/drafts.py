"""Drafting broadcasts, and looking at those that were made.

Each save is over the revision that was seen, so that of two presses at once one counts and the other is told so.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.rules import tells_rate
from bot.broadcasts.schedule import Doubt
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.settlement.model import Quote

PAGE: Final = 5


@dataclass(frozen=True, slots=True)
class BroadcastPage:
    """Some confirmed broadcasts, newest first, with what became of their deliveries; `offset` are newer."""

    broadcasts: tuple[Broadcast, ...]
    counts: Mapping[str, Mapping[str, int]]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent: the broadcast with its quote, its readers by language, and why to look twice.

    `last` is the quote of the last broadcast, from which a jump is counted.
    """

    broadcast: Broadcast
    readers: Mapping[str, int]
    duration: timedelta
    doubts: tuple[Doubt, ...] = ()
    last: Quote | None = None

    @property
    def size(self) -> int:
        """How many readers."""
        return sum(self.readers.values())


class BroadcastDrafts:
    """What is drafted, and the list of what was confirmed."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """A broadcast, whatever became of it."""
        async with self._store.reading() as tx:
            return await BroadcastRepository(tx).get(broadcast_id)

    async def open(self, operator_id: int) -> Broadcast:
        """The operator's open draft; a new one of the rate where there is none."""
        async with self._store.transaction() as tx:
            kept = await BroadcastRepository(tx).draft_of(operator_id)
            if kept is None:
                kept = self._new(operator_id)
                await BroadcastRepository(tx).add(kept)
        return kept

    async def copy(self, broadcast: Broadcast, operator_id: int) -> Broadcast:
        """A new draft that says the same to the same people; the operator's open one is put away."""
        drafted = replace(
            self._new(operator_id),
            is_rate=broadcast.is_rate,
            texts=broadcast.texts,
            picture=broadcast.picture,
            audience=broadcast.audience,
        )
        async with self._store.transaction() as tx:
            kept = await BroadcastRepository(tx).draft_of(operator_id)
            if kept is not None:
                await BroadcastRepository(tx).save(replace(kept, status=BroadcastStatus.DISCARDED))
            await BroadcastRepository(tx).add(drafted)
        return drafted

    async def change(self, broadcast: Broadcast) -> Broadcast | None:
        """Keep a changed draft; None where it has changed since it was read, or is a draft no more.

        Its quote goes: what was previewed is not what would be sent.
        """
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._store.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, quote=None, is_rate=tells_rate(broadcast)))

    async def discard(self, broadcast: Broadcast) -> Broadcast | None:
        """Put a draft away; None where it is one no more."""
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._store.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.DISCARDED))

    async def page(self, offset: int = 0) -> BroadcastPage:
        """A page of those confirmed, newest first."""
        async with self._store.reading() as tx:
            found = await BroadcastRepository(tx).newest(PAGE, offset)
            counts = {each.id: await _counts_of(tx, each) for each in found}
            return BroadcastPage(found, counts, offset, await BroadcastRepository(tx).count())

    async def counts(self, broadcast: Broadcast) -> Mapping[str, int]:
        """How many deliveries ended how, by the names of `DeliveryStatus`."""
        async with self._store.reading() as tx:
            return await _counts_of(tx, broadcast)

    def _new(self, operator_id: int) -> Broadcast:
        return Broadcast(id=new_id(), operator_id=operator_id, created_at=self._clock.now())


def new_id() -> str:
    """An id that nobody can guess, short enough for a button."""
    return secrets.token_hex(5)


async def _counts_of(tx: Transaction, broadcast: Broadcast) -> Mapping[str, int]:
    """What was kept of it at its end, or what the ledger says now."""
    if broadcast.report is not None:
        return broadcast.report
    if broadcast.started_at is None:
        return {}
    return {str(status): count for status, count in (await DeliveryRepository(tx).counts(broadcast.id)).items()}
