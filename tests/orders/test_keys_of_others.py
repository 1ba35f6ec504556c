"""Two processes with different keys on one database: what one can't read waits for the other, and nothing is lost."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.checkout.notifications import draft_expired_notification, render_expired
from bot.checkout.service import DraftService
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.vault import LeftRows, Vault
from bot.infra.leases.chat_leases import ChatLease, UnsharedLeases
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.left import FOLLOWS_FOR, LEFT_FOR, TRY_AGAIN
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
from bot.infra.outbox.workers import SHORTEST_WAIT, OutboxWorker
from bot.orders.notification_kinds import AboutOrder, OrderNotification
from bot.orders.notification_queue import order_subject
from bot.orders.order import Order
from bot.orders.workers import OrderWorkers
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.scheduler import RateScheduler
from bot.staff.alarm_model import AlarmKind
from bot.users.model import User
from bot.users.readers import RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.infra.keys import KEY, OLDER_KEY
from tests.orders.order_system import EMMA, SARI, OrderSystem, RecordingSender
from tests.settlement.fake_settlement import FakeSettlement


class Replica(OrderSystem):
    """A process with its own keys, beside others."""

    def __init__(self, database: str, service: FakeSettlement, *keys: bytes) -> None:
        super().__init__(database, service, sql=Database(database, Vault(keys)))
        self.renders = OrderReader(self)
        self.delivery = OutboxDelivery(self.store, self.renders, self.clock, leases=OneOfSeveral())
        self.sql._vault.left = LeftRows(lambda: self.clock.now().timestamp())

    async def works(self) -> None:
        """Send all that is due, and do what the leader does regularly."""
        await self.poller.tick()
        await OrderWorkers(self.observer, self.lost_orders).check_times()
        await self.deliver()


class OrderReader(RecordingSender):
    """A sender that reads the order of each notification, as the renderers do."""

    def __init__(self, system: OrderSystem) -> None:
        super().__init__(system.clock)
        self.system = system
        self.store = system.store
        self.tries = 0

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        self.tries += 1
        if notification.subject.startswith("order:"):
            await self.system.order(notification.subject.removeprefix("order:"))
        return await super().send(notification)


class OneOfSeveral(UnsharedLeases):
    """Grants every chat to a process that isn't alone."""

    is_alone = False

    def __init__(self) -> None:
        super().__init__()
        self.leases: dict[int, ChatLease] = {}

    def get(self, chat_id: int) -> ChatLease:
        return self.leases.setdefault(chat_id, super().get(chat_id))


@pytest.fixture
async def start(file: str, service: FakeSettlement) -> AsyncIterator[Callable[..., Replica]]:
    made: list[Replica] = []

    def create(*keys: bytes) -> Replica:
        made.append(Replica(file, service, *keys))
        return made[-1]

    yield create
    for each in made:
        await each.close()


@pytest.fixture
def old(start: Callable[..., Replica]) -> Replica:
    return start(OLDER_KEY)


@pytest.fixture
def new(start: Callable[..., Replica]) -> Replica:
    return start(KEY, OLDER_KEY)


async def unsent(system: OrderSystem, order: Order) -> list[Notification[object]]:
    async with system.sql.reading() as tx:
        rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    return [row for row in rows if row.status is NotificationStatus.WAITING]


async def test_an_order_sealed_with_a_new_key_is_followed_by_who_lacks_it_and_all_its_news_reach_its_user(
    old: Replica, new: Replica, service: FakeSettlement
) -> None:
    order = await new.place()
    for state in ("LN_INVOICE_PAID", "LN_SWAP_PENDING", "FAILED"):
        service.becomes(order.service_id or "", state)
        old.clock.passes(seconds=10)
        await old.works()
    assert old.renders.sent == []
    assert (await new.order(order.reference)).state == "FAILED"
    waiting = await unsent(old, order)
    assert all(row.attempts == 0 and not row.maybe_sent for row in waiting)
    await new.deliver()
    kinds = new.renders.kinds()
    assert [kind for kind in kinds if kind in {"paid", "failed"}] == ["paid", "failed"]
    assert await unsent(new, order) == []


