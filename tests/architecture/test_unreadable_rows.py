"""A row that can't be read keeps nobody else waiting, and operators are told."""

from datetime import datetime, timedelta
from unittest.mock import ANY

import pytest
from sqlalchemy import select, text

from bot.checkout.workers import DraftWorkers
from bot.infra.telegram.inbound.repository import Inbox, InboxItem, InboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.workers import RateScheduler
from bot.staff.model import AlarmKind
from bot.staff.repository import AlarmRepository
from bot.users.model import User
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement
from tests.users.stored_data import USER_DATA

BREAKS = {
    "number": "UPDATE orders SET number = 's1.no.key' WHERE reference = :key",
    "holder": "UPDATE orders SET holder = 's1.no.key' WHERE reference = :key",
    "method": "UPDATE orders SET method = replace(method, 'BCA', 'BRI') WHERE reference = :key",
    "bolt11": "UPDATE orders SET bolt11 = 'lnbc of a thief' WHERE reference = :key",
    "deposit": """UPDATE orders SET deposit = '{"to_address":"0x6666"}' WHERE reference = :key""",
    "malformed": "UPDATE orders SET deposit = '{' WHERE reference = :key",
}
MALFORMED = {
    "method": "UPDATE orders SET method = '{' WHERE reference = :key",
    "requested_amount": "UPDATE orders SET requested_amount = '{' WHERE reference = :key",
    "phase": "UPDATE orders SET phase = 'lost' WHERE reference = :key",
    "created_at": "UPDATE orders SET created_at = 'today' WHERE reference = :key",
    "expires_at": "UPDATE orders SET expires_at = '' WHERE reference = :key",
    "btc_idr": "UPDATE orders SET btc_idr = 'much' WHERE reference = :key",
}


async def due(system: OrderSystem) -> set[str]:
    """What the poller's table says is due within a day, read or not."""
    async with system.sql._writer.connect() as connection:
        found = await connection.execute(text("SELECT reference FROM orders WHERE next_poll_at IS NOT NULL"))
        return set(found.scalars())


async def breaks(system: OrderSystem, statement: str, **values: object) -> None:
    async with system.sql._writer.begin() as connection:
        await connection.execute(text(statement), values)


@pytest.mark.parametrize("column", BREAKS)
async def test_an_order_that_does_not_open_is_followed_and_stops_nobody_elses_payment(
    system: OrderSystem, service: FakeSettlement, column: str
) -> None:
    bad = await system.place(holder="BUDI SANTOSO")
    good = await system.place(SARI)
    await system.deliver()
    await breaks(system, BREAKS[column], key=bad.reference)
    for order in (bad, good):
        service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await system.poll()
    assert system.sender.edits_and_messages(SARI)[-1] == OrderNotification.PAID
    async with system.store.reading() as tx:
        due = await OrderRepository(tx).due(system.clock.now() + timedelta(days=1), is_paid=True)
    assert {order.reference for order in due} == {bad.reference, good.reference}
    assert await rows_of_the_alarm(system) == f"orders {bad.reference}"
    service.becomes(bad.service_id or "", "FAILED")
    await system.poll()
    async with system.store.reading() as tx:
        failed = [
            alarm.subject for alarm in await AlarmRepository(tx).find_open() if alarm.kind is AlarmKind.ORDER_FAILED
        ]
    assert failed == [bad.reference]


@pytest.mark.parametrize("column", MALFORMED)
async def test_a_malformed_order_stops_nobody_elses_payment_and_is_tried_again_each_minute(
    system: OrderSystem, service: FakeSettlement, column: str
) -> None:
    bad, good = await system.place(), await system.place(SARI)
    await system.deliver()
    await breaks(system, MALFORMED[column], key=bad.reference)
    service.becomes(good.service_id or "", "LN_INVOICE_PAID")
    await system.poll()
    assert system.sender.edits_and_messages(SARI)[-1] == OrderNotification.PAID
    await system.tracker.tick()
    for _ in range(3):
        assert await next_poll(system, bad) == system.clock.now() + timedelta(minutes=1)
        system.clock.passes(seconds=60)
        await system.poll(after=0)
        await system.tracker.tick()
    assert await due(system) == {good.reference, bad.reference}
    assert f"orders {bad.reference}" in system.sql.unreadable_rows()


