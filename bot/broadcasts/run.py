"""One running broadcast: claim deliveries slightly ahead, send them concurrently, and record results in batches.

A delivery is marked as being sent in its own commit before the request, and only a few are marked at a time. A delivery
that a crash leaves marked may have arrived, so its result is unknown. A delivery that surely wasn't sent waits again.
"""

import asyncio
import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from bot.broadcasts.ledger import Batch, BatchRequest, DeliveryLedger
from bot.broadcasts.model import Broadcast, BroadcastSender, Delivery, DeliveryStatus
from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.error_location import find_location
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.outbox.model import DeliveryOutcome, RetryLater, Sent, Undeliverable

log = structlog.get_logger(__name__)

CLAIM_AHEAD_SECONDS = 0.6
"""How far ahead of the rate limit deliveries are claimed, in seconds. A crash can leave that many unknown."""

COMMIT_SECONDS = 0.5
"""Seconds between two commits, if no event causes an earlier one."""

MAX_REQUESTS = 128
"""Requests at once. This is half of the connections, so other messages don't wait for one."""

RATE_SECONDS = 15.0
"""The period in which the deliveries per second are measured, in seconds."""

MIN_PAUSE_SECONDS = 0.5
PAUSE_AFTER_UNKNOWN = Backoff(first=1.0, longest=60.0)
MAX_REJECTIONS = 25
"""After so many rejected messages in a row, the broadcast itself must be wrong, so it is paused."""

GIVE_UP_AFTER_ALONE, GIVE_UP_AFTER = 3, 12
"""How often Telegram may refuse one reader: while others were reached in between, and in total. A broadcast has to
end."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a broadcast is.

    `per_second` is the recent rate. `is_rate_limited` is True while Telegram makes the bot wait.
    """

    broadcast: Broadcast
    counts: Mapping[DeliveryStatus, int]
    per_second: float = 0.0
    is_rate_limited: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the progress stays the same unless an operator changes something."""
        return self.broadcast.ended_at is not None


@dataclass(slots=True)
class _Refusals:
    """How often Telegram refused a reader: in total, and while others were reached in between.

    `deliveries` is the number of delivered messages at the last refusal. `until` is when Telegram allows another try.
    """

    in_all: int = 0
    alone: int = 0
    deliveries: int = -1
    until: float = float("-inf")


class PostponedReaders:
    """Readers that Telegram refused because of too many messages (429).

    The counts distinguish a limit for all readers from a limit for one chat.
    """

    def __init__(self) -> None:
        self._refusals: dict[int, _Refusals] = {}
        self._deliveries = 0
        self._ids: set[int] = set()

    @property
    def are_several(self) -> bool:
        """Whether several readers were refused since the last delivery. The limit is then one for all readers."""
        return len(self._ids) > 1

    def find_ids(self, now: float) -> frozenset[int]:
        """Return the readers that were refused since the last delivery, or whose pause isn't over."""
        return frozenset(self._ids | {user_id for user_id, each in self._refusals.items() if each.until > now})

    def record_delivery(self) -> None:
        """Record that a reader was reached. Postponed readers can be tried again when their pause is over."""
        self._deliveries += 1
        self._ids.clear()

    def record_refusal(self, user_id: int, until: float) -> bool:
        """Record a refusal that asks for a pause until then, and return whether to give the reader up."""
        refusals = self._refusals.setdefault(user_id, _Refusals())
        refusals.until = until
        refusals.in_all += 1
        refusals.alone += refusals.deliveries != self._deliveries
        refusals.deliveries = self._deliveries
        self._ids.add(user_id)
        return refusals.alone >= GIVE_UP_AFTER_ALONE or refusals.in_all >= GIVE_UP_AFTER


