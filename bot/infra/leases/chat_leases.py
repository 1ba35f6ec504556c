"""Leases: each chat has at most one process that handles its updates, runs its jobs and sends to it.

A process claims a chat when there is work in it, and keeps it for a few seconds after the last work, so that a
conversation stays in one process. The lease of a process that died, froze or was cut off ends by itself, and another
process takes the chat over. The lead is a lease, too (`leader.py`).

On SQLite there is one process, to which everything is granted.
"""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, cast

import structlog
from prometheus_client import Counter, Gauge

from bot.core.clock import seconds_with_sleep
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import FENCE, LeaseLost
from bot.infra.db.postgresql import end_stalled_sessions
from bot.infra.db.transaction import Transaction
from bot.infra.leases.repository import LEAD, LEASE_SECONDS, LeaseRepository
from bot.infra.metrics import start_at_zero

log = structlog.get_logger(__name__)

CHATS_HELD: Final = Gauge("kirim_chat_leases_held", "Chats whose lease this process holds.")
CHAT_LEASES: Final = Counter(
    "kirim_chat_leases",
    "Leases of chats. `taken_over` ended without a release, because their process died, froze or was cut off."
    " `lost` were this process's own.",
    ["event"],
)
start_at_zero(CHAT_LEASES, ("claimed", "taken_over", "released", "lost"))
CLOCK_OFFSET: Final = Gauge(
    "kirim_clock_offset_seconds",
    "How far this machine's clock is ahead of the database's. Kirim bears two seconds.",
)

KEEP_SECONDS: Final = 1.5
"""How often an owner keeps its leases. It can fail twice before they end."""

MARGIN_SECONDS: Final = 0.5
"""How much earlier its owner regards a lease as lost. A request that began just before is then over, or nearly."""

HOLD_SECONDS: Final = 10.0
"""How long a chat stays with its process after the last work in it. Most steps of a conversation follow sooner."""

RELEASED_WITHIN: Final = 1.0
"""Seconds to give leases back at shutdown. If that fails, they end by themselves."""

MOST_UNSHARED: Final = 10_000
"""How many chats a process that is alone remembers to have looked through."""


@dataclass(slots=True, eq=False)
class ChatLease:
    """The lease of one chat, or the lead. It is the fence of the work under it.

    Attributes:
        chat_id: the chat, or `LEAD`.
        epoch: grows with each claim.
        leases: what has granted it.
        ends_at: until when it surely lasts, by the clock of `leases`. The time is counted from before the request for
            it, so the database's row lasts at least as long.
        taken_over_at: when it was taken from a process that didn't release it. None if it was free.
        idle_since: when the last work under it ended, by the same clock.
    """

    chat_id: int
    epoch: int
    leases: "Leases"
    ends_at: float = math.inf
    taken_over_at: datetime | None = None
    idle_since: float = 0.0
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    """The tasks that work under it."""

    @property
    def is_held(self) -> bool:
        """Whether the lease surely lasts, as far as this process knows."""
        return self.leases.seconds() < self.ends_at

    def was_left(self, since: datetime) -> bool:
        """Return whether work that waits since then can have ended the process that had the chat before."""
        return self.taken_over_at is not None and since < self.taken_over_at

    async def check(self, tx: Transaction) -> None:
        """Lock the row until the end of the transaction.

        Raises:
            LeaseLost: another process has the lease, or could have it.
        """
        if not await self.leases.lock(tx, [self]):
            raise LeaseLost


