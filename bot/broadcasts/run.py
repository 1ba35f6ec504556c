"""One broadcast on its way: taken in hand a little ahead, sent beside one another, written down in small batches.

A delivery is marked as being sent in a commit of its own before its request, and a few at a time: what a crash leaves
marked may have arrived, and is listed as unknown. What surely wasn't sent goes back to wait.
"""

import asyncio
import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from bot.broadcasts.ledger import DeliveryLedger, Page, Wish
from bot.broadcasts.model import Broadcast, Courier, Delivery, DeliveryStatus
from bot.broadcasts.refusals import Refusals
from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.error_location import where
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent, Undeliverable

log = structlog.get_logger(__name__)

AHEAD_SECONDS = 0.6
"""How far ahead of the limit's pace deliveries are taken in hand: a crash may leave so many unknown."""

TURN_SECONDS = 0.5
MOST_UNDER_WAY = 128
"""Requests at once; half of the connections, so that nobody else waits for one."""

SPEED_SECONDS = 15.0
SHORTEST_REST = 0.5
AFTER_UNKNOWN = Backoff(first=1.0, longest=60.0)
FAILURES_BORNE = 25
"""Messages refused one after the other for what they are: then it is the broadcast that is wrong, and it pauses."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a broadcast is. `per_second` is what was reached lately; `rests` is whether Telegram asked for that."""

    broadcast: Broadcast
    counts: Mapping[DeliveryStatus, int]
    per_second: float = 0.0
    rests: bool = False

    @property
    def is_final(self) -> bool:
        """Whether nothing will change any more by itself."""
        return self.broadcast.ended_at is not None


