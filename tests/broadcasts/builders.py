"""A bot process that delivers broadcasts on a real database, with a scripted Telegram."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from bot.broadcasts import deliveries as broadcast_deliveries
from bot.broadcasts import messages as broadcast_messages
from bot.broadcasts.buttons import DeliveryAction
from bot.broadcasts.deliveries import DeliveryService
from bot.broadcasts.messages import ReaderMessages
from bot.broadcasts.model import Broadcast, BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository
from bot.core.backoff import Backoff
from bot.infra import workers
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.outbox import delivery as outbox_delivery
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import Queue, StoredNotification
from bot.infra.outbox.rendering import Renderers
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.limiter import ON_SEND
from bot.infra.telegram.outbound.sender import Delivered, Outcome, Unreachable
from bot.infra.workers import Wakeup, run_forever
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.service import end_subscription
from bot.users.model import User
from bot.users.readers import RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.infra.keys import VAULT
from tests.times import NOW
from tests.waiting import TIMEOUT_SECONDS

OPERATOR = 2001
PAUSE, RESUME, RETRY_UNKNOWN, STOP = (
    DeliveryAction.PAUSE,
    DeliveryAction.RESUME,
    DeliveryAction.RETRY_UNKNOWN,
    DeliveryAction.STOP,
)
BLOCKED = Unreachable("bot was blocked by the user")


def shorten_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses after failures, because their length doesn't matter here."""
    monkeypatch.setattr(broadcast_messages, "RESTS", Backoff(first=0.02, longest=0.05))
    monkeypatch.setattr(broadcast_messages, "LOOK_AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(broadcast_deliveries, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(outbox_delivery, "RETRY_BACKOFF", Backoff(first=0.01, longest=0.02))
    monkeypatch.setattr(workers, "BETWEEN_TRIES", Backoff(first=0.01, longest=5.0))


class RunningClock:
    """A clock that begins at the tests' time."""

    def __init__(self) -> None:
        self._began = NOW - timedelta(seconds=time.monotonic())

    def now(self) -> datetime:
        return self._began + timedelta(seconds=time.monotonic())

    def passes(self, *, days: int) -> None:
        self._began += timedelta(days=days)


@dataclass
class FakeTelegram:
    """Records whom each message reached. `outcomes` are the results of the next messages to a user."""

    reached: list[int] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    outcomes: dict[int, deque[Outcome | Exception]] = field(default_factory=lambda: defaultdict(deque))
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    max_requests: int | None = None
    """How many requests start. The others are in `waiting` until the gate opens, as behind a limiter."""
    waiting: list[int] = field(default_factory=list)
    requested: list[int] = field(default_factory=list)
    sent_silently: set[int] = field(default_factory=set)
    concurrent: int = 0
    max_concurrent: int = 0
    username = "kirim"

    @property
    def bulk(self) -> "FakeTelegram":
        return self

    async def send(self, chat_id: int, html: str, *_: object, paid: bool, silent: bool) -> Outcome:
        assert not paid
        if self.max_requests is not None and len(self.requested) >= self.max_requests:
            self.waiting.append(chat_id)
            await self.gate.wait()
        ON_SEND.get()()
        self.requested.append(chat_id)
        self.texts[chat_id] = html
        self.sent_silently |= {chat_id} if silent else set()
        self.concurrent += 1
        self.max_concurrent = max(self.concurrent, self.max_concurrent)
        try:
            await asyncio.sleep(0.001)
        finally:
            self.concurrent -= 1
        script = self.outcomes[chat_id]
        outcome = script.popleft() if script else Delivered(7)
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, Delivered):
            self.reached.append(chat_id)
        return outcome

    def script(self, users: Iterable[int], *outcomes: Outcome | Exception) -> None:
        """Add results of the next messages to these users."""
        for user_id in users:
            self.outcomes[user_id].extend(outcomes)


class FailingDatabase:
    """A database that fails on request: before a commit, or after it, when its result is unknown."""

    def __init__(self, store: Database) -> None:
        self._store = store
        self.fails_before = self.fails_after = self.fails_to_read = 0

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
        if self.fails_to_read:
            self.fails_to_read -= 1
            raise StoreDown
        return self._store.reading()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class BotProcess:
    """One process that delivers broadcasts, from `lead` on."""

    def __init__(self, database: str, telegram: FakeTelegram | None = None) -> None:
        self.store = Database(database, VAULT)
        self.clock = RunningClock()
        self.telegram = telegram or FakeTelegram()
        self.failing = FailingDatabase(self.store)
        infra = an_infra(cast("Database", self.failing), self.clock, self.telegram)
        self.messages = ReaderMessages(infra, cast("Any", None), paid=False)
        self.deliveries = DeliveryService(infra, self.messages, per_second=40)
        self.bulk = OutboxDelivery(
            infra.database,
            Renderers(RenderContexts(infra).open, self.messages.renderers()),
            self.clock,
            wakeup=infra.wake_bulk,
            follow_ups=self.messages.follow_ups(),
            on_chat_unreachable=(end_subscription,),
            queues=(Queue.BULK,),
        )
        self.infra = infra
        self._loops: list[asyncio.Task[None]] = []

    def lead(self) -> None:
        """Begin to send what is in the outbox, and to carry out what operators decide."""
        loops = (
            run_forever("bulk-outbox", self.bulk.tick, self.infra.wake_bulk),
            run_forever("broadcasts", self._advance, Wakeup()),
        )
        self._loops = [asyncio.create_task(loop) for loop in loops]

    async def _advance(self) -> float:
        await self.deliveries.advance()
        return broadcast_deliveries.CHECK_SECONDS

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
        if not self._loops:
            self.lead()
        return begun

    async def get_broadcast(self, broadcast_id: str = "b1") -> Broadcast:
        async with self.store.reading() as tx:
            kept = await BroadcastRepository(tx).get(broadcast_id)
        assert kept is not None
        return kept

    async def get_report(self, broadcast_id: str = "b1") -> dict[str, int]:
        """Wait until the broadcast has ended, and return its report."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while (broadcast := await self.get_broadcast(broadcast_id)).report is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return dict(broadcast.report)

    async def count_deliveries(self, broadcast_id: str = "b1") -> dict[DeliveryStatus, int]:
        progress = await self.deliveries.get_progress(broadcast_id)
        assert progress is not None
        return dict(progress.counts)

    async def wait_until_idle(self) -> None:
        """Wait until no message is in the outbox."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while await self._find_unsent():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def _find_unsent(self) -> bool:
        async with self.store.reading() as tx:
            return bool(await DeliveryRepository(tx).find_unsent())

    async def find_messages(self, broadcast_id: str = "b1") -> tuple[StoredNotification, ...]:
        async with self.store.reading() as tx:
            return await OutboxRepository(tx).find_by_subject(f"broadcast:{broadcast_id}")

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not condition():  # noqa: ASYNC110  a test looks from outside
                await asyncio.sleep(0.005)

    async def kill(self) -> None:
        """Stop as after a `kill -9`: running deliveries save nothing."""
        deliveries = [each for each in asyncio.all_tasks() if each.get_name().startswith("notification-")]
        tasks = [*self._loops, *deliveries]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.store.close()

    async def stop(self) -> None:
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self.messages.close()
        await self.bulk.close(TIMEOUT_SECONDS)  # a busy machine
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
