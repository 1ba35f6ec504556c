"""The written side of a broadcast under way: what has ended and what is taken in hand next, in one commit each time."""

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
from bot.rates.subscription_repository import SubscriptionRepository
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

MOST_STRAYS = 1_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What a round wishes of one commit.

    `room` is how many more it could take in hand, all but those `put_off` if others are left. `ended` has become of
    those it had; `unsent` go back to wait. `in_hand` is given after a commit of which nobody knows whether it was one:
    whoever else is marked was never sent. `gives_up`: the broadcast is to be paused.
    """

    room: int
    ended: Sequence[Delivery] = ()
    unsent: Collection[int] = ()
    put_off: Collection[int] = ()
    in_hand: Collection[int] | None = None
    is_held: bool = False
    gives_up: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What a commit brought: the broadcast as it is now, who was taken in hand, and who went back to wait."""

    broadcast: Broadcast | None
    runs: bool
    taken: tuple[Delivery, ...]
    unsent: frozenset[int]


class DeliveryLedger:
    """The ledger of one broadcast, for the one round that delivers it. Every method raises `StoreDown`."""

    def __init__(self, store: Database, clock: Clock, broadcast_id: str) -> None:
        self._store = store
        self._clock = clock
        self._id = broadcast_id

    async def open(self) -> Counter[DeliveryStatus]:
        """What a former round has left in the middle of a request is unknown from now on; how many are where."""
        async with self._store.transaction() as tx:
            await DeliveryRepository(tx).lost(self._id)
            return Counter(await DeliveryRepository(tx).counts(self._id))

    async def turn(self, wish: Wish) -> Page:
        """Write down what has ended and take the next in hand, if the broadcast still runs."""
        async with self._store.transaction() as tx:
            broadcast = await self._broadcast(tx, gives_up=wish.gives_up)
            runs = broadcast is not None and broadcast.status is BroadcastStatus.RUNNING and not wish.is_held
            await DeliveryRepository(tx).record(wish.ended)
            for each in wish.ended:
                if each.status is DeliveryStatus.BLOCKED:
                    await self._unsubscribe(tx, each.person_id)
            unsent = frozenset(wish.unsent) | await self._strays(tx, wish.in_hand)
            if unsent:
                await DeliveryRepository(tx).release(self._id, unsent)
            taken = await self._take(tx, wish) if runs and wish.room > 0 else ()
        return Page(broadcast, runs, taken, unsent)

    async def _broadcast(self, tx: Transaction, *, gives_up: bool) -> Broadcast | None:
        kept = await BroadcastRepository(tx).get(self._id)
        if kept is None or kept.status is not BroadcastStatus.RUNNING or not gives_up:
            return kept
        log.error("broadcast_paused", broadcast=kept.id, reason="one after the other is refused")
        return await BroadcastRepository(tx).save(replace(kept, status=BroadcastStatus.PAUSED)) or kept

    async def _take(self, tx: Transaction, wish: Wish) -> tuple[Delivery, ...]:
        """The next; those who were refused lately only when nobody else is left."""
        now = self._clock.now()
        taken = await DeliveryRepository(tx).claim(self._id, wish.room, now, but=wish.put_off)
        if not taken and wish.put_off:
            taken = await DeliveryRepository(tx).claim(self._id, wish.room, now)
        quiet = await SubscriptionRepository(tx).quiet([each.person_id for each in taken], now)
        return tuple(replace(each, silent=each.person_id in quiet) for each in taken)

    async def _strays(self, tx: Transaction, in_hand: Collection[int] | None) -> set[int]:
        if in_hand is None:
            return set()
        marked = await DeliveryRepository(tx).with_status(self._id, DeliveryStatus.SENDING, MOST_STRAYS)
        return {each.person_id for each in marked}.difference(in_hand)

    async def _unsubscribe(self, tx: Transaction, person_id: int) -> None:
        await SubscriptionRepository(tx).delete(person_id)
        person = await UserRepository(tx).get_if_readable(person_id)
        if person is not None and person.blocked_at is None:
            await UserRepository(tx).save(replace(person, blocked_at=self._clock.now()))