async def test_a_paid_order_that_takes_too_long_is_noticed_by_who_lacks_its_key(
    old: Replica, new: Replica, service: FakeSettlement
) -> None:
    order = await new.place()
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    old.clock.passes(seconds=5)
    await old.works()
    old.clock.passes(hours=3)
    await old.works()
    assert AlarmKind.ORDER_STUCK in {alarm.kind for alarm in await old.alarms.open()}
    await new.deliver()
    assert OrderNotification.STUCK in new.renders.kinds()


async def test_saving_what_tracking_changed_leaves_the_sealed_columns_as_they_were(
    old: Replica, new: Replica, service: FakeSettlement
) -> None:
    order = await new.place(holder="BUDI SANTOSO")
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    old.clock.passes(seconds=5)
    await old.poller.tick()
    after = await new.order(order.reference)
    assert (after.number, after.holder, after.bolt11) == (order.number, order.holder, order.bolt11)
    assert (after.version, after.is_paid) == (order.version + 1, True)


async def test_what_cannot_be_read_holds_back_nothing_else_in_its_chat(old: Replica, new: Replica) -> None:
    foreign, own = await new.place(), await old.place(number="8720999999")
    await old.deliver()
    assert old.renders.payment_requests(EMMA) == [own.bolt11]
    assert {row.kind for row in await unsent(old, foreign)} == {"invoice"}


async def test_a_process_that_cannot_read_a_message_tries_once_a_minute_and_gives_its_chat_back(
    old: Replica, new: Replica
) -> None:
    await new.place()
    worker = OutboxWorker(old.delivery, old.clock)
    pauses = []
    for _ in range(300):
        pauses.append(await worker.tick())
        await old.delivery.wait_until_sent()
        old.clock.passes(seconds=pauses[-1])
    passed = sum(pauses)
    assert len([pause for pause in pauses if pause <= SHORTEST_WAIT]) <= 3 * (passed / TRY_AGAIN.total_seconds() + 1)
    assert old.renders.tries <= 2 * (passed / TRY_AGAIN.total_seconds() + 1)
    assert old.delivery._leases.get(EMMA).is_wanted  # type: ignore[union-attr]  # it is held


async def add_messages(system: OrderSystem, *kinds: str) -> None:
    now = system.clock.now()
    rows = [
        Notification(
            chat_id=EMMA,
            subject="about:this",
            kind=kind,
            payload=AboutOrder("R2345AB"),
            queue=Queue.EXTRA if kind == "receipt" else Queue.URGENT,
            due_at=now,
            created_at=now,
        )
        for kind in kinds
    ]
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


def leaves_the_first(system: Replica) -> None:
    system.renders.outcomes[EMMA].append(unknown_row())


def unknown_row() -> RowUnreadable:
    error = RowUnreadable("a kind of a later version")
    error.is_for_others = True
    return error


async def test_later_news_of_the_same_order_wait_for_who_can_read_the_first_but_not_for_long(old: Replica) -> None:
    await add_messages(old, "checking", "paid", "sent", "receipt")
    leaves_the_first(old)
    await old.deliver()
    old.clock.passes(seconds=FOLLOWS_FOR.total_seconds() - 1)
    await old.deliver()
    assert old.renders.kinds() == []
    old.clock.passes(seconds=1)
    await old.deliver()
    assert old.renders.kinds() == ["paid", "sent", "receipt"]
    await add_messages(old, "failed")
    await old.deliver()
    assert old.renders.kinds()[-1] == "failed", "the first has been left for long enough"
    old.clock.passes(seconds=60)
    await old.deliver()
    assert old.renders.kinds()[-1] == "checking", "it is tried again, and now it can be read"


async def test_who_can_read_all_sends_them_in_order(old: Replica, new: Replica) -> None:
    await add_messages(old, "checking", "paid", "sent")
    leaves_the_first(old)
    await old.deliver()
    await new.deliver()
    assert new.renders.kinds() == ["checking", "paid", "sent"]
    old.clock.passes(seconds=120)
    await old.deliver()
    assert old.renders.kinds() == []


async def test_on_sqlite_nothing_waits_for_a_message_that_cannot_be_read(system: OrderSystem) -> None:
    await add_messages(system, "checking", "paid")
    system.sender.outcomes[EMMA].append(unknown_row())
    await system.deliver()
    assert system.sender.kinds() == ["paid"]


async def test_a_message_that_nobody_can_read_for_a_month_is_given_up(old: Replica) -> None:
    await add_messages(old, "checking")
    old.clock.passes(seconds=(LEFT_FOR + timedelta(seconds=1)).total_seconds())
    leaves_the_first(old)
    await old.deliver()
    async with old.sql.reading() as tx:
        (row,) = await OutboxRepository(tx).find_by_subject("about:this")
    assert row.status is NotificationStatus.UNDELIVERABLE