class BroadcastRun:
    """Delivers what waits of one running broadcast, until nobody is left or it runs no more.

    `per_second` is the pace that is hoped for; the courier keeps to the limit by itself.
    """

    def __init__(
        self, store: Database, courier: Courier, clock: Clock, broadcast: Broadcast, per_second: float
    ) -> None:
        self._ledger = DeliveryLedger(store, clock, broadcast.id)
        self._courier, self._clock = courier, clock
        self._broadcast = broadcast
        self._ahead = max(2, math.ceil(per_second * AHEAD_SECONDS))
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._queued: set[int] = set()
        self._ended: list[Delivery] = []
        self._unsent: set[int] = set()
        self._counts: Counter[DeliveryStatus] = Counter()
        self._times: deque[float] = deque()
        self._refusals = Refusals()
        self._rest_until = float("-inf")
        self._troubles = 0
        self._failures = 0
        self._held = False
        self._unclear = False
        self._woken = asyncio.Event()

    @property
    def progress(self) -> Progress:
        """How far it is, as far as it was written down."""
        now = _now()
        while self._times and self._times[0] < now - SPEED_SECONDS:
            self._times.popleft()
        span = now - self._times[0] if self._times else 0.0
        per_second = len(self._times) / span if span >= 1 else 0.0
        return Progress(self._broadcast, dict(self._counts), per_second, self._rest_until > now)

    def hold(self) -> None:
        """Take nothing more in hand, and call back what hasn't left."""
        self._held = True
        self._woken.set()

    def look(self, broadcast: Broadcast) -> None:
        """The broadcast was changed: paused, stopped, resumed."""
        self._broadcast = broadcast
        self._woken.set()

    async def run(self) -> None:
        """Deliver. What a former round has left in the middle of a request is unknown from now on."""
        self._counts = await self._ledger.open()
        try:
            while await self._turn():
                await self._wait()
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _turn(self) -> bool:
        """Write down what has ended and take the next in hand; whether there is more to do."""
        wish = self._wish()
        self._ended, self._unsent = [], set()
        try:
            page = await self._ledger.turn(wish)
        except StoreDown as error:
            log.error("broadcast_ledger_not_saved", broadcast=self._broadcast.id, error=type(error).__name__)  # noqa: TRY400
            self._ended[:0], self._unsent = wish.ended, self._unsent.union(wish.unsent)
            self._unclear = True
            self._rest(1.0)
            return True
        self._unclear = False
        self._failures = 0 if wish.gives_up else self._failures
        self._broadcast = page.broadcast or self._broadcast
        self._count(wish.ended, page)
        for delivery in page.taken:
            self._send(delivery)
        if not page.runs:
            self._call_back()
        return bool(self._tasks or self._ended or self._unsent or (page.runs and wish.room <= 0))

    def _wish(self) -> Wish:
        in_hand = self._tasks.keys() | {each.person_id for each in self._ended}
        return Wish(
            room=self._room(),
            ended=self._ended,
            unsent=self._unsent,
            put_off=self._refusals.put_off,
            in_hand=in_hand if self._unclear else None,
            is_held=self._held,
            gives_up=self._failures >= FAILURES_BORNE,
        )

    def _count(self, ended: Sequence[Delivery], page: Page) -> None:
        for each in ended:
            self._counts[each.status] += 1
        self._counts[DeliveryStatus.WAITING] += len(page.unsent) - len(page.taken)
        self._counts[DeliveryStatus.SENDING] += len(page.taken) - len(page.unsent) - len(ended)

    def _room(self) -> int:
        """How many more may be taken in hand now; after trouble one at a time, until one gets through."""
        if self._rest_until > _now():
            return 0
        if self._troubles:
            return 1 - len(self._tasks)
        return min(self._ahead - len(self._queued), MOST_UNDER_WAY - len(self._tasks))

    def _send(self, delivery: Delivery) -> None:
        person_id = delivery.person_id
        self._queued.add(person_id)
        task = asyncio.create_task(self._bring(delivery), name=f"broadcast-{person_id}")
        self._tasks[person_id] = task
        task.add_done_callback(partial(self._done, person_id))

    def _leaves(self, person_id: int) -> None:
        self._queued.discard(person_id)
        if len(self._queued) <= self._ahead // 2:
            self._woken.set()

    def _done(self, person_id: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(person_id, None)
        if task.cancelled() and person_id in self._queued:
            self._unsent.add(person_id)
        self._queued.discard(person_id)
        if not self._tasks or self._troubles:
            self._woken.set()

    async def _bring(self, delivery: Delivery) -> None:
        leaves = partial(self._leaves, delivery.person_id)
        try:
            outcome = await self._courier.bring(self._broadcast, delivery, leaves)
        except Exception as error:  # noqa: BLE001  one person's message must not end the broadcast
            why = type(error).__name__
            log.error("broadcast_delivery_failed", broadcast=self._broadcast.id, error=why, where=where(error))  # noqa: TRY400
            may_have_left = delivery.person_id not in self._queued
            outcome = RetryLater(0, maybe_told=True) if may_have_left else Undeliverable(why)
        self._settle(delivery, outcome)

    def _settle(self, delivery: Delivery, outcome: DeliveryOutcome) -> None:
        match outcome:
            case Sent():
                self._troubles = self._failures = 0
                self._refusals.reached()
                self._end(delivery, DeliveryStatus.DELIVERED)
            case Undeliverable(reason, whole_chat=True):
                self._end(delivery, DeliveryStatus.BLOCKED, reason)
            case Undeliverable(reason):
                self._failures += 1
                self._end(delivery, DeliveryStatus.FAILED, reason)
            case RetryLater(after, maybe_told=True):
                self._end(delivery, DeliveryStatus.UNKNOWN)
                self._rest(after, costly=True)
            case RetryLater(after):
                if self._refusals.refused(delivery.person_id):
                    self._end(delivery, DeliveryStatus.FAILED, "refused too often")
                else:
                    self._unsent.add(delivery.person_id)
                self._rest(after)

    def _end(self, delivery: Delivery, status: DeliveryStatus, failure: str | None = None) -> None:
        self._times.append(_now())
        self._ended.append(replace(delivery, status=status, at=self._clock.now(), failure=failure))

    def _rest(self, seconds: float, *, costly: bool = False) -> None:
        """Leave Telegram alone for so long; what hasn't left is called back.

        A `costly` failure leaves somebody unknown: then the longer, the more often in a row.
        """
        now = _now()
        if now >= self._rest_until:
            self._troubles += 1
        pause = max(seconds, AFTER_UNKNOWN.after(self._troubles + 1)) if costly else max(seconds, SHORTEST_REST)
        self._rest_until = max(self._rest_until, now + pause)
        self._call_back()

    def _call_back(self) -> None:
        for person_id in self._queued:
            self._tasks[person_id].cancel()
        self._woken.set()

    async def _wait(self) -> None:
        rest = self._rest_until - _now()
        try:
            async with asyncio.timeout(rest if rest > 0 and not self._tasks else TURN_SECONDS):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()


def _now() -> float:
    return asyncio.get_running_loop().time()