class BroadcastRun:
    """Send the waiting deliveries of one broadcast, until none is left or the broadcast isn't running.

    `per_second` is the expected rate. The sender keeps Telegram's limit.
    """

    def __init__(
        self, database: Database, sender: BroadcastSender, clock: Clock, broadcast: Broadcast, per_second: float
    ) -> None:
        self._ledger = DeliveryLedger(database, clock, broadcast.id)
        self._sender, self._clock = sender, clock
        self._broadcast = broadcast
        self._claim_ahead = max(2, math.ceil(per_second * CLAIM_AHEAD_SECONDS))
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._unrequested: set[int] = set()
        """Readers with a task whose request hasn't started."""
        self._results: list[Delivery] = []
        self._unsent: set[int] = set()
        self._counts: Counter[DeliveryStatus] = Counter()
        self._result_times: deque[float] = deque()
        self._postponed = PostponedReaders()
        self._paused_until = float("-inf")
        self._pauses = 0
        """Pauses since the last delivery."""
        self._rejections = 0
        """Rejected messages since the last delivery."""
        self._is_stopping = False
        self._is_commit_unknown = False
        self._wakeup = asyncio.Event()

    @property
    def progress(self) -> Progress:
        """The progress that has been recorded."""
        now = _now()
        while self._result_times and self._result_times[0] < now - RATE_SECONDS:
            self._result_times.popleft()
        span = now - self._result_times[0] if self._result_times else 0.0
        per_second = len(self._result_times) / span if span >= 1 else 0.0
        return Progress(self._broadcast, dict(self._counts), per_second, self._paused_until > now)

    def stop_claiming(self) -> None:
        """Claim no more deliveries, and cancel those whose request hasn't started."""
        self._is_stopping = True
        self._wakeup.set()

    def update(self, broadcast: Broadcast) -> None:
        """Use the changed broadcast: it was paused, stopped or resumed."""
        self._broadcast = broadcast
        self._wakeup.set()

    async def run(self) -> None:
        """Deliver until nothing is left. Deliveries that an earlier run left unfinished become unknown."""
        self._counts = await self._ledger.open()
        try:
            while await self._commit_batch():
                await self._wait()
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _commit_batch(self) -> bool:
        """Record the results, start the next deliveries, and return whether there is more to do."""
        request = self._build_batch_request()
        self._results, self._unsent = [], set()
        try:
            batch = await self._ledger.commit_batch(request)
        except StoreDown as error:
            log.error("broadcast_ledger_not_saved", broadcast=self._broadcast.id, error=type(error).__name__)  # noqa: TRY400
            self._results[:0], self._unsent = request.results, self._unsent.union(request.unsent)
            self._is_commit_unknown = True
            self._pause(1.0)
            return True
        self._is_commit_unknown = False
        self._rejections = 0 if request.pauses_broadcast else self._rejections
        self._broadcast = batch.broadcast or self._broadcast
        self._update_counts(request.results, batch)
        for delivery in batch.claimed:
            self._start(delivery)
        if not batch.is_running:
            self._cancel_unrequested()
        return bool(self._tasks or self._results or self._unsent or (batch.is_running and request.capacity <= 0))

    def _build_batch_request(self) -> BatchRequest:
        claimed = self._tasks.keys() | {each.user_id for each in self._results}
        return BatchRequest(
            capacity=self._get_capacity(),
            results=self._results,
            unsent=self._unsent,
            postponed=self._postponed.find_ids(_now()),
            claimed=claimed if self._is_commit_unknown else None,
            is_stopping=self._is_stopping,
            pauses_broadcast=self._rejections >= MAX_REJECTIONS,
        )

    def _update_counts(self, results: Sequence[Delivery], batch: Batch) -> None:
        for each in results:
            self._counts[each.status] += 1
        self._counts[DeliveryStatus.WAITING] += len(batch.unsent) - len(batch.claimed)
        self._counts[DeliveryStatus.SENDING] += len(batch.claimed) - len(batch.unsent) - len(results)

    def _get_capacity(self) -> int:
        """Return how many more deliveries can be claimed now. After a failure it is one, until one is delivered."""
        if self._paused_until > _now():
            return 0
        if self._pauses:
            return 1 - len(self._tasks)
        return min(self._claim_ahead - len(self._unrequested), MAX_REQUESTS - len(self._tasks))

    def _start(self, delivery: Delivery) -> None:
        user_id = delivery.user_id
        self._unrequested.add(user_id)
        task = asyncio.create_task(self._deliver(delivery), name=f"broadcast-{user_id}")
        self._tasks[user_id] = task
        task.add_done_callback(partial(self._on_task_done, user_id))

    def _on_request(self, user_id: int) -> None:
        self._unrequested.discard(user_id)
        if len(self._unrequested) <= self._claim_ahead // 2:
            self._wakeup.set()

    def _on_task_done(self, user_id: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(user_id, None)
        if task.cancelled() and user_id in self._unrequested:
            self._unsent.add(user_id)
        self._unrequested.discard(user_id)
        if not self._tasks or self._pauses:
            self._wakeup.set()

    async def _deliver(self, delivery: Delivery) -> None:
        on_request = partial(self._on_request, delivery.user_id)
        try:
            outcome = await self._sender.send(self._broadcast, delivery, on_request)
        except Exception as error:  # noqa: BLE001  a failed message must not end the broadcast
            why = type(error).__name__
            log.error("broadcast_delivery_failed", broadcast=self._broadcast.id, error=why, where=find_location(error))  # noqa: TRY400
            may_be_sent = delivery.user_id not in self._unrequested
            outcome = RetryLater(0, maybe_sent=True) if may_be_sent else Undeliverable(why)
        self._handle_outcome(delivery, outcome)

    def _handle_outcome(self, delivery: Delivery, outcome: DeliveryOutcome) -> None:
        match outcome:
            case Sent():
                self._pauses = self._rejections = 0
                self._postponed.record_delivery()
                self._record(delivery, DeliveryStatus.DELIVERED)
            case Undeliverable(reason, whole_chat=True):
                self._record(delivery, DeliveryStatus.BLOCKED, reason)
            case Undeliverable(reason):
                self._rejections += 1
                self._record(delivery, DeliveryStatus.FAILED, reason)
            case RetryLater(after, maybe_sent=True):
                self._record(delivery, DeliveryStatus.UNKNOWN)
                # Each such failure leaves a result unknown, so the pause grows with each failure in a row.
                self._pause(after, grows=True)
            case RetryLater(after):
                if self._postponed.record_refusal(delivery.user_id, _now() + after):
                    self._record(delivery, DeliveryStatus.FAILED, "refused too often")
                else:
                    self._unsent.add(delivery.user_id)
                # The first refusal can be about this reader alone. The next reader shows that.
                self._pause(after if self._postponed.are_several else MIN_PAUSE_SECONDS)

    def _record(self, delivery: Delivery, status: DeliveryStatus, failure: str | None = None) -> None:
        self._result_times.append(_now())
        self._results.append(replace(delivery, status=status, at=self._clock.now(), failure=failure))

    def _pause(self, seconds: float, *, grows: bool = False) -> None:
        """Start no request for so many seconds, and cancel deliveries whose request hasn't started."""
        now = _now()
        if now >= self._paused_until:
            self._pauses += 1
        shortest = PAUSE_AFTER_UNKNOWN.after(self._pauses + 1) if grows else MIN_PAUSE_SECONDS
        self._paused_until = max(self._paused_until, now + max(seconds, shortest))
        self._cancel_unrequested()

    def _cancel_unrequested(self) -> None:
        for user_id in self._unrequested:
            self._tasks[user_id].cancel()
        self._wakeup.set()

    async def _wait(self) -> None:
        pause = self._paused_until - _now()
        try:
            async with asyncio.timeout(pause if pause > 0 and not self._tasks else COMMIT_SECONDS):
                await self._wakeup.wait()
        except TimeoutError:
            pass
        self._wakeup.clear()


def _now() -> float:
    return asyncio.get_running_loop().time()