class UnsharedLeases:
    """Grants every chat, without rows: on SQLite, to the leader for what only it sends, and to tests."""

    seconds = staticmethod(time.monotonic)
    is_kept = True
    look_seconds = 5.0
    """How often to look for work without a wake-up. This process hears of all work at once."""

    def __init__(self, owner: str = "alone") -> None:
        self.owner = owner
        self._began_at: datetime | None = None
        self._granted: dict[int, ChatLease] = {}

    def begin(self) -> None:
        """Begin to work where another process may have worked before. What it left may have ended it.

        From now on each chat has to be claimed, so that what waits there is looked through first.
        """
        self._began_at = datetime.now(UTC)

    def grant(self, chat_id: int) -> ChatLease:
        """Return a lease that doesn't end."""
        return ChatLease(chat_id, 1, self, taken_over_at=self._began_at)

    def get(self, chat_id: int) -> ChatLease | None:
        """Return the lease of a chat, or None if the chat has to be claimed."""
        return self._granted.get(chat_id) if self._began_at is not None else self.grant(chat_id)

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        """Return a lease for each chat."""
        for chat_id in chat_ids if self._began_at is not None else ():
            self._granted.setdefault(chat_id, self.grant(chat_id))
        leases = [lease for chat_id in dict.fromkeys(chat_ids) if (lease := self.get(chat_id)) is not None]
        while len(self._granted) > MOST_UNSHARED:
            del self._granted[next(iter(self._granted))]
        return leases

    def work_in(self, _lease: ChatLease) -> AbstractContextManager[None]:
        """Return a context that changes nothing. The work goes on under the fence of its caller."""
        return nullcontext()

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        """Return all of them."""
        return leases

    async def keep(self) -> float:
        """Return the seconds until the next call. There is nothing to keep."""
        return 3600.0

    async def release_all(self) -> None:
        """Do nothing. The lock on the file is released with the process."""