async def next_poll(system: OrderSystem, order: Order) -> datetime:
    """When an order is polled next, whether it can be read or not."""
    async with system.store.reading() as tx:
        statement = select(orders.c.next_poll_at).where(orders.c.reference == order.reference)
        found: datetime = (await tx.connection.execute(statement)).scalar_one()
    return found


NEVER_DUE = ("today", "2999-99-99 00:00:00.000000")


@pytest.mark.parametrize("never", NEVER_DUE)
@pytest.mark.parametrize("is_paid", [True, False])
async def test_an_order_whose_next_look_alone_is_malformed_is_looked_at_now_with_an_alarm(
    system: OrderSystem, service: FakeSettlement, never: str, *, is_paid: bool
) -> None:
    bad, good = await system.place(), await system.place(SARI)
    if is_paid:
        service.becomes(bad.service_id or "", "LN_INVOICE_PAID")
        await system.poll()
    await breaks(system, "UPDATE orders SET next_poll_at = :at WHERE reference = :key", at=never, key=bad.reference)
    await system.tracker.find_malformed()
    await system.tracker.tick()
    assert await due(system) == {good.reference, bad.reference}
    assert await rows_of_the_alarm(system) == f"orders {bad.reference}"
    service.becomes(bad.service_id or "", "COMPLETED")
    await system.poll(after=0)
    assert OrderNotification.SENT in system.sender.kinds(EMMA)
    await system.tracker.tick()
    assert await due(system) == {good.reference}


@pytest.mark.parametrize("never", NEVER_DUE)
async def test_a_message_that_never_falls_due_keeps_none_behind_it_waiting(system: OrderSystem, never: str) -> None:
    await system.place()
    await breaks(system, "UPDATE outbox SET due_at = :at WHERE kind = 'invoice'", at=never)
    behind = await system.place(number="8720999999")
    await system.deliver()
    assert system.sender.payment_requests() == [behind.bolt11]
    assert (await rows_of_the_alarm(system)).startswith("outbox ")


async def test_a_damaged_draft_keeps_no_other_from_being_put_away(system: OrderSystem) -> None:
    bad, good = await system.draft(), await system.draft(SARI)
    await breaks(system, "UPDATE drafts SET method = replace(method, 'BCA', 'BRI') WHERE id = :key", key=bad.id)
    system.clock.passes(hours=1)
    inbox = Inbox(system.store, system.clock)
    await DraftWorkers(system.drafts, system.access.catalogue, ANY, ANY, inbox).expire_idle()
    async with system.store.reading() as tx:
        assert set(await InboxRepository(tx).find_waiting("me", 9)) == {EMMA, SARI}
    assert not await system.drafts.expire(bad.id)
    assert await system.drafts.expire(good.id)
    assert await system.drafts.expired() == ()
    assert (await system.drafts.begin(system.new_draft(), 7)).chat_id == EMMA


async def test_a_damaged_draft_keeps_no_other_user_from_being_forgotten(system: OrderSystem) -> None:
    bad, privacy = await system.draft(), PrivacyService(an_infra(system.store, system.clock), USER_DATA, 365)
    now = system.clock.now()
    async with system.store.transaction() as tx:
        for user_id in (EMMA, SARI):
            await UserRepository(tx).save(User(id=user_id, created_at=now, deletion_requested_at=now))
    await breaks(system, "UPDATE drafts SET amount = '{' WHERE id = :key", key=bad.id)
    assert await privacy.find_deletable() == (SARI,)


async def test_an_answer_is_not_saved_over_an_intent_that_was_changed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    lost = await system.place()
    await breaks(system, BREAKS["method"], key=lost.reference)
    await system.find_lost_orders()
    assert system.sender.payment_requests() == []
    assert system.sql.unreadable_rows() == {f"orders {lost.reference}"}


