"""News reach their chats in order, each until it is told, and no chat or mistake holds up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.outbox.delivery import MISTAKES_FORGIVEN, OutboxDelivery
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
from bot.orders.notifications.kinds import AboutOrder, OrderNotification
from bot.orders.notifications.queueing import IN_EXTRA
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.keys import VAULT
from tests.orders.order_world import EMMA, SARI, Ears, House
from tests.waiting import PATIENCE


async def queue(house: House, *kinds: str, chat_id: int = EMMA) -> None:
    now = house.clock.now()
    rows = [
        Notification(
            chat_id=chat_id,
            subject="order:R2345AB",
            kind=kind,
            mark=mark,
            payload=AboutOrder("R2345AB"),
            queue=Queue.EXTRA if kind in IN_EXTRA else Queue.MONEY,
            due_at=now,
            created_at=now,
        )
        for kind, _, mark in (each.partition(":") for each in kinds)
    ]
    async with house.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


def heard(house: House) -> list[tuple[int, str, bool]]:
    return [(each.chat_id, each.kind, each.maybe_sent) for each in house.ears.heard]


class SlowEars(Ears):
    """Answers only when the test lets it."""

    def __init__(self, house: House) -> None:
        super().__init__(house.clock)
        self.gates: dict[int, asyncio.Event] = {}
        self.begun = asyncio.Event()

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        self.begun.set()
        if notification.chat_id in self.gates:
            await self.gates[notification.chat_id].wait()
        return await super().send(notification)


async def test_the_notifications_of_a_chat_are_sent_in_their_order(house: House) -> None:
    await queue(house, "checking", "card", "paid", "sent")
    await house.tells()
    assert house.ears.kinds() == ["checking", "card", "paid", "sent"]


async def test_the_same_notification_twice_is_sent_once(house: House) -> None:
    await queue(house, "paid")
    await queue(house, "paid")
    await house.tells()
    await queue(house, "paid")
    await house.tells()
    assert house.ears.kinds() == ["paid"]


async def test_what_is_postponed_holds_back_what_follows_it_in_its_chat_alone(house: House) -> None:
    await queue(house, "paid", "sent")
    await queue(house, "paid", chat_id=SARI)
    house.ears.outcomes[EMMA].append(RetryLater(30))
    await house.tells()
    assert heard(house) == [(SARI, "paid", False)]
    house.clock.passes(seconds=29)
    await house.tells()
    assert house.ears.kinds() == []
    house.clock.passes(seconds=1)
    await house.tells()
    assert house.ears.kinds() == ["paid", "sent"]


async def test_a_wait_that_telegram_asks_for_is_waited_out_however_long(house: House) -> None:
    await queue(house, "paid")
    house.ears.outcomes[EMMA].append(RetryLater(7200))
    await house.tells()
    async with house.store.reading() as tx:
        assert await OutboxRepository(tx).next_due() == house.clock.now() + timedelta(hours=2)


async def test_failures_are_repeated_later_and_later_and_never_given_up(house: House) -> None:
    await queue(house, "paid")
    house.ears.outcomes[EMMA].extend([RetryLater(1)] * 60)
    waits = []
    while house.ears.outcomes[EMMA]:
        await house.tells()
        async with house.store.reading() as tx:
            due = await OutboxRepository(tx).next_due()
        assert due is not None
        waits.append((due - house.clock.now()).total_seconds())
        house.clock.at = due
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (1, 900)
    await house.tells()
    assert house.ears.kinds() == ["paid"]


async def test_a_message_that_may_have_arrived_is_repeated_late_and_says_so(house: House) -> None:
    await queue(house, "paid")
    house.ears.outcomes[EMMA].extend([RetryLater(1, maybe_sent=True), RetryLater(1)])
    await house.tells()
    house.clock.passes(seconds=14)
    await house.tells()
    assert list(house.ears.outcomes[EMMA]) == [RetryLater(1)], "it is not tried before"
    house.clock.passes(seconds=1)
    await house.tells()
    house.clock.passes(seconds=10)
    await house.tells()
    assert heard(house) == [(EMMA, "paid", True)]


async def test_a_blocked_chat_is_given_up_without_disturbing_the_others(house: House) -> None:
    await queue(house, "paid", "sent")
    await queue(house, "paid", "sent", chat_id=SARI)
    house.ears.outcomes[EMMA].append(Undeliverable("blocked", whole_chat=True))
    await house.tells()
    assert heard(house) == [(SARI, "paid", False), (SARI, "sent", False)]
    async with house.store.reading() as tx:
        assert await OutboxRepository(tx).next_due() is None


async def test_a_chat_that_opens_again_hears_what_is_new(house: House) -> None:
    await queue(house, "paid")
    house.ears.outcomes[EMMA].append(Undeliverable("blocked", whole_chat=True))
    await house.tells()
    await queue(house, "sent")
    await house.tells()
    assert house.ears.kinds() == ["sent"]


async def test_a_message_that_telegram_refuses_is_skipped(house: House) -> None:
    await queue(house, "paid", "sent")
    house.ears.outcomes[EMMA].append(Undeliverable("can't parse entities"))
    await house.tells()
    assert house.ears.kinds() == ["sent"]


async def test_a_slow_chat_does_not_hold_up_the_others(house: House) -> None:
    ears = SlowEars(house)
    delivery = OutboxDelivery(house.store, ears, house.clock)
    ears.gates[EMMA] = asyncio.Event()
    await queue(house, "paid")
    for chat_id in range(2000, 2200):
        await queue(house, "paid", chat_id=chat_id)
    async with asyncio.timeout(PATIENCE):
        while len(ears.heard) < 200:
            await delivery.start_due()
            await asyncio.sleep(0)
    assert EMMA not in {each.chat_id for each in ears.heard}
    ears.gates[EMMA].set()
    await delivery.settle()
    assert len(ears.heard) == 201


async def test_starting_twice_tells_once(house: House) -> None:
    ears = SlowEars(house)
    delivery = OutboxDelivery(house.store, ears, house.clock)
    ears.gates[EMMA] = asyncio.Event()
    await queue(house, "paid")
    assert await delivery.start_due() == 1
    assert await delivery.start_due() == 0
    ears.gates[EMMA].set()
    await delivery.settle()
    assert len(ears.heard) == 1


async def test_two_processes_send_a_notification_once(house: House, other_house: House) -> None:
    await queue(house, *(f"card_edit:{number}" for number in range(20)))
    for _ in range(40):
        await asyncio.gather(house.delivery.start_due(), other_house.delivery.start_due())
        await asyncio.gather(house.delivery.settle(), other_house.delivery.settle())
    told = [each.marked_kind for each in house.ears.heard + other_house.ears.heard]
    assert sorted(told) == sorted(f"card_edit:{number}" for number in range(20))


async def test_what_a_crash_left_half_told_is_told_again_and_says_so(house: House, other_house: House) -> None:
    await queue(house, "paid", "sent")
    ears = SlowEars(house)
    ears.gates[EMMA] = asyncio.Event()
    dying = OutboxDelivery(house.store, ears, house.clock)
    await dying.start_due()
    await ears.begun.wait()
    await dying.close(0)
    await other_house.tells()
    assert other_house.ears.heard == []
    assert await other_house.delivery.recover() == 1
    await other_house.tells()
    assert heard(other_house) == [(EMMA, "paid", True), (EMMA, "sent", False)]


async def test_recovering_leaves_alone_what_is_being_told_just_now(house: House) -> None:
    ears = SlowEars(house)
    delivery = OutboxDelivery(house.store, ears, house.clock)
    ears.gates[EMMA] = asyncio.Event()
    await queue(house, "paid")
    await delivery.start_due()
    await ears.begun.wait()
    assert await delivery.recover() == 0
    ears.gates[EMMA].set()
    await delivery.settle()
    assert [each.maybe_sent for each in ears.heard] == [False]


async def test_a_notification_whose_rendering_fails_once_is_sent_later(house: House) -> None:
    await queue(house, "paid", "sent")
    house.ears.outcomes[EMMA].append(KeyError("a name"))
    await house.tells()
    assert house.ears.kinds() == []
    house.clock.passes(seconds=15)
    await house.tells()
    assert heard(house) == [(EMMA, "paid", True), (EMMA, "sent", False)]


async def test_a_notification_that_can_never_be_sent_does_not_silence_its_chat(house: House) -> None:
    await queue(house, "paid", "sent")
    house.ears.outcomes[EMMA].extend([KeyError("a name")] * MISTAKES_FORGIVEN)
    for _ in range(MISTAKES_FORGIVEN):
        await house.tells()
        house.clock.passes(minutes=5)
    assert house.ears.kinds() == ["sent"]
    assert await left(house) == {NotificationStatus.UNDELIVERABLE: 1, NotificationStatus.SENT: 1}


@pytest.mark.parametrize(
    "then",
    [
        [],
        [KeyError("a name")] * (MISTAKES_FORGIVEN - 1),
        [RetryLater(0)],
        [Undeliverable("too long")],
        [RowUnreadable()],
    ],
    ids=["told", "forgiven", "postponed", "refused", "unreadable"],
)
async def test_no_mistake_is_remembered_of_a_message_that_is_done_with(house: House, then: list[Any]) -> None:
    for each in then:
        if isinstance(each, RowUnreadable):
            each.table = "orders"
    await queue(house, "paid")
    house.ears.outcomes[EMMA].extend([KeyError("a name"), *then])
    await house.tells()
    assert len(house.delivery._mistakes) == 1
    for _ in then or [None]:
        house.clock.passes(minutes=5)
        await house.tells()
    assert not house.delivery._mistakes


async def test_no_mistake_is_remembered_of_a_chat_that_cannot_be_reached(house: House) -> None:
    await queue(house, OrderNotification.RECEIPT)
    house.ears.outcomes[EMMA].append(KeyError("a name"))
    await house.tells()
    await queue(house, "paid")
    house.ears.outcomes[EMMA].append(Undeliverable("blocked", whole_chat=True))
    await house.tells()
    assert await left(house) == {NotificationStatus.UNDELIVERABLE: 2}
    assert not house.delivery._mistakes


async def left(house: House) -> dict[str, int]:
    async with house.sql.reading() as tx:
        rows: Any = await OutboxRepository(tx)._connection.exec_driver_sql(
            "select status, count(*) from outbox group by status"
        )
        return {NotificationStatus(row[0]): row[1] for row in rows}


async def test_a_database_that_is_away_while_telling_is_no_reason_to_give_up(house: House) -> None:
    await queue(house, "paid")
    house.ears.outcomes[EMMA].extend([StoreDown()] * (MISTAKES_FORGIVEN * 2))
    for _ in range(MISTAKES_FORGIVEN * 2 + 1):
        await house.tells()
        house.clock.passes(minutes=15)
    assert house.ears.kinds() == ["paid"]


async def test_a_result_that_a_mistake_of_ours_keeps_from_being_saved_is_recovered(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mistaken(*_: object) -> None:
        raise KeyError

    await queue(house, "paid", "sent")
    with monkeypatch.context() as patched:
        patched.setattr(house.delivery, "_keep", mistaken)
        await house.delivery.start_due()
        await house.delivery.settle()
    assert await house.delivery.recover() == 1
    await house.tells()
    assert heard(house) == [(EMMA, "paid", False), (EMMA, "paid", True), (EMMA, "sent", False)]


class Failing:
    """A store whose transactions fail while `outages` is above 0: at the commit, or (`after`) once it is done."""

    def __init__(self, store: Database, *, after: bool) -> None:
        self._store, self._after, self.outages = store, after, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with self._store.transaction() as tx:
            yield tx
            self._fail(when=not self._after)
        self._fail(when=self._after)

    def _fail(self, *, when: bool) -> None:
        if when and self.outages:
            self.outages -= 1
            raise StoreDown


@pytest.mark.parametrize("after", [False, True])
async def test_a_delivery_is_saved_however_often_the_database_fails(house: House, *, after: bool) -> None:
    store = Failing(house.sql, after=after)
    pauses: list[float] = []

    class Outage(Ears):
        async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
            store.outages = 9 if notification.kind == "invoice" else 0
            return await super().send(notification)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    ears, followed = Outage(house.clock), list[str]()
    ears.outcomes[EMMA].extend([Sent(41), Sent(42)])

    async def follows(*_: object) -> None:
        followed.append("invoice")

    delivery = OutboxDelivery(
        cast("Database", store), ears, house.clock, after={OrderNotification.INVOICE: follows}, sleep=sleep
    )
    await queue(house, "invoice", "card")
    while await delivery.start_due():
        await delivery.settle()
    async with house.store.reading() as tx:
        saved = [await OutboxRepository(tx).message_of("order:R2345AB", kind, EMMA) for kind in ("invoice", "card")]
    assert saved == [41, 42]
    assert [(each.kind, each.maybe_sent) for each in ears.heard] == [("invoice", False), ("card", False)]
    assert (len(pauses), max(pauses)) == (9, 5.0)
    assert followed


async def test_a_mistake_in_what_follows_a_delivery_does_not_repeat_its_message(house: House) -> None:
    async def mistaken(tx: Any, *_: object) -> None:
        await UserRepository(tx).save(User(id=7, created_at=house.clock.now()))
        raise KeyError

    delivery = OutboxDelivery(house.store, house.ears, house.clock, after={OrderNotification.PAID: mistaken})
    await queue(house, "paid", "sent")
    for _ in range(2):
        while await delivery.start_due():
            await delivery.settle()
        house.clock.passes(seconds=60)
        await delivery.recover()
    assert heard(house) == [(EMMA, "paid", False), (EMMA, "sent", False)]
    assert await left(house) == {NotificationStatus.SENT: 2}
    async with house.store.reading() as tx:
        assert await UserRepository(tx).get(7) is None, "half of what follows was kept"


async def test_whoever_waits_for_room_is_told_of_each_end(house: House) -> None:
    ends: list[None] = []
    delivery = OutboxDelivery(house.store, house.ears, house.clock, on_room=lambda: ends.append(None))
    await queue(house, "paid")
    house.ears.outcomes[EMMA].append(RetryLater(1))
    await delivery.start_due()
    await delivery.settle()
    assert len(ends) == 1


async def test_closing_ends_every_transaction_before_the_store_is_closed(house: House) -> None:
    store = Database(house.database, VAULT)
    ears = SlowEars(house)
    ears.gates[EMMA] = asyncio.Event()
    delivery = OutboxDelivery(store, ears, house.clock)
    await queue(house, "paid")
    await delivery.start_due()
    await ears.begun.wait()
    await delivery.close(0)
    assert delivery._under_way == {}
    await store.close()
