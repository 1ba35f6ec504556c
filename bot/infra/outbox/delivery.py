"""Delivery of notifications: in order within a chat, several chats at once, and each until it is sent.

A row is marked before its request and after it. After a crash in between, the message may have been sent. We send it
again and say so, because a missing message about money is worse than a repeated one.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import structlog
from prometheus_client import Counter as CounterMetric
from prometheus_client import Histogram

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.error_location import find_location
from bot.core.shutdown import finish_tasks
from bot.infra.db.columns import MALFORMED
from bot.infra.db.database import Database
from bot.infra.db.errors import LASTING, RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.db.retry import Sleep, retry_forever
from bot.infra.db.transaction import Transaction
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.log_context import bind_fields
from bot.infra.metrics import start_at_zero
from bot.infra.outbox.follow_ups import FinalResult, FollowUp, OnChatMoved, OnChatUnreachable
from bot.infra.outbox.left import LEFT_FOR, LeftNotifications
from bot.infra.outbox.model import (
    MAX_TRIES,
    ChatMoved,
    DeliveryOutcome,
    LeftToOthers,
    NotificationKind,
    NotificationSender,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
    Unreadable,
)
from bot.infra.outbox.payload import PayloadUnreadable, unpack
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.workers import Wakeup

log = structlog.get_logger(__name__)

NOTIFICATIONS: Final = CounterMetric(
    "kirim_notifications",
    "Attempts to send a notification. After `retried`, `left` and `perhaps_sent` there is another one.",
    ["queue", "result"],
)
start_at_zero(NOTIFICATIONS, Queue, ("sent", "perhaps_sent", "retried", "left", "undeliverable"))
DELAY_SECONDS: Final = Histogram(
    "kirim_notification_delay_seconds",
    "From the time when a notification was due until it was sent.",
    ["queue"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3600),
)
start_at_zero(DELAY_SECONDS, Queue)

URGENT_SLOTS = 48
BULK_SLOTS = 24
EXTRA_SLOTS = 24
EDIT_SLOTS = 24
SLOTS = {Queue.URGENT: URGENT_SLOTS, Queue.EDITS: EDIT_SLOTS, Queue.EXTRA: EXTRA_SLOTS, Queue.BULK: BULK_SLOTS}
"""How many notifications of each queue are sent at once. So slow pictures and many quotes never delay money."""

HEADS_READ = {Queue.URGENT: 100, Queue.EDITS: 100, Queue.EXTRA: 50, Queue.BULK: BULK_SLOTS}

REPEAT_AFTER = timedelta(seconds=15)
"""How long to wait before repeating a message that may have arrived, because the connection is bad."""

RETRY_BACKOFF = Backoff(first=0.5, longest=15 * 60)
"""Our own waits between attempts. Telegram can ask for a longer one."""

MAX_FOLLOWING = 10
"""How many notifications of a chat are passed over at once because they follow one that others can read."""

MAX_ERRORS = 8
"""After so many failures of our own in a row, those behind it in the chat are sent first. Some four minutes."""

RESULTS_AT_ONCE = 25
"""How many results are one transaction. While it is open, no other can write to SQLite."""

Marking = asyncio.Future[Collection[int] | None]
"""The end of a transaction that marks notifications: the ids of those that it has marked, or None if it has failed."""


@dataclass(slots=True, eq=False)
class _Result:
    """The outcome of an attempt, until it is saved.

    Attributes:
        is_tried: whether a transaction for several has tried to save it.
        is_saved: whether that has succeeded.
    """

    notification: StoredNotification
    outcome: DeliveryOutcome
    lease: ChatLease
    is_tried: bool = False
    is_saved: bool = False


class OutboxDelivery:
    """Sends the first waiting notification of every chat and saves the outcomes.

    Args:
        database: has the outbox.
        sender: makes the attempts.
        clock: the time.
        wakeup: wakes what calls `start_due`, after each task behind which something may wait.
        follow_ups: called when a notification of their kind was sent or given up. They must be harmless to repeat.
        on_chat_unreachable: called in the transaction that saves that outcome.
        on_chat_moved: called in the transaction that saves that outcome.
        leases: grants chats to this process. A notification is only sent in a chat that it holds.
        queues: the queues that are sent.
        log_fields: for prefixes of subjects, the log field that gets the rest of the subject. Other subjects, which can
            name a user, aren't logged.
        sleep: waits for some seconds.
    """

    def __init__(
        self,
        database: Database,
        sender: NotificationSender,
        clock: Clock,
        *,
        wakeup: Wakeup | None = None,
        follow_ups: Mapping[NotificationKind, FollowUp] | None = None,
        on_chat_unreachable: Sequence[OnChatUnreachable] = (),
        on_chat_moved: Sequence[OnChatMoved] = (),
        leases: Leases | None = None,
        queues: Collection[Queue] = tuple(Queue),
        log_fields: Mapping[str, str] = MappingProxyType({}),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._database = database
        self._sender = sender
        self._clock = clock
        self._wakeup = wakeup or Wakeup()
        self._follow_ups = {kind.value: (kind, follow_up) for kind, follow_up in (follow_ups or {}).items()}
        self._on_chat_unreachable = on_chat_unreachable
        self._on_chat_moved = on_chat_moved
        self._leases = leases or UnsharedLeases()
        self._queues = tuple(queues)
        self._log_fields = log_fields
        self._sleep = sleep
        self._in_use = Counter[Queue]()
        self._tasks: dict[int, asyncio.Task[bool]] = {}
        self._lease_of: dict[asyncio.Task[bool], ChatLease] = {}
        self._results: list[_Result] = []
        self._saving = asyncio.Lock()
        self._lacks_slots = False
        self._context = copy_context()
        self._errors: Counter[int] = Counter()
        self._given_up = set[str]()
        self._left = LeftNotifications(clock, is_alone=self._leases.is_alone)
        self._is_closing = False
        self.next_due: datetime | None = None
        """When `start_due` has to be called again, at the latest. None if only a free slot or a new row is a reason."""

    async def recover(self) -> int:
        """Queue again what a crash or a lost database interrupted during a request. Return how many rows."""
        async with self._database.reading() as tx:
            interrupted = await self._find_interrupted(tx)
        return await self._recover(interrupted)

    async def _find_interrupted(self, tx: Transaction) -> Sequence[StoredNotification]:
        found = await OutboxRepository(tx, self._leases.owner).find_interrupted(self._queues)
        return [notification for notification in found if notification.id not in self._tasks]

    def _may_be_left(self, notification: StoredNotification) -> bool:
        """Return whether another process was sending a notification, and this one hasn't dealt with that yet."""
        lease = self._leases.get(notification.chat_id)
        return lease is None or (lease.taken_over_at is not None and not lease.is_recovered)

    async def _recover(self, interrupted: Sequence[StoredNotification]) -> int:
        leases = await self._claim(interrupted)
        ours = [each.id for each in interrupted if each.chat_id in leases and each.id not in self._tasks]
        try:
            if ours:
                await self._queue_again(ours, leases.values())
        except LeaseLost:
            return 0  # the next call goes on with the others
        for lease in leases.values():
            lease.is_recovered = True
        return len(ours)

    async def _queue_again(self, ids: Sequence[int], leases: Collection[ChatLease]) -> None:
        """Queue notifications again in one transaction, because a process that ends can leave those of many chats."""
        async with self._database.transaction() as tx:
            for notification_id in ids:
                await OutboxRepository(tx).postpone(notification_id, self._clock.now(), maybe_sent=True)
            # Last, as in all transactions that need a lease. Otherwise two of them could wait for each other.
            if len(await self._leases.lock(tx, leases)) < len(leases):
                raise LeaseLost

    async def _claim(self, notifications: Sequence[StoredNotification]) -> Mapping[int, ChatLease]:
        """Return the leases of those of their chats that this process holds or could take."""
        if not notifications:
            return {}
        chats = dict.fromkeys(notification.chat_id for notification in notifications)
        return {lease.chat_id: lease for lease in await self._leases.claim(chats)}

    async def start_due(self) -> int:
        """Start to send the first notification of each chat if it is due. Return how many.

        One transaction marks them. Those for which no slot is free are left to the next call.
        """
        self._context = copy_context()
        self._lacks_slots = False
        interrupted: Sequence[StoredNotification] = ()
        async with self._database.reading() as tx:
            self.next_due, heads = await self._find_heads(tx)
            if not self._leases.is_alone:
                # Of a process that died. Its chats are free as soon as its leases have ended.
                interrupted = await self._find_interrupted(tx)
        await self._give_up_unreadable()
        await self._recover([each for each in interrupted if self._may_be_left(each)])
        fresh = [notification for notification in heads if notification.id not in self._tasks]
        leases = await self._claim(fresh)
        if len(leases) < len({each.chat_id for each in fresh}):
            self.next_due = self._clock.now()  # another process has taken a chat since, or this one stands aside
        ready = [each for each in fresh if each.chat_id in leases]
        if not ready:
            return 0
        async with self._database.transaction() as tx:
            return await self._mark(tx, [each for each in ready if each.id not in self._tasks], leases)

    async def mark_due_in(self, tx: Transaction, chat_ids: Collection[int]) -> None:
        """Mark what is due now in these chats in a transaction that has changed what waits there, and start to send it.

        What has to wait, and what is in a chat of another process, is left to the next `start_due`.
        """
        held = {} if self._is_closing else {chat_id: self._leases.get(chat_id) for chat_id in chat_ids}
        leases = {chat_id: lease for chat_id, lease in held.items() if lease is not None}
        now, repository = self._clock.now(), OutboxRepository(tx, self._leases.owner)
        found = await repository.find_heads_in(leases, self._left.list_ids()) if leases else ()
        heads = [each for each in found if each.id not in self._tasks]
        due = [each for each in heads if each.due_at <= now and not self._left.must_wait(each)]
        if await self._mark(tx, due, leases) < len(heads) or len(leases) < len(chat_ids):
            tx.on_commit.append(self._wakeup)

    async def _mark(self, tx: Transaction, due: Sequence[StoredNotification], leases: Mapping[int, ChatLease]) -> int:
        """Mark notifications as being sent if there are slots for them, and start their tasks. Return how many."""
        free = {queue: max(count - self._in_use[queue], 0) for queue, count in SLOTS.items()}
        started = [each for queue in free for each in islice((one for one in due if one.queue is queue), free[queue])]
        self._lacks_slots |= len(started) < len(due)
        if not started:
            return 0
        # The tasks are known before the rows are marked, so that `recover` doesn't take these for interrupted.
        marking: Marking = asyncio.get_running_loop().create_future()
        tx.on_rollback.append(partial(marking.set_result, None))
        for each in started:
            self._start(each, leases[each.chat_id], marking)
        marked = await OutboxRepository(tx).mark_sending(*(each.id for each in started))
        # Last, as in `_queue_again`.
        used = {each.chat_id: leases[each.chat_id] for each in started}
        held = {lease.chat_id for lease in await self._leases.lock(tx, used.values())}
        lost = [each.id for each in started if each.chat_id not in held]
        if lost:
            await OutboxRepository(tx).leave(*lost)
        tx.on_commit.append(partial(marking.set_result, set(marked).difference(lost)))
        return len(started)

    def _start(self, notification: StoredNotification, lease: ChatLease, marking: Marking) -> None:
        """Start the task that delivers a notification once it is marked."""
        task = asyncio.create_task(
            self._deliver(notification, lease, marking),
            name=f"notification-{notification.id}",
            # Whatever work has queued it, it is sent as by the worker.
            context=self._context.copy(),
        )
        self._lease_of[task] = lease
        self._tasks[notification.id] = task
        self._in_use[notification.queue] += 1
        task.add_done_callback(partial(self._on_task_done, notification))

    async def _find_heads(self, tx: Transaction) -> tuple[datetime | None, Sequence[StoredNotification]]:
        """Return when the next head is due after those that are due now, and the latter."""
        now, repository = self._clock.now(), OutboxRepository(tx, self._leases.owner)
        for _ in range(MAX_FOLLOWING):
            left = self._left.list_ids()
            dues = self._in_queues(await repository.find_next_dues(left))
            heads = [
                notification
                for queue, due in dues.items()
                if due is MALFORMED or due <= now
                for notification in await repository.find_heads(now, HEADS_READ[queue], queue, left)
            ]
            ready = [notification for notification in heads if not self._left.must_wait(notification)]
            if len(ready) == len(heads):
                break  # else those that come after the others in their chats are the heads
        if heads:
            dues = self._in_queues(await repository.find_next_dues(self._left.list_ids(), after=now))
        return min((due for due in dues.values() if due is not MALFORMED), default=None), ready

    def _in_queues(self, dues: Mapping[Queue, Any]) -> Mapping[Queue, Any]:
        """Return those of the queues that are sent here."""
        return {queue: due for queue, due in dues.items() if queue in self._queues}

    async def _give_up_unreadable(self) -> None:
        """Give up rows that can't be read, so that later ones in the chat are sent. The monitor raises the alarm."""
        found = self._database.unreadable_keys("outbox") - self._given_up
        if not found:
            return
        async with self._database.transaction() as tx:
            for key in found:
                await OutboxRepository(tx).give_up(int(key), "its row can't be read")
        self._given_up |= found
        log.error("unreadable_messages_skipped", rows=sorted(found))

    async def wait_until_sent(self) -> None:
        """Wait until no notification is being sent."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, within: float) -> None:
        """Wait up to `within` seconds for running requests. The next start repeats the others as perhaps sent."""
        self._is_closing = True
        await finish_tasks(self._tasks.values, within)

    def _on_task_done(self, notification: StoredNotification, task: asyncio.Task[bool]) -> None:
        self._in_use[notification.queue] -= 1
        del self._tasks[notification.id]
        del self._lease_of[task]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, LeaseLost):
            log.info("message_left_to_another_process", message_id=notification.id)
        elif error is not None:
            # The row stays marked as being sent. `recover` repeats it as perhaps sent.
            log.error("outbox_result_not_saved", message_id=notification.id, error=type(error).__name__)
        if self._lacks_slots or task.cancelled() or error is not None or not task.result():
            self._wakeup.wake_here()

    async def _deliver(self, notification: StoredNotification, lease: ChatLease, marking: Marking) -> bool:
        """Send a notification and save the outcome. Return whether that has marked what follows in its chat, too."""
        with self._leases.work_in(lease):
            # Not cancelled with this task, because others wait for it, too.
            marked = await asyncio.shield(marking)
            if marked is None:
                await self._unmark(notification)
            if not marked or notification.id not in marked:
                return False
            with bind_fields(**self._describe(notification)):
                outcome = await self._send(notification)
            self._record_attempt(notification, outcome)
            await self._save(_Result(notification, outcome, lease))
            return isinstance(outcome, Sent) and notification.queue is not Queue.BULK

    async def _unmark(self, notification: StoredNotification) -> None:
        """Make sure that a notification isn't marked after a failed transaction, which may have been committed."""

        async def leave() -> None:
            async with self._database.transaction() as tx:
                await OutboxRepository(tx).leave(notification.id)

        await retry_forever("unmark_message", leave, retry_on=StoreDown, sleep=self._sleep)

    def abandon(self, lease: ChatLease) -> None:
        """End the deliveries in a chat whose lease was lost. Another process repeats them as perhaps sent."""
        for task, held in self._lease_of.items():
            if held is lease:
                task.cancel()

    def _record_attempt(self, notification: StoredNotification, outcome: DeliveryOutcome) -> None:
        queue = notification.queue.value
        match outcome:
            case Sent():
                result = "sent"
                late = (self._clock.now() - notification.due_at).total_seconds()
                DELAY_SECONDS.labels(queue).observe(max(late, 0.0))
            case RetryLater(maybe_sent=True):
                result = "perhaps_sent"
            case RetryLater() | ChatMoved():
                result = "retried"
            case LeftToOthers():
                result = "left"
            case _:
                result = "undeliverable"
        NOTIFICATIONS.labels(queue, result).inc()

    async def _send(self, notification: StoredNotification) -> DeliveryOutcome:
        """Make one attempt and return its outcome. An exception (a bug or a lost database) must not block the chat."""
        try:
            outcome = await self._sender.send(notification)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  after any error the row must not stay as being sent
            if isinstance(error, RowUnreadable):
                self._errors.pop(notification.id, None)
                # Trying again doesn't help. Later notifications of the chat can be about something else.
                what = f"a row of {error.table} can't be read"
                return LeftToOthers(what) if error.is_for_others else Unreadable(what)
            if not isinstance(error, StoreDown):
                self._errors[notification.id] += 1
            log.error(  # noqa: TRY400  a traceback may quote what a user wrote
                "message_attempt_failed",
                error=type(error).__name__,
                where=find_location(error),
            )
            if self._errors[notification.id] >= MAX_ERRORS:
                del self._errors[notification.id]
                return Undeliverable(type(error).__name__)
            # The message may have been sent before the error.
            return RetryLater(0, maybe_sent=True)
        self._errors.pop(notification.id, None)
        return outcome

    async def _save(self, result: "_Result") -> None:
        """Save an outcome, in one transaction with others that have arrived meanwhile. None waits for more of them.

        If that transaction fails, each is saved on its own, so that a bad one holds up no other.
        """
        self._results.append(result)
        try:
            async with self._saving:
                if not result.is_tried:
                    await self._save_together()
        finally:
            self._results.remove(result)
        if not result.is_saved:
            await self._save_alone(result)

    async def _save_together(self) -> None:
        together: Sequence[_Result] = ()
        try:
            async with self._database.transaction() as tx:
                together = [each for each in self._results if not each.is_tried][:RESULTS_AT_ONCE]
                for each in together:
                    each.is_tried = True
                await self._record(tx, together)
        except Exception as error:  # noqa: BLE001  whatever it is, it may be about one of them only
            log.warning("results_not_saved_together", error=type(error).__name__, results=len(together))
            return
        for each in together:
            each.is_saved = True

    async def _save_alone(self, result: "_Result") -> None:
        """Save an outcome. Try again until the database can be reached.

        Only this process knows the message's id. Without it, an invoice can't be removed from the chat.
        """

        async def save(*, has_follow_up: bool = True) -> None:
            async with self._database.transaction() as tx:
                await self._record(tx, [result], has_follow_up=has_follow_up)

        retry = partial(retry_forever, "save_delivery", retry_on=StoreDown, give_up_on=LASTING, sleep=self._sleep)
        try:
            await retry(save)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  a failed follow-up must not repeat the message every minute
            log.error(  # noqa: TRY400  a traceback may quote rows
                "message_follow_up_failed",
                **self._describe(result.notification),
                error=type(error).__name__,
                where=find_location(error),
            )
            await retry(partial(save, has_follow_up=False))

    async def _record(self, tx: Transaction, results: Sequence["_Result"], *, has_follow_up: bool = True) -> None:
        """Save outcomes, and mark what follows in their chats, which saves a transaction and a search."""
        now = self._clock.now()
        for each in results:
            with bind_fields(**self._describe(each.notification)):
                first = len(tx.on_commit)
                await self._record_one(tx, each.notification, each.outcome, now, has_follow_up=has_follow_up)
                # What it logs at the commit has these fields, too.
                tx.on_commit[first:] = [partial(copy_context().run, call) for call in tx.on_commit[first:]]
        sent = [each.notification for each in results if isinstance(each.outcome, Sent)]
        chats = {each.chat_id for each in sent if each.queue is not Queue.BULK}
        if chats:
            await self.mark_due_in(tx, chats)
        # The lease of a single one is checked at the commit.
        leases = {each.lease.chat_id: each.lease for each in results}
        if len(leases) > 1 and len(await self._leases.lock(tx, leases.values())) < len(leases):
            raise LeaseLost

    async def _record_one(
        self,
        tx: Transaction,
        notification: StoredNotification,
        outcome: DeliveryOutcome,
        now: datetime,
        *,
        has_follow_up: bool,
    ) -> None:
        outcome = _give_up_if_hopeless(notification, outcome, now)
        match outcome:
            case Sent(message_id):
                sent = (notification, *outcome.others)
                for each in sent:
                    await OutboxRepository(tx).record_sent(each.id, message_id, now)
                    tx.on_commit.append(partial(_log_sent, each, now))
                await self._run_follow_ups(tx, sent if has_follow_up else (), outcome, now)
            case RetryLater(after, maybe_sent):
                wait = timedelta(seconds=max(after, RETRY_BACKOFF.after(notification.attempts + 1)))
                due = now + (max(wait, REPEAT_AFTER) if maybe_sent else wait)
                await OutboxRepository(tx).postpone(notification.id, due, maybe_sent=maybe_sent)
                tx.on_commit.append(partial(_log_retry, notification, due - now, maybe_sent=maybe_sent))
            case LeftToOthers(reason):
                await OutboxRepository(tx).leave(notification.id)
                tx.on_commit.append(partial(self._leave, notification, reason))
            case ChatMoved(new_chat_id=new_chat_id):
                await self._move_chat(tx, notification, new_chat_id, now)
            case Undeliverable(_, whole_chat=True):
                await self._give_up_chat(tx, notification, outcome, now, has_follow_up=has_follow_up)
            case Unreadable(reason):
                await OutboxRepository(tx).give_up(notification.id, reason)
                self._log_unreadable(notification, reason)
            case Undeliverable(reason):
                await OutboxRepository(tx).give_up(notification.id, reason)
                await self._run_follow_ups(tx, (notification,) if has_follow_up else (), outcome, now)
                tx.on_commit.append(lambda: log.error("message_undeliverable", reason=reason))

    def _leave(self, notification: StoredNotification, reason: str) -> None:
        """Leave a notification to others, and give its chat back, so that one of them can take it."""
        self._left.add(notification)
        self._database.record_left("outbox", notification.id)
        lease = self._leases.get(notification.chat_id)
        if lease is not None:
            lease.is_wanted = True
        log.warning("message_left_to_others", reason=reason)

    async def _move_chat(
        self, tx: Transaction, notification: StoredNotification, new_chat_id: int, now: datetime
    ) -> None:
        await OutboxRepository(tx).move_chat(notification.chat_id, new_chat_id)
        for on_moved in self._on_chat_moved:
            await on_moved(tx, notification.chat_id, new_chat_id)
        await OutboxRepository(tx).postpone(notification.id, now, maybe_sent=False)
        tx.on_commit.append(lambda: log.warning("chat_moved"))

    async def _give_up_chat(
        self,
        tx: Transaction,
        notification: StoredNotification,
        outcome: Undeliverable,
        now: datetime,
        *,
        has_follow_up: bool,
    ) -> None:
        waiting = await OutboxRepository(tx).find_unsent(notification.chat_id)
        count = await OutboxRepository(tx).give_up_chat(notification.chat_id, outcome.reason)
        for on_unreachable in self._on_chat_unreachable:
            await on_unreachable(tx, notification.chat_id, now)
        await self._run_follow_ups(tx, waiting if has_follow_up else (), outcome, now)
        tx.on_commit.append(lambda: log.warning("chat_unreachable", rows=count, reason=outcome.reason))
        for each in waiting:
            self._errors.pop(each.id, None)
            tx.on_commit.append(partial(self._log_given_up, each, outcome.reason))

    async def _run_follow_ups(
        self, tx: Transaction, notifications: Iterable[StoredNotification], outcome: FinalResult, now: datetime
    ) -> None:
        for notification in notifications:
            if notification.kind not in self._follow_ups:
                continue
            kind, follow_up = self._follow_ups[notification.kind]
            try:
                readable = unpack(kind, notification)
            except PayloadUnreadable:
                self._log_unreadable(notification, "its payload can't be read")
            else:
                await follow_up(tx, readable, outcome, now)

    def _log_unreadable(self, notification: StoredNotification, reason: str) -> None:
        with bind_fields(**self._describe(notification)):
            log.error("message_unreadable", reason=reason)

    def _describe(self, notification: StoredNotification) -> Mapping[str, str]:
        """Return the log fields of a notification: its kind, and what it is about."""
        named = {
            field: notification.subject.removeprefix(prefix)
            for prefix, field in self._log_fields.items()
            if notification.subject.startswith(prefix)
        }
        return {"message": notification.kind, **named}

    def _log_given_up(self, notification: StoredNotification, reason: str) -> None:
        # Each with its own fields, because the messages of a chat can be about several orders.
        with bind_fields(**self._describe(notification)):
            log.info("message_undeliverable", reason=reason)