async def test_an_update_that_does_not_open_keeps_no_place(system: OrderSystem) -> None:
    now = system.clock.now()
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([InboxItem(id=key, chat_id=EMMA, body="{}", received_at=now) for key in (1, 2)])
    await breaks(system, "UPDATE inbox SET body = 's1.no.key' WHERE id = 1")
    async with system.sql.reading() as tx:
        assert [(item.id, item.body) for item in await InboxRepository(tx).find_unfinished(EMMA)] == [
            (1, ""),
            (2, "{}"),
        ]
    assert system.sql.unreadable_rows() == {"inbox 1"}


async def rows_of_the_alarm(system: OrderSystem) -> str:
    """The rows that operators are told of."""
    await system.monitor.report_rows()
    async with system.store.reading() as tx:
        (alarm,) = [alarm for alarm in await AlarmRepository(tx).find_open() if alarm.kind is AlarmKind.ROW_UNREADABLE]
    return str(alarm.facts["rows"])


@pytest.mark.parametrize("column", ["payload = '{'", "created_at = 'today'", "due_at = ''"])
async def test_a_message_that_cannot_be_read_keeps_none_behind_it_waiting(system: OrderSystem, column: str) -> None:
    bad, behind, good = await system.place(), await system.place(number="8720999999"), await system.place(SARI)
    change = f"UPDATE outbox SET {column} WHERE subject = :key AND kind = 'invoice'"  # noqa: S608  a test's own text
    await breaks(system, change, key=order_subject(bad))
    await system.deliver()
    assert system.sender.payment_requests(EMMA) == [behind.bolt11]
    assert system.sender.payment_requests(SARI) == [good.bolt11]
    assert (await rows_of_the_alarm(system)).startswith("outbox ")


async def test_a_message_left_half_sent_that_cannot_be_read_is_given_up(system: OrderSystem) -> None:
    await system.place()
    await breaks(system, "UPDATE outbox SET payload = '{', status = 'sending' WHERE kind = 'invoice'")
    behind = await system.place(number="8720999999")
    await system.deliver()
    assert system.sender.payment_requests() == [behind.bolt11]


async def a_damaged_user(system: OrderSystem, user_id: int) -> None:
    """A user whose phrase doesn't open."""
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(User(id=user_id, created_at=system.clock.now(), phrase="winter stair harp"))
    await breaks(system, "UPDATE users SET phrase = 's1.no.key' WHERE id = :key", key=user_id)


async def test_an_order_is_followed_though_its_users_phrase_does_not_open(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await a_damaged_user(system, EMMA)
    order = await system.place()
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await system.poll()
    service.becomes(order.service_id or "", "LN_SWAP_PENDING")
    await system.poll()
    assert (await system.order(order.reference)).state == "LN_SWAP_PENDING"
    assert OrderNotification.PAID in system.sender.kinds()
    assert await due(system) == {order.reference}
    assert await rows_of_the_alarm(system) == f"users {EMMA}"


async def test_a_damaged_user_keeps_nobody_elses_daily_quote_waiting(system: OrderSystem) -> None:
    scheduler = RateScheduler(system.store, system.catalogue, system.clock)
    now = system.clock.now()
    async with system.store.transaction() as tx:
        for user_id in (EMMA, SARI, OSCAR):
            await UserRepository(tx).save(User(id=user_id, created_at=now))
            await SubscriptionRepository(tx).save(
                Subscription(
                    user_id=user_id, subscribed_at=now, daily_minute=480, next_daily_at=now - timedelta(minutes=1)
                )
            )
    await a_damaged_user(system, EMMA)
    await breaks(system, "UPDATE subscriptions SET subscribed_at = 'today' WHERE user_id = :key", key=OSCAR)
    assert await scheduler.queue_due()
    await system.deliver()
    assert system.sender.kinds(SARI) == ["daily_quote"]
    assert not await scheduler.queue_due()
    async with system.sql._writer.connect() as connection:
        found = await connection.execute(text("SELECT user_id FROM subscriptions WHERE next_daily_at IS NOT NULL"))
        assert set(found.scalars()) == {SARI}
    assert set((await rows_of_the_alarm(system)).split(", ")) == {f"users {EMMA}", f"subscriptions {OSCAR}"}


async def test_while_all_rows_open_there_is_no_alarm(system: OrderSystem) -> None:
    await system.place()
    await system.monitor.report_rows()
    async with system.store.reading() as tx:
        assert await AlarmRepository(tx).find_open() == ()
