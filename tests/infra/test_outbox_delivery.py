"""Delivery: notifications of a chat are sent in order, each until it is sent. No chat and no bug delays others."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import pytest
from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import FENCE, LeaseLost
from bot.infra.db.transaction import Transaction
from bot.infra.leases.chat_leases import ChatLease, UnsharedLeases
from bot.infra.outbox.delivery import MAX_ERRORS, OutboxDelivery
from bot.infra.outbox.model import (
    Notification,
    NotificationStatus,
    Queue,
    RetryLater,
    Sent,
    StoredNotification,
    Undeliverable,
)
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import AboutOrder, OrderNotification
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.infra.builders import message_id_of
from tests.orders.order_system import EDITS, EMMA, SARI, OrderSystem, RecordingSender
from tests.waiting import TIMEOUT_SECONDS


async def queue(system: OrderSystem, *kinds: str, chat_id: int = EMMA) -> None:
    now = system.clock.now()
    rows = [
        Notification(
            chat_id=chat_id,
            subject="order:R2345AB",
            kind=kind,
            mark=mark,
            payload=AboutOrder("R2345AB"),
            queue=Queue.EDITS if kind in EDITS else Queue.URGENT,
            due_at=now,
            created_at=now,
        )
        for kind, _, mark in (each.partition(":") for each in kinds)
    ]
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


def list_sent(system: OrderSystem) -> list[tuple[int, str, bool]]:
    return [(each.chat_id, each.kind, each.maybe_sent) for each in system.sender.sent]


class SlowSender(RecordingSender):
    """A sender that answers when the test releases it."""

    def __init__(self, system: OrderSystem) -> None:
        super().__init__(system.clock)
        self.locks: dict[int, asyncio.Event] = {}
        self.started = asyncio.Event()

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        self.started.set()
        if notification.chat_id in self.locks:
            await self.locks[notification.chat_id].wait()
        return await super().send(notification)


async def interrupt(system: OrderSystem) -> None:
    """Let a process end during its first request."""
    sender = SlowSender(system)
    sender.locks[EMMA] = asyncio.Event()
    dying = OutboxDelivery(system.store, sender, system.clock)
    await dying.start_due()
    await sender.started.wait()
    await dying.close(0)


async def test_the_notifications_of_a_chat_are_sent_in_their_order(system: OrderSystem) -> None:
    await queue(system, "checking", "card", "paid", "sent")
    await system.deliver()
    assert system.sender.kinds() == ["checking", "card", "paid", "sent"]


async def test_the_same_notification_twice_is_sent_once(system: OrderSystem) -> None:
    await queue(system, "paid")
    await queue(system, "paid")
    await system.deliver()
    await queue(system, "paid")
    await system.deliver()
    assert system.sender.kinds() == ["paid"]


async def test_what_is_postponed_holds_back_what_follows_it_in_its_chat_alone(system: OrderSystem) -> None:
    await queue(system, "paid", "sent")
    await queue(system, "paid", chat_id=SARI)
    system.sender.outcomes[EMMA].append(RetryLater(30))
    await system.deliver()
    assert list_sent(system) == [(SARI, "paid", False)]
    system.clock.passes(seconds=29)
    await system.deliver()
    assert system.sender.kinds() == []
    system.clock.passes(seconds=1)
    await system.deliver()
    assert system.sender.kinds() == ["paid", "sent"]


async def test_failures_are_repeated_later_and_later_and_never_given_up(system: OrderSystem) -> None:
    await queue(system, "paid")
    system.sender.outcomes[EMMA].extend([RetryLater(1)] * 60)
    waits = []
    while system.sender.outcomes[EMMA]:
        await system.deliver()
        due = system.delivery.next_due
        assert due is not None
        waits.append((due - system.clock.now()).total_seconds())
        system.clock.at = due
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (1, 900)
    await system.deliver()
    assert system.sender.kinds() == ["paid"]


async def test_a_message_that_may_have_arrived_is_repeated_late_and_says_so(system: OrderSystem) -> None:
    await queue(system, "paid")
    system.sender.outcomes[EMMA].extend([RetryLater(1, maybe_sent=True), RetryLater(1)])
    await system.deliver()
    system.clock.passes(seconds=14)
    await system.deliver()
    assert list(system.sender.outcomes[EMMA]) == [RetryLater(1)], "it is not tried before"
    system.clock.passes(seconds=1)
    await system.deliver()
    system.clock.passes(seconds=10)
    await system.deliver()
    assert list_sent(system) == [(EMMA, "paid", True)]


async def test_a_blocked_chat_is_given_up_without_disturbing_the_others(system: OrderSystem) -> None:
    await queue(system, "paid", "sent")
    await queue(system, "paid", "sent", chat_id=SARI)
    system.sender.outcomes[EMMA].append(Undeliverable("blocked", whole_chat=True))
    await system.deliver()
    assert list_sent(system) == [(SARI, "paid", False), (SARI, "sent", False)]
    assert system.delivery.next_due is None


async def test_a_slow_chat_does_not_hold_up_the_others(system: OrderSystem) -> None:
    sender = SlowSender(system)
    delivery = OutboxDelivery(system.store, sender, system.clock)
    sender.locks[EMMA] = asyncio.Event()
    await queue(system, "paid")
    for chat_id in range(2000, 2200):
        await queue(system, "paid", chat_id=chat_id)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(sender.sent) < 200:
            await delivery.start_due()
            await asyncio.sleep(0)
    assert EMMA not in {each.chat_id for each in sender.sent}
    sender.locks[EMMA].set()
    await delivery.wait_until_sent()
    assert len(sender.sent) == 201


async def test_messages_about_money_have_slots_of_their_own(system: OrderSystem) -> None:
    sender = SlowSender(system)
    delivery = OutboxDelivery(system.store, sender, system.clock)
    for chat_id in range(2000, 2000 + Queue.EDITS.slots + Queue.URGENT.slots):
        await queue(system, OrderNotification.EDIT_STATUS, chat_id=chat_id)
        sender.locks[chat_id] = asyncio.Event()
    assert await delivery.start_due() == Queue.EDITS.slots
    for chat_id in range(3000, 3000 + Queue.URGENT.slots):
        await queue(system, "paid", chat_id=chat_id)
    assert await delivery.start_due() == Queue.URGENT.slots
    await delivery.close(0)


async def test_what_a_crash_left_half_told_is_told_again_and_says_so(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    await queue(system, "paid", "sent")
    await interrupt(system)
    await other_system.deliver()
    assert list_sent(other_system) == [(EMMA, "paid", True), (EMMA, "sent", False)]
    async with system.store.reading() as tx:
        paid, _ = await OutboxRepository(tx).find_by_subject("order:R2345AB")
    assert paid.attempts == 2


class ForgetfulLeases(UnsharedLeases):
    """Grants every chat, and has lost these when they are to be locked."""

    def __init__(self, *lost: int) -> None:
        super().__init__()
        self.lost = lost

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        return [lease for lease in leases if lease.chat_id not in self.lost]


async def test_a_notification_that_can_never_be_sent_does_not_silence_its_chat(system: OrderSystem) -> None:
    await queue(system, "paid", "sent")
    system.sender.outcomes[EMMA].extend([KeyError("a name")] * MAX_ERRORS)
    for _ in range(MAX_ERRORS):
        await system.deliver()
        system.clock.passes(minutes=5)
    assert system.sender.kinds() == ["sent"]
    assert await count_by_status(system) == {NotificationStatus.UNDELIVERABLE: 1, NotificationStatus.SENT: 1}


async def count_by_status(system: OrderSystem) -> dict[str, int]:
    async with system.sql.reading() as tx:
        rows: Any = await OutboxRepository(tx)._connection.execute(
            text("select status, count(*) from outbox group by status")
        )
        return {NotificationStatus(row[0]): row[1] for row in rows}


async def test_a_database_that_is_away_while_telling_is_no_reason_to_give_up(system: OrderSystem) -> None:
    await queue(system, "paid")
    system.sender.outcomes[EMMA].extend([StoreDown()] * (MAX_ERRORS * 2))
    for _ in range(MAX_ERRORS * 2 + 1):
        await system.deliver()
        system.clock.passes(minutes=15)
    assert system.sender.kinds() == ["paid"]


async def test_a_result_that_a_mistake_of_ours_keeps_from_being_saved_repeats_no_message(
    system: OrderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0
    record = system.delivery._record

    async def mistaken(*arguments: Any) -> None:
        nonlocal tries
        tries += 1
        if tries < 10:
            raise KeyError
        await record(*arguments)

    async def skip_sleep(_: float) -> None:
        pass

    await queue(system, "paid", "sent")
    monkeypatch.setattr(system.delivery, "_record", mistaken)
    monkeypatch.setattr(system.delivery, "_sleep", skip_sleep)
    await system.deliver()
    assert list_sent(system) == [(EMMA, "paid", False), (EMMA, "sent", False)]


class FailingDatabase:
    """A database whose transactions fail while `outages` is above 0: before the commit, or after it (`after`).

    After it, nobody here knows that it succeeded.
    """

    def __init__(self, store: Database, *, after: bool) -> None:
        self._store, self._after, self.outages = store, after, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with self._store.transaction() as tx:
            yield tx
            is_lost = self.outages > 0
            self.outages -= is_lost
            if is_lost and not self._after:
                raise StoreDown
            if is_lost:
                tx.on_commit.clear()
        if is_lost:
            for call in tx.on_rollback:
                call()
            raise StoreDown


@pytest.mark.parametrize("after", [False, True])
async def test_a_delivery_is_saved_however_often_the_database_fails(system: OrderSystem, *, after: bool) -> None:
    store = FailingDatabase(system.sql, after=after)
    pauses: list[float] = []

    class OutageSender(RecordingSender):
        async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
            store.outages = 17 if notification.kind == "invoice" else 0
            return await super().send(notification)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    sender, followed = OutageSender(system.clock), list[str]()
    sender.outcomes[EMMA].extend([Sent(41), Sent(42)])

    async def follow_up(*_: object) -> None:
        followed.append("invoice")

    delivery = OutboxDelivery(
        cast("Database", store), sender, system.clock, follow_ups={OrderNotification.INVOICE: follow_up}, sleep=sleep
    )
    await queue(system, "invoice", "card")
    while await delivery.start_due():
        await delivery.wait_until_sent()
    async with system.store.reading() as tx:
        saved = [await message_id_of(tx, "order:R2345AB", kind, EMMA) for kind in ("invoice", "card")]
    assert saved == [41, 42]
    # The first try saves all results that are there. Then this one is saved on its own. What follows it may have been
    # marked, as if it had been begun.
    assert [(each.kind, each.maybe_sent) for each in sender.sent] == [("invoice", False), ("card", after)]
    assert (len(pauses), max(pauses)) == (16, 5.0)
    assert followed


async def test_a_mistake_in_what_follows_a_delivery_does_not_repeat_its_message(system: OrderSystem) -> None:
    async def mistaken(tx: Any, *_: object) -> None:
        await UserRepository(tx).save(User(id=7, created_at=system.clock.now()))
        raise KeyError

    delivery = OutboxDelivery(system.store, system.sender, system.clock, follow_ups={OrderNotification.PAID: mistaken})
    await queue(system, "paid", "sent")
    for _ in range(2):
        while await delivery.start_due():
            await delivery.wait_until_sent()
        system.clock.passes(seconds=60)
    assert list_sent(system) == [(EMMA, "paid", False), (EMMA, "sent", False)]
    assert await count_by_status(system) == {NotificationStatus.SENT: 2}
    async with system.store.reading() as tx:
        assert await UserRepository(tx).get(7) is None, "half of the follow-up was saved"


class CountingDatabase:
    """A database that counts the transactions that write."""

    def __init__(self, store: Database) -> None:
        self._store, self.writes = store, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def transaction(self) -> Any:
        self.writes += 1
        return self._store.transaction()


async def test_only_what_has_a_slot_is_marked_and_a_crash_repeats_nothing_else(
    system: OrderSystem, other_system: OrderSystem
) -> None:
    chats = range(1, Queue.URGENT.slots + 6)
    sender = SlowSender(system)
    for chat_id in chats:
        await queue(system, "paid", chat_id=chat_id)
        sender.locks[chat_id] = asyncio.Event()
    dying = OutboxDelivery(system.store, sender, system.clock)
    assert await dying.start_due() == Queue.URGENT.slots
    await sender.started.wait()
    assert await dying.start_due() == 0
    assert await count_by_status(system) == {
        NotificationStatus.SENDING: Queue.URGENT.slots,
        NotificationStatus.WAITING: 5,
    }
    await dying.close(0)
    await other_system.deliver()
    assert sorted(list_sent(other_system)) == [(chat_id, "paid", chat_id <= Queue.URGENT.slots) for chat_id in chats]


class LostFence:
    """The lease of a chat that another process has taken, which this one doesn't know yet."""

    is_held = True

    async def check(self, _: Transaction) -> None:
        raise LeaseLost