class ChatLeases:
    """Claims, keeps and releases the leases of this process. `keep` must be called every `KEEP_SECONDS`.

    Args:
        database: has the table. It is on PostgreSQL.
        owner: the random id of this process.
        seconds: a monotonic clock that goes on while the machine sleeps.
    """

    look_seconds = 0.5
    """How often to look for work that others have left, or that arrived without a wake-up."""

    def __init__(self, database: Database, owner: str, *, seconds: Callable[[], float] = seconds_with_sleep) -> None:
        self.owner = owner
        self.seconds = seconds
        self._database = database
        self._held: dict[int, ChatLease] = {}
        self._claiming: set[int] = set()
        self._kept_at = seconds()
        CHATS_HELD.set_function(lambda: float(_count_chats(self._held)))

    def begin(self) -> None:
        """Begin to work. From now on, the leases have to be kept in time."""
        self._kept_at = self.seconds()

    @property
    def is_kept(self) -> bool:
        """Whether the leases were kept in time, so that this process can work."""
        return self.seconds() - self._kept_at < LEASE_SECONDS * 2 / 3

    def get(self, chat_id: int) -> ChatLease | None:
        """Return the lease of a chat that this process holds now."""
        lease = self._held.get(chat_id)
        return lease if lease is not None and lease.is_held else None

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        """Return the leases of those chats that this process holds or could take.

        Raises:
            StoreDown: the database failed.
        """
        wanted = [each for each in dict.fromkeys(chat_ids) if self.get(each) is None and each not in self._claiming]
        if wanted:
            # A lease that ended here without an answer of the database isn't used again.
            self._lose([self._held[chat_id] for chat_id in wanted if chat_id in self._held])
            self._claiming.update(wanted)
            try:
                await self._claim(wanted)
            finally:
                self._claiming.difference_update(wanted)
        return [lease for chat_id in dict.fromkeys(chat_ids) if (lease := self.get(chat_id)) is not None]

    async def _claim(self, chat_ids: Sequence[int]) -> None:
        began = self.seconds()
        async with self._database.transaction() as tx:
            repository = LeaseRepository(tx, self.owner)
            new = await repository.claim_new(chat_ids)
            left = [chat_id for chat_id in chat_ids if chat_id not in new]
            taken = await repository.take_over(left) if left else {}
            # By the database's clock, as the time at which updates were received.
            taken_at = await repository.get_time() if taken else None
        for epochs, since in ((new, None), (taken, taken_at)):
            for chat_id, epoch in epochs.items():
                self._held[chat_id] = ChatLease(chat_id, epoch, self, _end(began), since, idle_since=began)
        CHAT_LEASES.labels("claimed").inc(_count_chats(new))
        if chats := _count_chats(taken):
            CHAT_LEASES.labels("taken_over").inc(chats)
            log.info("chats_taken_over", chats=chats)

    @contextmanager
    def work_in(self, lease: ChatLease) -> Iterator[None]:
        """Work under a lease. Transactions and calls of Telegram in the block need it. If it is lost, the task ends."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        lease.tasks.add(task)
        token = FENCE.set(lease)
        try:
            yield
        finally:
            FENCE.reset(token)
            lease.tasks.discard(task)
            lease.idle_since = self.seconds()

    async def lock(self, tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        """Lock the rows of leases until the end of a transaction. Return those that this process still has."""
        held = [lease for lease in leases if lease.is_held]
        epochs = await LeaseRepository(tx, self.owner).lock([lease.chat_id for lease in held]) if held else {}
        for lease in held:
            if epochs.get(lease.chat_id) != lease.epoch:
                lease.ends_at = -math.inf
        return [lease for lease in held if lease.is_held]

    async def keep(self) -> float:
        """Keep the leases, and release those without work. Return the seconds until the next call.

        If the database doesn't answer in time, the leases end here before they end there.
        """
        began = self.seconds()
        self._lose([lease for lease in self._held.values() if not lease.is_held])
        idle = self._drop(each for each in self._held.values() if began - each.idle_since >= HOLD_SECONDS)
        held = dict(self._held)
        try:
            async with asyncio.timeout(LEASE_SECONDS / 2), self._database.keeping() as tx:
                repository = LeaseRepository(tx, self.owner)
                # First, because what follows can wait for the locks of such a session.
                await end_stalled_sessions(tx)
                await repository.release(idle)
                epochs = await repository.keep(held)
                if LEAD in held:
                    await repository.delete_ended()
                CLOCK_OFFSET.set((datetime.now(UTC) - await repository.get_time()).total_seconds())
        except (StoreDown, TimeoutError) as error:
            log.warning("leases_not_kept", error=type(error).__name__)
            return KEEP_SECONDS
        CHAT_LEASES.labels("released").inc(_count_chats(idle))
        self._kept_at = began
        for chat_id, lease in held.items():
            if lease.is_held and epochs.get(chat_id) == lease.epoch:
                lease.ends_at = _end(began)
        self._lose([lease for chat_id, lease in held.items() if epochs.get(chat_id) != lease.epoch])
        return KEEP_SECONDS

    def _drop(self, leases: Iterable[ChatLease]) -> dict[int, int]:
        """Forget those leases under which nothing works. Return their epochs, to release them."""
        dropped = [lease for lease in leases if not lease.tasks]
        for lease in dropped:
            lease.ends_at = -math.inf
            del self._held[lease.chat_id]
        return {lease.chat_id: lease.epoch for lease in dropped}

    def _lose(self, leases: Sequence[ChatLease]) -> None:
        """Forget leases that ended, and end the work under them."""
        lost = [lease for lease in leases if self._held.get(lease.chat_id) is lease]
        for lease in lost:
            lease.ends_at = -math.inf
            del self._held[lease.chat_id]
            for task in lease.tasks:
                task.cancel()
        if chats := _count_chats([lease.chat_id for lease in lost]):
            CHAT_LEASES.labels("lost").inc(chats)
            log.warning("chat_leases_lost", chats=chats)

    async def release_all(self) -> None:
        """Release the leases before the process ends, so that others go on at once.

        Those under which something still works end by themselves.
        """
        released = self._drop(self._held.values())
        try:
            async with asyncio.timeout(RELEASED_WITHIN), self._database.keeping() as tx:
                await LeaseRepository(tx, self.owner).release(released)
        except (StoreDown, LeaseLost, TimeoutError) as error:
            log.warning("leases_not_released", error=type(error).__name__)


Leases = ChatLeases | UnsharedLeases


def _end(began: float) -> float:
    """Return until when a lease surely lasts that was asked for at `began`."""
    return began + LEASE_SECONDS - MARGIN_SECONDS


def _count_chats(leases: Collection[int]) -> int:
    """Return how many of these leases are those of chats."""
    return len(leases) - (LEAD in leases)