@pytest.mark.parametrize("table", ["orders", "ticket_entries", "users"])
async def test_a_damaged_row_of_any_table_holds_up_no_chat(system: OrderSystem, table: str) -> None:
    await add_messages(system, "checking", "paid")
    damaged = RowUnreadable("changed or moved")
    damaged.table = table
    system.sender.outcomes[EMMA].append(damaged)
    await system.deliver()
    assert system.sender.kinds() == ["paid"]
    async with system.sql.reading() as tx:
        first, _ = await OutboxRepository(tx).find_by_subject("about:this")
    assert (first.status, first.failure) == (NotificationStatus.UNDELIVERABLE, f"a row of {table} can't be read")


async def alarms(system: OrderSystem) -> dict[AlarmKind, str]:
    await system.monitor.report_rows()
    await system.monitor.check_all()
    return {alarm.kind: str(alarm.facts.get("rows")) for alarm in await system.alarms.open()}


async def test_operators_hear_once_of_rows_that_wait_and_of_their_end(old: Replica, new: Replica) -> None:
    order = await new.place()
    await old.deliver()
    assert AlarmKind.ROW_LEFT not in await alarms(old), "another process may be reading it just now"
    for _ in range(5):
        old.clock.passes(seconds=61)
        await old.works()
        raised = await alarms(old)
        assert f"orders {order.reference}" in raised[AlarmKind.ROW_LEFT]
        assert AlarmKind.ROW_UNREADABLE not in raised
    async with old.sql.reading() as tx:
        told = await tx.connection.execute(text("SELECT count(*) FROM outbox WHERE subject LIKE 'alarm%row_left%'"))
        assert told.scalar_one() == 1
    await new.deliver()
    async with new.sql.transaction() as tx:
        await tx.connection.execute(text("UPDATE orders SET phase = 'done', next_poll_at = NULL"))
    for _ in range(8):
        old.clock.passes(seconds=61)
        await old.works()
        after = await alarms(old)
    assert AlarmKind.ROW_LEFT not in after


async def test_a_drafts_time_ends_where_it_can_be_read(old: Replica, new: Replica) -> None:
    draft = await new.draft()
    old.clock.passes(hours=1)
    with pytest.raises(RowUnreadable) as caught:
        await DraftService(old.store, old.clock).expire(draft.id)
    assert caught.value.is_for_others
    assert await new.drafts.expire(draft.id)
    contexts = RenderContexts(an_infra(old.store, old.clock))
    about = draft_expired_notification(draft, old.clock.now())
    with pytest.raises(RowUnreadable):
        await render_expired(about, (await contexts.open(EMMA))[0])


async def a_user_with_a_phrase(system: OrderSystem, user_id: int, clock: Clock) -> None:
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(User(id=user_id, created_at=clock.now(), phrase="winter stair harp"))


async def test_no_invoice_is_shown_without_the_phrase_of_a_user_whom_others_can_read(
    old: Replica, new: Replica
) -> None:
    await a_user_with_a_phrase(new, SARI, new.clock)
    contexts = RenderContexts(an_infra(old.store, old.clock))
    with pytest.raises(RowUnreadable) as caught:
        await contexts.open(SARI)
    assert caught.value.is_for_others
    assert (await contexts.translator_for(SARI)).locale == "en"


async def test_a_daily_quote_of_a_user_whom_only_others_can_read_is_not_ended(old: Replica, new: Replica) -> None:
    now = old.clock.now()
    await a_user_with_a_phrase(new, SARI, new.clock)
    async with new.store.transaction() as tx:
        await SubscriptionRepository(tx).save(
            Subscription(user_id=SARI, subscribed_at=now, daily_minute=480, next_daily_at=now - timedelta(minutes=1))
        )
    scheduler = RateScheduler(old.store, old.catalogue, old.clock)
    assert await scheduler.queue_due()
    assert not await scheduler.queue_due(), "it isn't tried again at once"
    old.clock.passes(seconds=60)
    assert await RateScheduler(new.store, new.catalogue, new.clock).queue_due()
    await new.deliver()
    assert new.renders.kinds(SARI) == ["daily_quote"]