class TakenLeases(ForgetfulLeases):
    """Grants every chat. Work in those that are lost can't commit."""

    @contextmanager
    def work_in(self, lease: ChatLease) -> Iterator[None]:
        token = FENCE.set(LostFence() if lease.chat_id in self.lost else None)
        try:
            yield
        finally:
            FENCE.reset(token)


async def test_a_chat_that_another_process_has_taken_holds_up_no_other(system: OrderSystem) -> None:
    for chat_id in (EMMA, SARI, 1003):
        await queue(system, "paid", chat_id=chat_id)
    delivery = OutboxDelivery(system.store, system.sender, system.clock, leases=TakenLeases(SARI))
    await delivery.start_due()
    await delivery.wait_until_sent()
    assert list_sent(system) == [(EMMA, "paid", False), (1003, "paid", False)]
    assert await count_by_status(system) == {NotificationStatus.SENT: 2, NotificationStatus.SENDING: 1}


class SecondHangs(RecordingSender):
    """A sender that never answers the second request."""

    def __init__(self, system: OrderSystem) -> None:
        super().__init__(system.clock)
        self.hangs = asyncio.Event()

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        if self.sent:
            self.hangs.set()
            await asyncio.Event().wait()
        return await super().send(notification)


async def test_the_next_one_is_marked_before_its_request(system: OrderSystem, other_system: OrderSystem) -> None:
    await queue(system, "paid", "sent")
    sender = SecondHangs(system)
    dying = OutboxDelivery(system.store, sender, system.clock)
    await dying.start_due()
    await sender.hangs.wait()
    assert await dying.start_due() == 0
    await dying.close(0)
    await other_system.deliver()
    assert list_sent(other_system) == [(EMMA, "sent", True)]


async def test_what_is_queued_in_a_transaction_that_fails_is_not_sent(system: OrderSystem) -> None:
    delivery = OutboxDelivery(system.store, system.sender, system.clock)
    await delivery.start_due()
    system.sql.before_commit = delivery.mark_due_in
    token = FENCE.set(LostFence())
    with pytest.raises(LeaseLost):
        await queue(system, "paid")
    FENCE.reset(token)
    await delivery.wait_until_sent()
    assert list_sent(system) == []
    assert await count_by_status(system) == {}


async def test_a_chat_of_another_process_is_left_to_it(system: OrderSystem) -> None:
    leases = ForgetfulLeases()
    leases.get = lambda _: None  # type: ignore[method-assign,assignment]
    delivery = OutboxDelivery(system.store, system.sender, system.clock, leases=leases)
    await delivery.start_due()
    system.sql.before_commit = delivery.mark_due_in
    await queue(system, "paid")
    assert await count_by_status(system) == {NotificationStatus.WAITING: 1}
