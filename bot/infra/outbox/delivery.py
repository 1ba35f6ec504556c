"""Delivery of notifications: in order within a chat, several chats at once, and each until it is sent.

A row is marked before its request and after it. After a crash in between, the message may have been sent. We send it
again and say so, because a missing message about money is worse than a repeated one.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Final

import structlog
from prometheus_client import Counter as CounterMetric
from prometheus_client import Histogram

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.reasons import find_location
from bot.core.shutdown import finish_tasks
from bot.infra.db.database import Database
from bot.infra.db.errors import LASTING, RowUnreadable, StoreDown
from bot.infra.db.fence import LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import UnknownKey
from bot.infra.leases.chat_leases import ChatLease, Leases, UnsharedLeases
from bot.infra.logging import bind_fields
from bot.infra.metrics import start_at_zero
from bot.infra.outbox.model import (
    ChatMoved,
    DeliveryOutcome,
    NotificationKind,
    NotificationSender,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
    Unknown,
    Unreadable,
)
from bot.infra.outbox.rendering import FollowUp, OnChatMoved, OnChatUnreachable
from bot.infra.outbox.repository import OutboxRepository, PayloadUnreadable, unpack
from bot.infra.workers import Sleep, Wakeup, retry_forever

log = structlog.get_logger(__name__)

NOTIFICATIONS: Final = CounterMetric(
    "kirim_notifications",
    "Attempts to send a notification. After `retried` and `perhaps_sent` there is another one.",
    ["queue", "result"],
)
start_at_zero(NOTIFICATIONS, Queue, ("sent", "perhaps_sent", "retried", "unknown", "undeliverable"))
DELAY_SECONDS: Final = Histogram(
    "kirim_notification_delay_seconds",
    "From the time when a notification was due until it was sent.",
    ["queue"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3600),
)
start_at_zero(DELAY_SECONDS, Queue)

REPEAT_AFTER = 15
"""How many seconds to wait before repeating a message that may have arrived, because the connection is bad."""

RETRY_BACKOFF = Backoff(first=0.5, longest=15 * 60)
"""Our own waits between attempts. Telegram can ask for a longer one."""

MAX_ERRORS = 8
"""After so many tries, a failure of our own ends a notification, and those behind it are sent. Some four minutes."""

RESULTS_AT_ONCE = 25
"""How many results are one transaction. While it is open, no other can write to SQLite."""

FEWEST_BULK_SLOTS: Final = 24
"""How many are sent at once in bulk at Telegram's free rate."""

BULK_SECONDS: Final = 0.1
"""How long results in bulk wait for others. So there are a few commits a second in place of thirty."""

SHORTEST_WAIT: Final = 0.05

Marking = asyncio.Future[Mapping[int, bool]]
"""The result of a transaction that marks notifications: the ids of those that it has marked here, and whether each may
have been sent before."""


@dataclass(slots=True, eq=False)
class _Attempt:
    """An attempt to send a notification, from before it is marked until its outcome is saved.

    Attributes:
        is_saved: whether the outcome is saved.
        has_hooks: whether what features do after the outcome is saved with it.
    """

    notification: StoredNotification
    lease: ChatLease
    task: asyncio.Task[bool] = field(init=False)
    outcome: DeliveryOutcome = field(init=False)
    is_saved: bool = False
    has_hooks: bool = True


