"""Drafts of broadcasts, and the list of confirmed broadcasts.

A save needs the revision that was read. If two operators press at once, the second save fails and its operator sees
that.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, BroadcastWarning
from bot.broadcasts.repository import BroadcastRepository
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.settlement.model import Quote

PAGE_SIZE: Final = 5


@dataclass(frozen=True, slots=True)
class BroadcastPage:
    """Some confirmed broadcasts, newest first, with the counts of their deliveries.

    `offset` is the number of newer broadcasts.
    """

    broadcasts: tuple[Broadcast, ...]
    counts: Mapping[str, Mapping[str, int]]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent: the broadcast with its quote, its readers by language, and warnings.

    `last` is the quote of the last broadcast. A jump of the rate is measured from it.
    """

    broadcast: Broadcast
    readers: Mapping[str, int]
    duration: timedelta
    warnings: tuple[BroadcastWarning, ...] = ()
    last: Quote | None = None

    @property
    def size(self) -> int:
        """The number of readers."""
        return sum(self.readers.values())


class BroadcastDrafts:
    """Change drafts, and list confirmed broadcasts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """Return a broadcast of any status."""
        async with self._database.reading() as tx:
            return await BroadcastRepository(tx).get(broadcast_id)

    async def open(self, operator_id: int) -> Broadcast:
        """Return the operator's open draft. Create a draft about the rate if there is none."""
        async with self._database.transaction() as tx:
            draft = await BroadcastRepository(tx).draft_of(operator_id)
            if draft is None:
                draft = self._create(operator_id)
                await BroadcastRepository(tx).add(draft)
        return draft

    async def copy(self, broadcast: Broadcast, operator_id: int) -> Broadcast:
        """Create a draft with the same text, picture and audience. The operator's open draft is discarded."""
        copied = replace(
            self._create(operator_id),
            is_rate=broadcast.is_rate,
            texts=broadcast.texts,
            picture=broadcast.picture,
            audience=broadcast.audience,
        )
        async with self._database.transaction() as tx:
            draft = await BroadcastRepository(tx).draft_of(operator_id)
            if draft is not None:
                await BroadcastRepository(tx).save(replace(draft, status=BroadcastStatus.DISCARDED))
            await BroadcastRepository(tx).add(copied)
        return copied

    async def change(self, broadcast: Broadcast) -> Broadcast | None:
        """Save a changed draft. Return None if it has changed since it was read, or is no longer a draft.

        Its quote is removed, because the preview no longer shows what would be sent.
        """
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._database.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, quote=None, is_rate=broadcast.needs_quote))

    async def discard(self, broadcast: Broadcast) -> Broadcast | None:
        """Discard a draft. Return None if it is no longer a draft."""
        if broadcast.status is not BroadcastStatus.DRAFT:
            return None
        async with self._database.transaction() as tx:
            return await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.DISCARDED))

    async def list_page(self, offset: int = 0) -> BroadcastPage:
        """Return a page of confirmed broadcasts, newest first."""
        async with self._database.reading() as tx:
            found = await BroadcastRepository(tx).newest(PAGE_SIZE, offset)
            counts = {each.id: await _count_deliveries(tx, each) for each in found}
            return BroadcastPage(found, counts, offset, await BroadcastRepository(tx).count())

    async def count_deliveries(self, broadcast: Broadcast) -> Mapping[str, int]:
        """Return `DeliveryStatus` -> count of deliveries."""
        async with self._database.reading() as tx:
            return await _count_deliveries(tx, broadcast)

    def _create(self, operator_id: int) -> Broadcast:
        return Broadcast(id=generate_id(), operator_id=operator_id, created_at=self._clock.now())


def generate_id() -> str:
    """Return an id that can't be guessed and is short enough for a button."""
    return secrets.token_hex(5)


async def _count_deliveries(tx: Transaction, broadcast: Broadcast) -> Mapping[str, int]:
    """Return the counts from the report of an ended broadcast, else the counts of its deliveries now."""
    if broadcast.report is not None:
        return broadcast.report
    if broadcast.started_at is None:
        return {}
    return {str(status): count for status, count in (await DeliveryRepository(tx).counts(broadcast.id)).items()}
