"""Leases of chats: each chat has at most one process that handles its updates, runs its jobs and sends to it.

A process claims a chat when there is work in it, and keeps it for a few seconds after the last work, so that a
conversation stays in one process. The lease of a process that died, froze or was cut off ends by itself, and another
process takes the chat over.

On SQLite there is one process. It runs the same code, but its leases don't end, because nobody else could take them.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
from prometheus_client import Counter, Gauge

from bot.core.clock import seconds_with_sleep
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import FENCE
from bot.infra.db.processes import KEEP_RECORD_SECONDS, ProcessRepository
from bot.infra.db.stalled_sessions import end_sessions_of, end_stalled_sessions
from bot.infra.db.transaction import Transaction
from bot.infra.leases.model import KEEP_SECONDS, LEASE_SECONDS, MARGIN_SECONDS, Lease, Term
from bot.infra.leases.repository import LeaseRepository
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

HOLD_SECONDS: Final = 10.0
"""How long a chat stays with its process after the last work in it. Most steps of a conversation follow sooner."""

HOLD_ALONE_SECONDS: Final = 900.0
"""The same for a process that is alone. The steps of an order are minutes apart, and nobody else waits for the chat."""

ENDLESS_SECONDS: Final = 100 * 365 * 24 * 3600
"""The lease of a process that is alone. Nobody else could take the chat."""

DELETE_AFTER_SECONDS: Final = 3600
"""How long the row of an ended lease stays, so that whoever takes the chat over knows that its process was lost."""

CLEANUP_SECONDS: Final = 60.0


@dataclass(slots=True, eq=False)
class ChatLease(Lease):
    """The lease of one chat. All leases that are kept together share one term.

    Attributes:
        chat_id: the chat.
        taken_over_at: when it was taken from a process that didn't release it. None if it was free.
        idle_since: when the last work under it ended, by the monotonic clock.
    """

    chat_id: int
    taken_over_at: datetime | None = None
    idle_since: float = 0.0
    users: int = 0
    """How many tasks work under it."""

    is_wanted: bool = False
    """Whether there is work in the chat that only another process can do. It is given back as soon as nobody works."""

    is_recovered: bool = False
    """Whether the notifications that the former process was sending are queued again."""

    def was_left(self, since: datetime) -> bool:
        """Return whether work that waits since then can have ended the process that had the chat before."""
        return self.taken_over_at is not None and since < self.taken_over_at

    async def _lock(self, repository: LeaseRepository) -> bool:
        return (await repository.lock([self.chat_id])).get(self.chat_id) == self.epoch


class Leases(Protocol):
    """Grants chats to this process, one process a chat."""

    owner: str
    """The random id of this process."""

    @property
    def is_alone(self) -> bool:
        """Whether no other process can hold a chat."""
        ...

    def get(self, chat_id: int) -> ChatLease | None:
        """Return the lease of a chat that this process holds now."""
        ...

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        """Return the leases of those chats that this process holds or could take. Raises `StoreDown`."""
        ...

    def work_in(self, lease: ChatLease) -> AbstractContextManager[None]:
        """Return a context for work under a lease. Its transactions and calls of Telegram need the lease."""
        ...

    async def lock(self, tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        """Lock the rows of leases until the end of a transaction. Return those that this process still has."""
        ...


class UnsharedLeases:
    """Grants every chat, without rows: to the leader for what only it sends, and to tests."""

    owner = "alone"
    is_alone = True

    def __init__(self) -> None:
        self._term = Term(lambda: 0.0, 1.0)

    def get(self, chat_id: int) -> ChatLease:
        """Return a lease that doesn't end."""
        return ChatLease(self.owner, 1, self._term, is_alone=True, chat_id=chat_id)

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        """Return a lease for each chat."""
        return [self.get(chat_id) for chat_id in chat_ids]

    def work_in(self, _lease: ChatLease) -> AbstractContextManager[None]:
        """Return a context that changes nothing. The work goes on under the fence of its caller."""
        return nullcontext()

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        """Return all of them."""
        return leases


