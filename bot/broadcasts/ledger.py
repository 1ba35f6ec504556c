"""The record of one running broadcast: results are saved and the next deliveries claimed in one commit each time."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, Delivery, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.rates.repository import SubscriptionRepository
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

MAX_UNKNOWN_CLAIMS = 1_000


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What a run wants to have saved in one commit."""

    capacity: int
    """How many deliveries it can claim."""

    results: Sequence[Delivery] = ()
    unsent: Collection[int] = ()
    """Readers whose claimed delivery surely wasn't sent: it waits again."""

    postponed: Collection[int] = ()
    """Readers that are only claimed where no others are left."""

    claimed: Collection[int] | None = None
    """The readers it has, after a commit of which it doesn't know whether it failed: other claims were never sent."""

    is_stopping: bool = False
    pauses_broadcast: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What was saved: the broadcast as it is now, what was claimed, and which readers wait again."""

    broadcast: Broadcast | None
    is_running: bool
    claimed: tuple[Delivery, ...]
    unsent: frozenset[int]


class DeliveryLedger:
    """The deliveries of one broadcast, for its only run. Every method raises `StoreDown`."""

    def __init__(self, store: Database, clock: Clock, broadcast_id: str) -> None:
        self._store = store
        self._clock = clock
        self._id = broadcast_id

    async def open(self) -> Counter[DeliveryStatus]:
        """Mark what a former run left in the middle of a request as unknown, and return how many have which status."""
        async with self._store.transaction() as tx:
            await DeliveryRepository(tx).mark_interrupted(self._id)
            return Counter(await DeliveryRepository(tx).counts(self._id))

    async def commit_batch(self, request: BatchRequest) -> Batch:
        """Save the results and claim the next deliveries, if the broadcast is still running."""
        async with self._store.transaction() as tx:
            broadcast = await self._load_broadcast(tx, pause=request.pauses_broadcast)
            is_running = (
                broadcast is not None and broadcast.status is BroadcastStatus.RUNNING and not request.is_stopping
            )
            await DeliveryRepository(tx).record(request.results)
            for each in request.results:
                if each.status is DeliveryStatus.BLOCKED:
                    await self._unsubscribe(tx, each.user_id)
            unsent = frozenset(request.unsent) | await self._find_unknown_claims(tx, request.claimed)
            if unsent:
                await DeliveryRepository(tx).release(self._id, unsent)
            claimed = await self._claim(tx, request) if is_running and request.capacity > 0 else ()
        return Batch(broadcast, is_running, claimed, unsent)

    async def _load_broadcast(self, tx: Transaction, *, pause: bool) -> Broadcast | None:
        broadcast = await BroadcastRepository(tx).get(self._id)
        if broadcast is None or broadcast.status is not BroadcastStatus.RUNNING or not pause:
            return broadcast
        log.error("broadcast_paused", broadcast=broadcast.id, reason="one after the other is refused")
        return await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.PAUSED)) or broadcast

    async def _claim(self, tx: Transaction, request: BatchRequest) -> tuple[Delivery, ...]:
        """Claim the next deliveries; postponed ones only where no others are left."""
        now = self._clock.now()
        claimed = await DeliveryRepository(tx).claim(self._id, request.capacity, now, excluded=request.postponed)
        if not claimed and request.postponed:
            claimed = await DeliveryRepository(tx).claim(self._id, request.capacity, now)
        quiet = await SubscriptionRepository(tx).quiet([each.user_id for each in claimed], now)
        return tuple(replace(each, silent=each.user_id in quiet) for each in claimed)

    async def _find_unknown_claims(self, tx: Transaction, claimed: Collection[int] | None) -> set[int]:
        """Return the readers that are marked as being sent although the run doesn't have them."""
        if claimed is None:
            return set()
        marked = await DeliveryRepository(tx).with_status(self._id, DeliveryStatus.SENDING, MAX_UNKNOWN_CLAIMS)
        return {each.user_id for each in marked}.difference(claimed)

    async def _unsubscribe(self, tx: Transaction, user_id: int) -> None:
        await SubscriptionRepository(tx).delete(user_id)
        user = await UserRepository(tx).get_if_readable(user_id)
        if user is not None and user.blocked_at is None:
            await UserRepository(tx).save(replace(user, blocked_at=self._clock.now()))
