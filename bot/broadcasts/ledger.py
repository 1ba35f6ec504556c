"""The deliveries of one running broadcast: each commit saves results and claims the next deliveries."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog
from prometheus_client import Counter as CounterMetric

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, Delivery, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.metrics import start_at_zero
from bot.rates.repository import SubscriptionRepository
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

MAX_UNKNOWN_CLAIMS = 1_000

DELIVERIES: Final = CounterMetric("kirim_broadcast_deliveries", "Messages of broadcasts by result.", ["status"])
start_at_zero(
    DELIVERIES, (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED, DeliveryStatus.FAILED, DeliveryStatus.UNKNOWN)
)


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What a run asks to save in one commit."""

    capacity: int
    """How many deliveries the run can claim."""

    results: Sequence[Delivery] = ()
    unsent: Collection[int] = ()
    """Readers whose claimed delivery surely wasn't sent. Their delivery waits again."""

    postponed: Collection[int] = ()
    """Readers to claim only if no others are left."""

    claimed: Collection[int] | None = None
    """The readers that the run has claimed, if it doesn't know whether the last commit failed. Deliveries that are
    marked as being sent but aren't among them were never sent."""

    is_stopping: bool = False
    pauses_broadcast: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What a commit saved: the current broadcast, the claimed deliveries, and the readers that wait again."""

    broadcast: Broadcast | None
    is_running: bool
    claimed: tuple[Delivery, ...]
    unsent: frozenset[int]


class DeliveryLedger:
    """The deliveries of one broadcast, for its only run.

    All methods raise `StoreDown` if the database can't be used.
    """

    def __init__(self, database: Database, clock: Clock, broadcast_id: str) -> None:
        self._database = database
        self._clock = clock
        self._id = broadcast_id

    async def open(self) -> Counter[DeliveryStatus]:
        """Mark deliveries that an earlier run left unfinished as unknown, and return status -> count."""
        async with self._database.transaction() as tx:
            await DeliveryRepository(tx).mark_interrupted(self._id)
            return Counter(await DeliveryRepository(tx).counts(self._id))

    async def commit_batch(self, request: BatchRequest) -> Batch:
        """Save the results. If the broadcast is still running, also claim the next deliveries."""
        async with self._database.transaction() as tx:
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
        for result in request.results:
            DELIVERIES.labels(result.status.value).inc()
        return Batch(broadcast, is_running, claimed, unsent)

    async def _load_broadcast(self, tx: Transaction, *, pause: bool) -> Broadcast | None:
        broadcast = await BroadcastRepository(tx).get(self._id)
        if broadcast is None or broadcast.status is not BroadcastStatus.RUNNING or not pause:
            return broadcast
        log.error("broadcast_paused", broadcast=broadcast.id, reason="one after the other is refused")
        return await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.PAUSED)) or broadcast

    async def _claim(self, tx: Transaction, request: BatchRequest) -> tuple[Delivery, ...]:
        """Claim the next deliveries. Claim postponed readers only if no others are left."""
        now = self._clock.now()
        claimed = await DeliveryRepository(tx).claim(self._id, request.capacity, now, excluded=request.postponed)
        if not claimed and request.postponed:
            claimed = await DeliveryRepository(tx).claim(self._id, request.capacity, now)
        quiet = await SubscriptionRepository(tx).find_quiet([each.user_id for each in claimed], now)
        return tuple(replace(each, silent=each.user_id in quiet) for each in claimed)

    async def _find_unknown_claims(self, tx: Transaction, claimed: Collection[int] | None) -> set[int]:
        """Return the readers whose delivery is marked as being sent although the run doesn't have it."""
        if claimed is None:
            return set()
        marked = await DeliveryRepository(tx).with_status(self._id, DeliveryStatus.SENDING, MAX_UNKNOWN_CLAIMS)
        return {each.user_id for each in marked}.difference(claimed)

    async def _unsubscribe(self, tx: Transaction, user_id: int) -> None:
        await SubscriptionRepository(tx).delete(user_id)
        user = await UserRepository(tx).get_if_readable(user_id)
        if user is not None and user.blocked_at is None:
            await UserRepository(tx).save(replace(user, blocked_at=self._clock.now()))
