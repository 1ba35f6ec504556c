"""Send notifications: in order within a chat, chats beside each other, and each until it is sent.

A row is marked before its request and after it. What a crash leaves in between may have been sent. We send it again
and say so: a message about money that is missing is worse than one that comes twice.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.error_location import where
from bot.core.shutdown import finish_tasks
from bot.infra.db.database import Database
from bot.infra.db.errors import LASTING, RowUnreadable, StoreDown
from bot.infra.db.retry import Sleep, retry_forever
from bot.infra.db.transaction import Transaction
from bot.infra.db.unreadable import unreadable_keys
from bot.infra.outbox.model import (
    EXTRA_TRIES,
    ChatMoved,
    DeliveryOutcome,
    Notification,
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

log = structlog.get_logger(__name__)

AT_ONCE = 48
OF_RATE_AT_ONCE = 24
EXTRA_AT_ONCE = 24
SLOTS = {Queue.MONEY: AT_ONCE, Queue.EXTRA: EXTRA_AT_ONCE, Queue.RATE: OF_RATE_AT_ONCE}
"""Each queue has places of its own: pictures that hang and quotes at eight o'clock keep no money message waiting."""

HEADS_READ = {Queue.MONEY: 100, Queue.EXTRA: 50, Queue.RATE: OF_RATE_AT_ONCE}

REPEAT_AFTER = timedelta(seconds=15)
"""A message that may have arrived is given this long before it is repeated: the way is just now bad."""

DELIVER_AGAIN = Backoff(first=0.5, longest=15 * 60)
"""Waits of our own; what the other side asks for can be longer."""

MISTAKES_FORGIVEN = 8
"""After so many failures of our own making in a row, those behind it in the chat matter more. Some four minutes."""


After = Callable[[Transaction, Notification[Any], Sent | Undeliverable, datetime], Awaitable[None]]
"""What follows when a notification was sent or given up, in the transaction that saves that."""

OnChatUnreachable = Callable[[Transaction, int, datetime], Awaitable[None]]
"""What a feature does when a chat can't be reached: the chat's id, now."""

OnChatMoved = Callable[[Transaction, int, int], Awaitable[None]]
"""What a feature does when a chat got another id: the old one, the new one."""