class OutboxDelivery:
    """Sends the first waiting notification of every chat and saves the outcomes.

    A notification that is marked as being sent, but that no task of this process sends, was interrupted. It is sent
    again in the same way, once this process holds the chat.

    Args:
        database: has the outbox.
        sender: makes the attempts.
        clock: the time.
        wakeup: wakes what calls `tick`, after each task behind which something may wait.
        follow_ups: called when a notification of their kind was sent or given up. They must be harmless to repeat.
        on_chat_unreachable: called in the transaction that saves that outcome.
        on_chat_moved: called in the transaction that saves that outcome.
        leases: grants chats to this process. A notification is only sent in a chat that it holds.
        queues: the queues that are sent.
        bulk_slots: how many are sent at once in bulk, up to the slots of that queue.
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
        bulk_slots: int = FEWEST_BULK_SLOTS,
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
        self._slots = {queue: bulk_slots if queue is Queue.BULK else queue.slots for queue in queues}
        self._log_fields = log_fields
        self._sleep = sleep
        self._in_use = Counter[Queue]()
        self._attempts: dict[int, _Attempt] = {}
        self._unsaved: dict[int, _Attempt] = {}
        self._saving = asyncio.Lock()
        self._lacks_slots = False
        self._context = copy_context()
        self._given_up = set[str]()
        self._is_closing = False
        self.next_due: datetime | None = None
        """When `start_due` has to be called again, at the latest. None if only a free slot or a new row is a reason."""

    async def tick(self) -> float:
        """Start to send what is due. Return the seconds until the next tick."""
        await self.start_due()
        if self.next_due is None:
            return self._leases.look_seconds
        return min(max((self.next_due - self._clock.now()).total_seconds(), SHORTEST_WAIT), self._leases.look_seconds)

    async def start_due(self) -> int:
        """Start to send the first notification of each chat if it is due. Return how many.

        One transaction marks them. Those for which no slot is free are left to the next call.
        """
        self._context = copy_context()
        self._lacks_slots = False
        async with self._database.reading() as tx:
            heads = await self._outbox(tx).find_heads(tuple(self._slots), self._database.list_unknown("outbox"))
        if await self._give_up_unreadable():
            return await self.start_due()
        now = self._clock.now()
        self.next_due = min((each.due_at for each in heads if each.due_at > now), default=None)
        due = [each for each in heads if each.due_at <= now and each.id not in self._attempts]
        chats = {each.chat_id for each in due}
        if not chats:
            return 0
        if len(await self._leases.claim(chats)) < len(chats):
            self.next_due = now  # another process has taken a chat since
        async with self._database.transaction() as tx:
            return await self._mark(tx, due)

    async def mark_due_in(self, tx: Transaction, chat_ids: Collection[int]) -> None:
        """Mark what is due now in these chats in a transaction that has changed what waits there, and start to send it.

        What waits, what is sent in bulk, and what is in a chat of another process is left to the next `start_due`.
        """
        held = [] if self._is_closing else [chat_id for chat_id in chat_ids if self._leases.get(chat_id)]
        queues = [queue for queue in self._slots if queue is not Queue.BULK]
        found = (
            await self._outbox(tx).find_heads_in(held, queues, self._database.list_unknown("outbox")) if held else ()
        )
        heads = [each for each in found if each.id not in self._attempts]
        if await self._mark(tx, heads) < len(heads) or len(held) < len(chat_ids):
            tx.on_commit.append(self._wakeup)

    async def _mark(self, tx: Transaction, heads: Iterable[StoredNotification]) -> int:
        """Mark those that are due and not being sent, and start their tasks, while there are slots. Return how many."""
        now, started = self._clock.now(), dict[int, _Attempt]()
        marking: Marking = asyncio.get_running_loop().create_future()
        tx.on_rollback.append(partial(marking.set_result, {}))
        for each in sorted(heads, key=lambda head: list(self._slots).index(head.queue)):  # money first
            lease = self._leases.get(each.chat_id)
            if lease is None or each.due_at > now or each.id in self._attempts:
                continue
            if self._in_use[each.queue] < self._slots[each.queue]:
                # The task is known before the row is marked. A row that is marked and has no task was interrupted.
                started[each.id] = self._start(_Attempt(each, lease), marking)
            else:
                self._lacks_slots = True
        if not started:
            return 0
        marked = await OutboxRepository(tx).mark_sending(started, now)
        # Last, as in all transactions that need a lease. Otherwise two of them could wait for each other. What is
        # marked in a chat that was lost is repeated by the process that has it.
        held = await self._leases.lock(tx, [each.lease for each in started.values()])
        ours = {key: maybe_sent for key, maybe_sent in marked.items() if started[key].lease in held}
        tx.on_commit.append(partial(marking.set_result, ours))
        return len(started)

    def _start(self, attempt: _Attempt, marking: Marking) -> _Attempt:
        """Start the task that delivers a notification once it is marked."""
        notification = attempt.notification
        attempt.task = asyncio.create_task(
            self._deliver(attempt, marking),
            name=f"notification-{notification.id}",
            # Whatever work has queued it, it is sent as by the worker.
            context=self._context.copy(),
        )
        self._attempts[notification.id] = attempt
        self._in_use[notification.queue] += 1
        attempt.task.add_done_callback(partial(self._on_task_done, notification))
        return attempt

    def _outbox(self, tx: Transaction) -> OutboxRepository:
        return OutboxRepository(tx, self._leases.owner)

    async def _give_up_unreadable(self) -> bool:
        """Give up rows that can't be read, so that later ones in the chat are sent. The monitor raises the alarm.

        Return whether there were any.
        """
        found = self._database.damaged_keys("outbox") - self._given_up
        if not found:
            return False
        async with self._database.transaction() as tx:
            for key in found:
                await OutboxRepository(tx).give_up(int(key), "its row can't be read")
        self._given_up |= found
        log.error("unreadable_messages_skipped", rows=sorted(found))
        return True

    async def wait_until_sent(self) -> None:
        """Wait until no notification is being sent."""
        while self._attempts:
            await asyncio.wait(self._list_tasks())

    async def close(self, within: float) -> None:
        """Wait up to `within` seconds for running requests. The next start repeats the others as perhaps sent."""
        self._is_closing = True
        await finish_tasks(self._list_tasks, within)

    def _list_tasks(self) -> Collection[asyncio.Task[bool]]:
        return [each.task for each in self._attempts.values()]

    def _on_task_done(self, notification: StoredNotification, task: asyncio.Task[bool]) -> None:
        queue = notification.queue
        self._in_use[queue] -= 1
        del self._attempts[notification.id]
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, LeaseLost):
            log.error("outbox_result_not_saved", message_id=notification.id, error=type(error).__name__)
        if queue is Queue.BULK and self._in_use[queue] > self._slots[queue] // 2:
            return  # one transaction marks half of the slots
        if self._lacks_slots or task.cancelled() or error is not None or not task.result():
            self._wakeup.wake_here()

    async def _deliver(self, attempt: _Attempt, marking: Marking) -> bool:
        """Send a notification and save the outcome. Return whether that has marked what follows in its chat, too."""
        with self._leases.work_in(attempt.lease):
            # Not cancelled with this task, because others wait for it, too.
            marked = await asyncio.shield(marking)
            if attempt.notification.id not in marked:
                return False
            attempt.notification = replace(attempt.notification, maybe_sent=marked[attempt.notification.id])
            with bind_fields(**self._describe(attempt.notification)):
                attempt.outcome = await self._send(attempt.notification)
            self._count(attempt)
            await self._save(attempt)
            return isinstance(attempt.outcome, Sent) and attempt.notification.queue is not Queue.BULK

    def _count(self, attempt: _Attempt) -> None:
        queue = attempt.notification.queue.value
        match attempt.outcome:
            case Sent():
                result = "sent"
                late = (self._clock.now() - attempt.notification.due_at).total_seconds()
                DELAY_SECONDS.labels(queue).observe(max(late, 0.0))
            case RetryLater(maybe_sent=True):
                result = "perhaps_sent"
            case RetryLater() | ChatMoved():
                result = "retried"
            case Unknown():
                result = "unknown"
            case _:
                result = "undeliverable"
        NOTIFICATIONS.labels(queue, result).inc()

    async def _send(self, notification: StoredNotification) -> DeliveryOutcome:
        """Make one attempt and return its outcome. An exception (a bug or a lost database) must not block the chat."""
        max_tries = notification.queue.max_tries
        try:
            outcome = await self._sender.send(notification)
        except UnknownKey:
            # Nothing was sent, and this process ends. The next one begins as if it had never been tried.
            async with self._database.transaction() as tx:
                await OutboxRepository(tx).leave(notification.id)
            raise
        except LeaseLost:
            raise
        except RowUnreadable as error:
            # Trying again doesn't help. Later notifications of the chat can be about something else.
            return Unknown() if error.is_unknown else Unreadable(f"a row of {error.table} can't be read")
        except Exception as error:  # noqa: BLE001  after any error the row must not stay as being sent
            log.error(  # noqa: TRY400  a traceback may quote what a user wrote
                "message_attempt_failed",
                error=type(error).__name__,
                where=find_location(error),
            )
            # The message may have been sent before the error.
            outcome = RetryLater(0, maybe_sent=True)
            if not isinstance(error, StoreDown):
                max_tries = MAX_ERRORS
        if isinstance(outcome, RetryLater) and max_tries is not None and notification.attempts + 1 >= max_tries:
            return Undeliverable(f"{max_tries} tries failed")
        return outcome

    async def _save(self, attempt: _Attempt) -> None:
        """Save an outcome, in one transaction with others that have arrived meanwhile. In bulk, it waits for them.

        If that transaction fails, each is saved on its own, so that a bad one holds up no other.
        """
        key = attempt.notification.id
        self._unsaved[key] = attempt
        try:
            if attempt.notification.queue is Queue.BULK:
                await self._sleep(BULK_SECONDS)
            async with self._saving:
                if key in self._unsaved:
                    await self._save_together()
        finally:
            self._unsaved.pop(key, None)
        if not attempt.is_saved:
            await self._save_alone(attempt)

    async def _save_together(self) -> None:
        together: Sequence[_Attempt] = ()
        try:
            async with self._database.transaction() as tx:
                together = [self._unsaved.pop(key) for key in tuple(islice(self._unsaved, RESULTS_AT_ONCE))]
                await self._record(tx, together)
        except Exception as error:  # noqa: BLE001  whatever it is, it may be about one of them only
            log.warning("results_not_saved_together", error=type(error).__name__, results=len(together))
            return
        for each in together:
            each.is_saved = True

    async def _save_alone(self, attempt: _Attempt) -> None:
        """Save an outcome. Try again until the database can be reached.

        Only this process knows the message's id. Without it, an invoice can't be removed from the chat.
        """

        async def save() -> None:
            async with self._database.transaction() as tx:
                await self._record(tx, [attempt])

        retry = partial(retry_forever, "save_delivery", save, sleep=self._sleep)
        try:
            await retry(retry_on=StoreDown, give_up_on=LASTING)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  a failed follow-up must not repeat the message
            log.error(  # noqa: TRY400  a traceback may quote rows
                "message_follow_up_failed",
                **self._describe(attempt.notification),
                error=type(error).__name__,
                where=find_location(error),
            )
            attempt.has_hooks = False
            await retry()

    async def _record(self, tx: Transaction, attempts: Sequence[_Attempt]) -> None:
        """Save outcomes, and mark what follows in their chats, which saves a transaction and a search."""
        now = self._clock.now()
        message_ids = {
            notification.id: each.outcome.message_id
            for each in attempts
            if isinstance(each.outcome, Sent)
            for notification in (each.notification, *each.outcome.others)
        }
        await OutboxRepository(tx).record_sent(message_ids, now)
        for each in attempts:
            with bind_fields(**self._describe(each.notification)):
                first = len(tx.on_commit)
                await self._record_one(tx, each, now)
                # What it logs at the commit has these fields, too.
                tx.on_commit[first:] = [partial(copy_context().run, call) for call in tx.on_commit[first:]]
        sent = [each.notification for each in attempts if isinstance(each.outcome, Sent)]
        chats = {each.chat_id for each in sent if each.queue is not Queue.BULK}
        if chats:
            await self.mark_due_in(tx, chats)
        # The lease of a single one is checked at the commit.
        leases = {each.lease.chat_id: each.lease for each in attempts}
        if len(leases) > 1 and len(await self._leases.lock(tx, leases.values())) < len(leases):
            raise LeaseLost

    async def _record_one(self, tx: Transaction, attempt: _Attempt, now: datetime) -> None:
        outbox, notification = OutboxRepository(tx), attempt.notification
        match attempt.outcome:
            case Sent(others=others):
                tx.on_commit.extend(partial(_log_sent, each, now) for each in (notification, *others))
                await self._run_follow_ups(tx, attempt, (notification, *others), now)
            case RetryLater(after, maybe_sent):
                seconds = max(after, RETRY_BACKOFF.after(notification.attempts + 1), REPEAT_AFTER if maybe_sent else 0)
                await outbox.postpone(notification.id, now + timedelta(seconds=seconds), maybe_sent=maybe_sent)
                count = notification.attempts + 1
                tx.on_commit.append(
                    lambda: log.info(
                        "message_retry_scheduled", retry_in=round(seconds, 3), attempts=count, perhaps_sent=maybe_sent
                    )
                )
            case Unknown():
                await outbox.leave(notification.id)
                tx.on_commit.append(partial(self._database.record_unknown, "outbox", notification.id))
            case ChatMoved(new_chat_id=new_chat_id):
                await outbox.postpone(notification.id, now, maybe_sent=False)
                await self._move_chat(tx, attempt, new_chat_id)
            case Undeliverable(reason, whole_chat=True):
                await self._give_up_chat(tx, attempt, reason, now)
            case Unreadable(reason):
                await outbox.give_up(notification.id, reason)
                self._log_unreadable(notification, reason)
            case Undeliverable(reason):
                await outbox.give_up(notification.id, reason)
                await self._run_follow_ups(tx, attempt, (notification,), now)
                report = log.info if notification.queue is Queue.BULK else log.error
                tx.on_commit.append(partial(report, "message_undeliverable", reason=reason))

    async def _move_chat(self, tx: Transaction, attempt: _Attempt, new_chat_id: int) -> None:
        chat_id = attempt.notification.chat_id
        await OutboxRepository(tx).move_chat(chat_id, new_chat_id)
        for on_moved in self._on_chat_moved if attempt.has_hooks else ():
            await on_moved(tx, chat_id, new_chat_id)
        tx.on_commit.append(lambda: log.warning("chat_moved"))

    async def _give_up_chat(self, tx: Transaction, attempt: _Attempt, reason: str, now: datetime) -> None:
        chat_id = attempt.notification.chat_id
        waiting = await OutboxRepository(tx).find_unsent(chat_id)
        count = await OutboxRepository(tx).give_up_chat(chat_id, reason)
        for on_unreachable in self._on_chat_unreachable if attempt.has_hooks else ():
            await on_unreachable(tx, chat_id, now)
        await self._run_follow_ups(tx, attempt, waiting, now)
        tx.on_commit.append(lambda: log.warning("chat_unreachable", rows=count, reason=reason))
        tx.on_commit.extend(partial(self._log_given_up, each, reason) for each in waiting)

    async def _run_follow_ups(
        self, tx: Transaction, attempt: _Attempt, ended: Iterable[StoredNotification], now: datetime
    ) -> None:
        """Run what follows the end of notifications, if they have the attempt's outcome."""
        if not attempt.has_hooks or not isinstance(attempt.outcome, Sent | Undeliverable):
            return
        for each in ended:
            if each.kind not in self._follow_ups:
                continue
            kind, follow_up = self._follow_ups[each.kind]
            try:
                readable = unpack(kind, each)
            except PayloadUnreadable:
                self._log_unreadable(each, "its payload can't be read")
            else:
                await follow_up(tx, readable, attempt.outcome, now)

    def _log_unreadable(self, notification: StoredNotification, reason: str) -> None:
        with bind_fields(**self._describe(notification)):
            log.error("message_unreadable", reason=reason)

    def _log_given_up(self, notification: StoredNotification, reason: str) -> None:
        # Each with its own fields, because the messages of a chat can be about several orders.
        with bind_fields(**self._describe(notification)):
            log.info("message_undeliverable", reason=reason)

    def _describe(self, notification: StoredNotification) -> Mapping[str, str]:
        """Return the log fields of a notification: its kind, and what it is about."""
        named = {
            name: notification.subject.removeprefix(prefix)
            for prefix, name in self._log_fields.items()
            if notification.subject.startswith(prefix)
        }
        return {"message": notification.kind, **named}


def _log_sent(notification: StoredNotification, now: datetime) -> None:
    seconds = round((now - notification.created_at).total_seconds(), 3)
    if notification.queue is Queue.BULK:
        # Rates go to many users at once, and nobody searches for one of them.
        log.debug("message_sent", seconds=seconds, attempts=notification.attempts + 1)
    else:
        log.info("message_sent", seconds=seconds, attempts=notification.attempts + 1)