def _give_up_if_hopeless(notification: StoredNotification, outcome: DeliveryOutcome, now: datetime) -> DeliveryOutcome:
    """Return the outcome, as given up if it was tried often enough, or nobody has read it for long."""
    if isinstance(outcome, RetryLater):
        tries = MAX_TRIES.get(notification.queue)
        if tries is not None and notification.attempts + 1 >= tries:
            return Undeliverable(f"{tries} tries failed")
    if isinstance(outcome, LeftToOthers) and now - notification.created_at > LEFT_FOR:
        return Unreadable(outcome.reason)
    return outcome


def _log_sent(notification: StoredNotification, now: datetime) -> None:
    seconds = round((now - notification.created_at).total_seconds(), 3)
    if notification.queue is Queue.BULK:
        # Rates go to many users at once, and nobody searches for one of them.
        log.debug("message_sent", seconds=seconds, attempts=notification.attempts + 1)
    else:
        log.info("message_sent", seconds=seconds, attempts=notification.attempts + 1)


def _log_retry(notification: StoredNotification, wait: timedelta, *, maybe_sent: bool) -> None:
    log.info(
        "message_retry_scheduled",
        retry_in=round(wait.total_seconds(), 3),
        attempts=notification.attempts + 1,
        perhaps_sent=maybe_sent,
    )
