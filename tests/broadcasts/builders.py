"""A bot process that delivers broadcasts on a real database, with a scripted sender."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import pytest

from bot.broadcasts import run as broadcast_run
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, Delivery, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.core.backoff import Backoff
from bot.infra.db import retry as tolerance
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import RetryLater, Sent, Undeliverable
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.infra.keys import VAULT
from tests.settlement.fake_settlement import MovedClock
from tests.waiting import TIMEOUT_SECONDS

OPERATOR = 2001


def shorten_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses after failures, because their length doesn't matter here."""
    monkeypatch.setattr(broadcast_run, "MIN_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(broadcast_run, "PAUSE_AFTER_UNKNOWN", Backoff(first=0.05, longest=0.05))
    monkeypatch.setattr(tolerance, "BETWEEN_TRIES", Backoff(first=0.01, longest=5.0))


Outcome = Sent | RetryLater | Undeliverable
BLOCKED = Undeliverable("bot was blocked by the user", whole_chat=True)


@dataclass
class FakeSender:
    """Records whom each message reached. `outcomes` are the results of the next messages to a user."""

    reached: list[int] = field(default_factory=list)
    outcomes: dict[int, deque[Outcome | Exception]] = field(default_factory=lambda: defaultdict(deque))
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    max_requests: int | None = None
    """How many requests start. The others are in `waiting` until the gate opens, as behind a limiter."""
    waiting: list[int] = field(default_factory=list)
    requested: list[int] = field(default_factory=list)
    sent_silently: set[int] = field(default_factory=set)
    concurrent: int = 0
    max_concurrent: int = 0

    async def send(self, broadcast: Broadcast, delivery: Delivery, on_request: Callable[[], None]) -> Outcome:
        del broadcast
        if self.max_requests is not None and len(self.requested) >= self.max_requests:
            self.waiting.append(delivery.user_id)
            await self.gate.wait()
        on_request()
        self.requested.append(delivery.user_id)
        self.sent_silently |= {delivery.user_id} if delivery.silent else set()
        self.concurrent += 1
        self.max_concurrent = max(self.concurrent, self.max_concurrent)
        try:
            await asyncio.sleep(0.001)
        finally:
            self.concurrent -= 1
        script = self.outcomes[delivery.user_id]
        outcome = script.popleft() if script else Sent()
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, Sent):
            self.reached.append(delivery.user_id)
        return outcome

    def script(self, users: Iterable[int], *outcomes: Outcome | Exception) -> None:
        """Add results of the next messages to these users."""
        for user_id in users:
            self.outcomes[user_id].extend(outcomes)


class FailingDatabase:
    """A database that fails on request: before a commit, or after it, when its result is unknown."""

    def __init__(self, store: Database) -> None:
        self._store = store
        self.fails_before = self.fails_after = 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        if self.fails_before:
            self.fails_before -= 1
            raise StoreDown
        async with self._store.transaction() as tx:
            yield tx
        if self.fails_after:
            self.fails_after -= 1
            raise StoreDown

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        return self._store.reading()

    async def erase_deleted(self) -> bool:
        return await self._store.erase_deleted()

    def unreadable_rows(self) -> frozenset[str]:
        return self._store.unreadable_rows()


class BotProcess:
    """One process that delivers broadcasts."""

    def __init__(self, database: str, sender: FakeSender | None = None) -> None:
        self.store = Database(database, VAULT)
        self.clock = MovedClock()
        self.sender = sender or FakeSender()
        self.failing = FailingDatabase(self.store)
        self.deliveries = DeliveryService(
            an_infra(cast("Database", self.failing), self.clock),
            sender=self.sender,
            per_second=40,
        )

    async def add_subscribers(self, count: int) -> range:
        people = range(1, count + 1)
        now = self.clock.now()
        async with self.store.transaction() as tx:
            for number in people:
                await UserRepository(tx).save(User(id=number, created_at=now, language_code="en"))
                await SubscriptionRepository(tx).save(Subscription(user_id=number, subscribed_at=now))
        return people

    async def add_confirmed(self, broadcast_id: str = "b1") -> Broadcast:
        broadcast = a_broadcast(broadcast_id, self.clock.now())
        async with self.store.transaction() as tx:
            await BroadcastRepository(tx).add(broadcast)
        return broadcast

    async def begin(self, broadcast_id: str = "b1") -> Broadcast:
        begun = await self.deliveries.begin(await self.add_confirmed(broadcast_id))
        assert begun is not None
        return begun

    async def get_broadcast(self, broadcast_id: str = "b1") -> Broadcast:
        async with self.store.reading() as tx:
            kept = await BroadcastRepository(tx).get(broadcast_id)
        assert kept is not None
        return kept

    async def count_deliveries(self, broadcast_id: str = "b1") -> dict[DeliveryStatus, int]:
        async with self.store.reading() as tx:
            return dict(await DeliveryRepository(tx).counts(broadcast_id))

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not condition():  # noqa: ASYNC110  a test looks from outside
                await asyncio.sleep(0.005)

    async def kill(self) -> None:
        """Stop as after a `kill -9`: running deliveries save nothing."""
        tasks = [each for each in asyncio.all_tasks() if each.get_name().startswith("broadcast-")]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.store.close()

    async def stop(self) -> None:
        await self.deliveries.close(1)
        await self.store.close()


def a_broadcast(broadcast_id: str, now: datetime, **changes: Any) -> Broadcast:
    known: dict[str, Any] = {
        "operator_id": OPERATOR,
        "status": BroadcastStatus.SCHEDULED,
        "is_rate": False,
        "texts": {"en": "Hello"},
        "starts_at": now,
        "created_at": now,
        "confirmed_at": now,
        "confirmed_by": OPERATOR,
        "chat_id": OPERATOR,
    }
    return Broadcast(**{**known, "id": broadcast_id, **changes})