class ChatLeases:
    """Claims, keeps and releases the leases of this process. `keep` must be called every `KEEP_SECONDS`.

    Args:
        database: has the table.
        owner: the random id of this process.
        is_alone: whether no other process can use this database.
        seconds: a monotonic clock that goes on while the machine sleeps.
    """

    def __init__(
        self, database: Database, owner: str, *, is_alone: bool, seconds: Callable[[], float] = seconds_with_sleep
    ) -> None:
        self.owner = owner
        self.is_alone = is_alone
        self._database = database
        self._seconds = seconds
        self._lease_seconds = ENDLESS_SECONDS if is_alone else int(LEASE_SECONDS)
        self._hold_seconds = HOLD_ALONE_SECONDS if is_alone else HOLD_SECONDS
        self._held: dict[int, ChatLease] = {}
        self._claiming: set[int] = set()
        self._kept_at = seconds()
        self._recorded_at = float("-inf")
        self._on_lost: list[Callable[[ChatLease], None]] = []
        self.stands_aside = False
        """Whether another process has a key that this one lacks. Then this one takes no chats, and doesn't lead."""
        CHATS_HELD.set_function(lambda: float(len(self._held)))

    def on_lost(self, notify: Callable[[ChatLease], None]) -> None:
        """Call `notify` with each lease that is lost. The work under it must end."""
        self._on_lost.append(notify)

    @property
    def is_kept(self) -> bool:
        """Whether the leases were kept in time, so that this process can work."""
        return self.is_alone or self._seconds() - self._kept_at < LEASE_SECONDS * 2 / 3

    def get(self, chat_id: int) -> ChatLease | None:
        """Return the lease of a chat that this process holds now."""
        lease = self._held.get(chat_id)
        return lease if lease is not None and lease.is_held else None

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        """Return the leases of those chats that this process holds or could take.

        Raises:
            StoreDown: the database failed.
        """
        wanted = [chat_id for chat_id in dict.fromkeys(chat_ids) if self.get(chat_id) is None]
        if wanted and not self.stands_aside:
            # A lease that ended here without an answer of the database isn't used again.
            self._lose([lease for chat_id in wanted if (lease := self._held.get(chat_id)) is not None])
            self._claiming.update(wanted)
            try:
                await self._claim(wanted)
            finally:
                self._claiming.difference_update(wanted)
        return [lease for chat_id in dict.fromkeys(chat_ids) if (lease := self.get(chat_id)) is not None]

    async def _claim(self, chat_ids: Sequence[int]) -> None:
        began = self._seconds()
        async with self._database.transaction() as tx:
            repository = LeaseRepository(tx, self.owner)
            new = await repository.claim_new(chat_ids, self._lease_seconds)
            left = [chat_id for chat_id in chat_ids if chat_id not in new]
            taken = await self._take_over(tx, repository, left) if left else {}
            # By the database's clock, as the time at which updates were received.
            taken_at = await repository.get_time() if taken and not self.is_alone else datetime.now(UTC)
        term = self._create_term(began)
        for epochs, since in ((new, None), (taken, taken_at)):
            for chat_id, epoch in epochs.items():
                self._held[chat_id] = ChatLease(
                    self.owner, epoch, term, self.is_alone, chat_id, taken_over_at=since, idle_since=began
                )
        CHAT_LEASES.labels("claimed").inc(len(new))
        if taken:
            CHAT_LEASES.labels("taken_over").inc(len(taken))
            log.info("chats_taken_over", chats=len(taken))

    async def _take_over(
        self, tx: Transaction, repository: LeaseRepository, chat_ids: Sequence[int]
    ) -> Mapping[int, int]:
        """Take chats whose lease has ended, and end what its process left in the database. Return the epochs."""
        if not self.is_alone:
            await end_sessions_of(tx, await repository.find_ended_owners(chat_ids))
        return await repository.take_over(chat_ids, self._lease_seconds)

    def _create_term(self, began: float) -> Term:
        return Term(self._seconds, began + self._lease_seconds - MARGIN_SECONDS)

    @contextmanager
    def work_in(self, lease: ChatLease) -> Iterator[None]:
        """Work under a lease. Transactions and calls of Telegram in the block need the lease."""
        lease.users += 1
        token = FENCE.set(lease)
        try:
            yield
        finally:
            FENCE.reset(token)
            lease.users -= 1
            lease.idle_since = self._seconds()

    async def lock(self, tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        """Lock the rows of leases until the end of a transaction. Return those that this process still has."""
        held = [lease for lease in leases if lease.is_held]
        if self.is_alone or not held:
            return held
        epochs = await LeaseRepository(tx, self.owner).lock([lease.chat_id for lease in held])
        return [lease for lease in held if epochs.get(lease.chat_id) == lease.epoch]

    async def keep(self) -> float:
        """Keep the leases, and release those without work. Return the seconds until the next call.

        If the database doesn't answer in time, the leases end here before they end there.
        """
        now = self._seconds()
        self._lose([lease for lease in self._held.values() if not lease.is_held])
        idle = [
            lease
            for lease in self._held.values()
            if not lease.users
            and (lease.is_wanted or self.stands_aside or now - lease.idle_since >= self._hold_seconds)
        ]
        for lease in idle:
            del self._held[lease.chat_id]
        if not self.is_alone or idle:
            await self._keep_and_release(idle)
        return KEEP_SECONDS

    async def _keep_and_release(self, idle: Sequence[ChatLease]) -> None:
        before, began = dict(self._held), self._seconds()
        try:
            async with asyncio.timeout(None if self.is_alone else LEASE_SECONDS / 2), self._database.keeping() as tx:
                # First, because what follows can wait for the locks of such a session.
                await end_stalled_sessions(tx)
                repository = LeaseRepository(tx, self.owner)
                if idle:
                    await repository.release({lease.chat_id: lease.epoch for lease in idle})
                epochs = None if self.is_alone else await repository.keep(self._lease_seconds)
                if not self.is_alone:
                    await self._keep_record(tx)
                    CLOCK_OFFSET.set((datetime.now(UTC) - await repository.get_time()).total_seconds())
                if forgotten := self._find_forgotten(epochs or {}):
                    await repository.release(forgotten)
        except (StoreDown, TimeoutError) as error:
            log.warning("leases_not_kept", error=type(error).__name__)
            return
        CHAT_LEASES.labels("released").inc(len(idle))
        self._kept_at = began
        if epochs is not None:
            self._prolong(before, epochs, self._create_term(began))

    async def _keep_record(self, tx: Transaction) -> None:
        """Keep the record of this process if it is time to, and look whether it lacks a key of the others."""
        now = self._seconds()
        if now - self._recorded_at < KEEP_RECORD_SECONDS:
            return
        known = ProcessRepository(tx, self.owner)
        must_stand_aside = await known.keep() and await known.must_stand_aside()
        self._recorded_at = now
        if must_stand_aside and not self.stands_aside:
            log.error("key_missing", reason="ENCRYPTION_KEYS lack a key of the others, so they do the work")
        self.stands_aside = must_stand_aside

    def _find_forgotten(self, epochs: Mapping[int, int]) -> Mapping[int, int]:
        """Return leases that ended here, because an answer of the database came too late, and not there."""
        return {
            chat_id: epoch
            for chat_id, epoch in epochs.items()
            if chat_id not in self._held and chat_id not in self._claiming
        }

    def _prolong(self, before: Mapping[int, ChatLease], epochs: Mapping[int, int], term: Term) -> None:
        for chat_id, lease in before.items():
            if epochs.get(chat_id) == lease.epoch and lease.is_held:
                lease.term = term
        self._lose([lease for chat_id, lease in before.items() if epochs.get(chat_id) != lease.epoch])

    def _lose(self, leases: Sequence[ChatLease]) -> None:
        """Forget leases that ended, and end the work under them."""
        lost = [lease for lease in leases if self._held.get(lease.chat_id) is lease]
        for lease in lost:
            lease.term = lease.term.end()
            del self._held[lease.chat_id]
        if lost:
            CHAT_LEASES.labels("lost").inc(len(lost))
            log.warning("chat_leases_lost", chats=len(lost))
        for lease in lost:
            for notify in self._on_lost:
                notify(lease)

    async def expire_all(self) -> None:
        """End the leases of former processes. Only a process that is alone may do that, before it claims any."""
        async with self._database.transaction() as tx:
            await LeaseRepository(tx, self.owner).expire_all()

    async def delete_ended(self) -> float:
        """Delete the rows of leases that ended long ago, and return the seconds until the next call."""
        async with self._database.transaction() as tx:
            await LeaseRepository(tx, self.owner).delete_ended(DELETE_AFTER_SECONDS)
        return CLEANUP_SECONDS

    async def release_all(self) -> None:
        """Release every lease without work in progress, so that other processes go on with the chats at once.

        The process ends, so its record is deleted, too.
        """
        released = [lease for lease in self._held.values() if not lease.users]
        for lease in released:
            del self._held[lease.chat_id]
        if released or not self.is_alone:
            async with self._database.keeping() as tx:
                if released:
                    await LeaseRepository(tx, self.owner).release({lease.chat_id: lease.epoch for lease in released})
                if not self.is_alone:
                    await ProcessRepository(tx, self.owner).delete()