class OutboxDelivery:
    """Hands the heads of all chats to the teller and keeps what became of them.

    `on_slot_free` is called when a chat's head is done with, so that the next one can be looked for. `after` names what
    follows when a notification of a kind was sent or given up (by the kind's name), and must be harmless to repeat.
    `on_chat_unreachable` and `on_chat_moved` are called in the transaction that saves that outcome. `sleep` can be
    virtual.
    """

    def __init__(
        self,
        store: Database,
        sender: NotificationSender,
        clock: Clock,
        *,
        on_slot_free: Callable[[], None] = lambda: None,
        after: Mapping[NotificationKind, After] | None = None,
        on_chat_unreachable: Sequence[OnChatUnreachable] = (),
        on_chat_moved: Sequence[OnChatMoved] = (),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._sender = sender
        self._clock = clock
        self._on_slot_free = on_slot_free
        self._after = {kind.value: (kind, follow) for kind, follow in (after or {}).items()}
        self._on_chat_unreachable = on_chat_unreachable
        self._on_chat_moved = on_chat_moved
        self._sleep = sleep
        self._slots = {queue: asyncio.Semaphore(count) for queue, count in SLOTS.items()}
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._mistakes: Counter[int] = Counter()
        self._given_up = set[str]()

    async def recover(self) -> int:
        """Take up what a crash or a lost database left in the middle of a request; how many rows."""
        async with self._store.transaction() as tx:
            left = [
                notification
                for notification in await OutboxRepository(tx).left_sending()
                if notification.id not in self._under_way
            ]
            for notification in left:
                await OutboxRepository(tx).retry(notification.id, self._clock.now(), maybe_sent=True)
        return len(left)

    async def start_due(self) -> int:
        """Start telling all heads that are due; how many. No chat waits for another's answer."""
        async with self._store.reading() as tx:
            now = self._clock.now()
            heads = [
                notification
                for queue in Queue
                for notification in await OutboxRepository(tx).heads(now, HEADS_READ[queue], queue)
            ]
        await self._give_up_unreadable()
        fresh = [notification for notification in heads if notification.id not in self._under_way]
        for notification in fresh:
            task = asyncio.create_task(self._deliver(notification), name=f"notification-{notification.id}")
            self._under_way[notification.id] = task
            task.add_done_callback(partial(self._done, notification.id))
        return len(fresh)

    async def _give_up_unreadable(self) -> None:
        """Let what waits in a chat behind a message whose row can't be read go on; the watch raises the alarm."""
        found = unreadable_keys(self._store, "outbox") - self._given_up
        if not found:
            return
        async with self._store.transaction() as tx:
            for key in found:
                await OutboxRepository(tx).give_up(int(key), "its row can't be read")
        self._given_up |= found
        log.error("unreadable_messages_skipped", rows=sorted(found))

    async def next_due(self) -> datetime | None:
        """Return when the next notification falls due."""
        async with self._store.reading() as tx:
            return await OutboxRepository(tx).next_due()

    async def wait_until_sent(self) -> None:
        """Wait for all that is being told."""
        while self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def close(self, within: float) -> None:
        """Give what is being told `within` seconds; the rest is taken up as perhaps told at the next start."""
        await finish_tasks(self._under_way.values, within)

    def _done(self, notification_id: int, task: asyncio.Task[None]) -> None:
        self._under_way.pop(notification_id, None)
        if not task.cancelled() and (error := task.exception()):
            # The row stays marked as being sent; `recover` takes it up as perhaps told.
            log.error("outbox_result_not_saved", message_id=notification_id, error=type(error).__name__)
        self._on_slot_free()

    async def _deliver(self, notification: StoredNotification) -> None:
        async with self._slots[notification.queue]:
            async with self._store.transaction() as tx:
                if not await OutboxRepository(tx).start(notification.id):
                    return
            outcome = await self._send(notification)
            try:
                await self._save(notification, outcome)
            except Exception as error:  # noqa: BLE001  what follows must not make a message come again each minute
                log.error(  # noqa: TRY400  a traceback may quote rows
                    "message_follow_up_failed",
                    message=notification.kind,
                    subject=notification.subject,
                    error=type(error).__name__,
                    where=where(error),
                )
                await self._save(notification, outcome, follows=False)

    async def _send(self, notification: StoredNotification) -> DeliveryOutcome:
        """The teller's outcome; what it raises is our mistake or a lost database, and must not hold up the chat."""
        try:
            outcome = await self._sender.send(notification)
        except Exception as error:  # noqa: BLE001  whatever it is, the row must not stay as being sent
            if isinstance(error, RowUnreadable) and error.is_of_order:
                self._mistakes.pop(notification.id, None)
                # Trying again doesn't help, and what waits behind it in the chat is about other orders, too.
                return Unreadable("its order can't be opened")
            if not isinstance(error, StoreDown):
                self._mistakes[notification.id] += 1
            log.error(  # noqa: TRY400  a traceback may quote what a user wrote
                "message_attempt_failed",
                message=notification.kind,
                subject=notification.subject,
                error=type(error).__name__,
                where=where(error),
            )
            if self._mistakes[notification.id] >= MISTAKES_FORGIVEN:
                del self._mistakes[notification.id]
                return Undeliverable(type(error).__name__)
            # It may have failed after the sending.
            return RetryLater(0, maybe_sent=True)
        self._mistakes.pop(notification.id, None)
        return outcome

    async def _save(self, notification: StoredNotification, outcome: DeliveryOutcome, *, follows: bool = True) -> None:
        """Save the outcome, however long the database is away.

        Only this process knows the message's id: without it, an invoice can't be removed from the chat.
        """
        await retry_forever(
            "save_delivery",
            lambda: self._keep(notification, outcome, follows=follows),
            despite=StoreDown,
            unless=LASTING,
            sleep=self._sleep,
            message=notification.kind,
        )

    async def _keep(self, notification: StoredNotification, outcome: DeliveryOutcome, *, follows: bool) -> None:
        now = self._clock.now()
        is_extra = notification.queue is Queue.EXTRA
        if isinstance(outcome, RetryLater) and is_extra and notification.attempts + 1 >= EXTRA_TRIES:
            outcome = Undeliverable(f"{EXTRA_TRIES} tries failed")
        async with self._store.transaction() as tx:
            match outcome:
                case Sent(message_id):
                    await OutboxRepository(tx).record_sent(notification.id, message_id, now)
                    await self._follow(tx, (notification,) if follows else (), outcome, now)
                case RetryLater(after, maybe_sent):
                    wait = timedelta(seconds=max(after, DELIVER_AGAIN.after(notification.attempts + 1)))
                    due = now + (max(wait, REPEAT_AFTER) if maybe_sent else wait)
                    await OutboxRepository(tx).retry(notification.id, due, maybe_sent=maybe_sent)
                case ChatMoved(new_chat_id=new_chat_id):
                    await self._move_chat(tx, notification, new_chat_id, now)
                case Undeliverable(_, whole_chat=True):
                    await self._give_up_chat(tx, notification, outcome, now, follows=follows)
                case Unreadable(reason):
                    await OutboxRepository(tx).give_up(notification.id, reason)
                    self._log_unreadable(notification, reason)
                case Undeliverable(reason):
                    await OutboxRepository(tx).give_up(notification.id, reason)
                    await self._follow(tx, (notification,) if follows else (), outcome, now)
                    log.error(
                        "message_undeliverable", message=notification.kind, subject=notification.subject, reason=reason
                    )

    async def _move_chat(
        self, tx: Transaction, notification: StoredNotification, new_chat_id: int, now: datetime
    ) -> None:
        await OutboxRepository(tx).move_chat(notification.chat_id, new_chat_id)
        for on_moved in self._on_chat_moved:
            await on_moved(tx, notification.chat_id, new_chat_id)
        await OutboxRepository(tx).retry(notification.id, now, maybe_sent=False)
        log.warning("chat_moved", message=notification.kind)

    async def _give_up_chat(
        self, tx: Transaction, notification: StoredNotification, outcome: Undeliverable, now: datetime, *, follows: bool
    ) -> None:
        waiting = await OutboxRepository(tx).unsent_in(notification.chat_id)
        count = await OutboxRepository(tx).give_up_chat(notification.chat_id, outcome.reason)
        for on_unreachable in self._on_chat_unreachable:
            await on_unreachable(tx, notification.chat_id, now)
        await self._follow(tx, waiting if follows else (), outcome, now)
        for each in waiting:
            self._mistakes.pop(each.id, None)
        log.warning("chat_unreachable", message=notification.kind, rows=count, reason=outcome.reason)

    async def _follow(
        self, tx: Transaction, ended: Iterable[StoredNotification], how: Sent | Undeliverable, now: datetime
    ) -> None:
        for notification in ended:
            if notification.kind not in self._after:
                continue
            kind, follow = self._after[notification.kind]
            try:
                readable = unpack(kind, notification)
            except PayloadUnreadable:
                self._log_unreadable(notification, "its payload can't be read")
            else:
                await follow(tx, readable, how, now)

    @staticmethod
    def _log_unreadable(notification: StoredNotification, reason: str) -> None:
        log.error("message_unreadable", message=notification.kind, subject=notification.subject, reason=reason)
