"""A row that can't be read keeps nobody else waiting, and operators are told."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import text

from bot.app import USER_DATA
from bot.checkout.workers import DraftWorker
from bot.infra.outbox.cleanup import OutboxCleanup
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.inbox import InboxRepository
from bot.infra.telegram.inbound.model import InboxItem
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.notifications.queueing import order_subject
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.orders.workers import MalformedOrderFinder, OrderWorkers
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.scheduler import RateScheduler
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.alarms import add_order_alarm
from bot.users.model import User
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from tests.orders.order_world import EMMA, OSCAR, SARI, House
from tests.settlement.fake_settlement import FakeSettlement

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


async def reads_what_is_never_due(house: House) -> None:
    """What the workers of orders and of the outbox do each minute."""
    await MalformedOrderFinder(house.store, house.clock).tick()
    cleanup = OutboxCleanup(
        house.store, house.clock, house.delivery, keep=(NEEDS_MESSAGE_IDS,), on_recovered=lambda: None
    )
    await cleanup.tick()


async def due(house: House) -> set[str]:
    """What the poller's table says is due within a day, read or not."""
    async with house.sql._writer.connect() as connection:
        found = await connection.execute(text("SELECT reference FROM orders WHERE next_poll_at IS NOT NULL"))
        return set(found.scalars())


async def breaks(house: House, statement: str, **values: object) -> None:
    async with house.sql._writer.begin() as connection:
        await connection.execute(text(statement), values)


@pytest.mark.parametrize("column", BREAKS)
async def test_one_order_that_does_not_open_stops_nobody_elses_payment(
    house: House, service: FakeSettlement, column: str
) -> None:
    bad = await house.place(holder="BUDI SANTOSO")
    good = await house.place(SARI)
    await house.tells()
    await breaks(house, BREAKS[column], key=bad.reference)
    for order in (bad, good):
        service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await house.polls()
    assert house.ears.kinds(SARI)[-1] == OrderNotification.PAID
    async with house.store.reading() as tx:
        due = await OrderRepository(tx).due(house.clock.now() + timedelta(days=1), is_paid=True)
    assert [order.reference for order in due] == [good.reference]
    await house.watching.look()
    async with house.store.reading() as tx:
        (alarm,) = [alarm for alarm in await AlarmRepository(tx).open() if alarm.kind is AlarmKind.ROW_UNREADABLE]
    assert alarm.facts["rows"] == f"orders {bad.reference}"


@pytest.mark.parametrize("column", MALFORMED)
async def test_a_malformed_order_stops_nobody_elses_payment_and_does_not_stay_due(
    house: House, service: FakeSettlement, column: str
) -> None:
    bad, good = await house.place(), await house.place(SARI)
    await house.tells()
    await breaks(house, MALFORMED[column], key=bad.reference)
    service.becomes(good.service_id or "", "LN_INVOICE_PAID")
    await house.polls()
    assert house.ears.kinds(SARI)[-1] == OrderNotification.PAID
    await OrderWorkers(house.observer, house.reconciler).check_times()
    assert await due(house) == {good.reference}
    await house.watching.look()
    async with house.store.reading() as tx:
        (alarm,) = [alarm for alarm in await AlarmRepository(tx).open() if alarm.kind is AlarmKind.ROW_UNREADABLE]
    assert alarm.facts["rows"] == f"orders {bad.reference}"


NEVER_DUE = ("today", "2999-99-99 00:00:00.000000")


@pytest.mark.parametrize("never", NEVER_DUE)
@pytest.mark.parametrize("is_paid", [True, False])
async def test_an_order_whose_next_look_alone_is_malformed_is_looked_at_now_with_an_alarm(
    house: House, service: FakeSettlement, never: str, *, is_paid: bool
) -> None:
    bad, good = await house.place(), await house.place(SARI)
    if is_paid:
        service.becomes(bad.service_id or "", "LN_INVOICE_PAID")
        await house.polls()
    await breaks(house, "UPDATE orders SET next_poll_at = :at WHERE reference = :key", at=never, key=bad.reference)
    await reads_what_is_never_due(house)
    await OrderWorkers(house.observer, house.reconciler).check_times()
    assert await due(house) == {good.reference, bad.reference}
    assert await rows_of_the_alarm(house) == f"orders {bad.reference}"
    service.becomes(bad.service_id or "", "COMPLETED")
    await house.polls(after=0)
    assert OrderNotification.SENT in house.ears.kinds(EMMA)
    await OrderWorkers(house.observer, house.reconciler).check_times()
    assert await due(house) == {good.reference}


@pytest.mark.parametrize("broken", ["state = 'COMPLETED'", "phase = 'done'", "btc_idr = 'much'"])
async def test_an_order_that_is_over_or_broken_elsewhere_is_not_looked_at_again(house: House, broken: str) -> None:
    bad, good = await house.place(), await house.place(SARI)
    await breaks(house, f"UPDATE orders SET next_poll_at = 'today', {broken} WHERE reference = :key", key=bad.reference)  # noqa: S608  our own words
    await reads_what_is_never_due(house)
    await OrderWorkers(house.observer, house.reconciler).check_times()
    assert await due(house) == {good.reference}


@pytest.mark.parametrize("never", NEVER_DUE)
async def test_a_message_that_never_falls_due_keeps_none_behind_it_waiting(house: House, never: str) -> None:
    await house.place()
    await breaks(house, "UPDATE outbox SET due_at = :at WHERE kind = 'invoice'", at=never)
    await reads_what_is_never_due(house)
    await house.tells()  # gives it up
    await house.tells()
    assert house.ears.kinds() == [OrderNotification.CARD]
    assert (await rows_of_the_alarm(house)).startswith("outbox ")


async def test_an_unreadable_order_on_the_services_list_does_not_stay_due(house: House) -> None:
    bad, *good = [await house.place(chat_id, number=f"87209{chat_id}") for chat_id in (EMMA, SARI, 1003)]
    await breaks(house, BREAKS["bolt11"], key=bad.reference)
    await house.polls()
    await OrderWorkers(house.observer, house.reconciler).check_times()
    assert await due(house) == {order.reference for order in good}


async def test_an_alarm_about_a_changed_order_can_be_settled(house: House) -> None:
    bad = await house.place()
    await breaks(house, BREAKS["bolt11"], key=bad.reference)
    async with house.store.transaction() as tx:
        await add_order_alarm(tx, AlarmKind.ORDER_STUCK, bad.reference, house.clock.now())
    assert await house.alarms.settle(AlarmKind.ORDER_STUCK, bad.reference, OSCAR)
    async with house.store.reading() as tx:
        assert await AlarmRepository(tx).open() == ()


async def test_a_damaged_draft_keeps_no_other_from_being_put_away(house: House) -> None:
    bad, good = await house.draft(), await house.draft(SARI)
    await breaks(house, "UPDATE drafts SET method = replace(method, 'BCA', 'BRI') WHERE id = :key", key=bad.id)
    house.clock.passes(hours=1)
    ran: list[int] = []
    jobs = SimpleNamespace(run=lambda chat_id, _: ran.append(chat_id))
    await DraftWorker(house.drafts, cast("Any", jobs), lambda: None).tick()
    assert set(ran) == {EMMA, SARI}
    assert not await house.drafts.lapse(bad.id)
    assert await house.drafts.lapse(good.id)
    assert await house.drafts.lapsed() == ()
    assert (await house.drafts.begin(EMMA, EMMA, 7)).chat_id == EMMA


async def test_a_damaged_draft_keeps_no_other_user_from_being_forgotten(house: House) -> None:
    bad, privacy = await house.draft(), PrivacyService(house.store, house.clock, 365, USER_DATA)
    now = house.clock.now()
    async with house.store.transaction() as tx:
        for user_id in (EMMA, SARI):
            await UserRepository(tx).save(User(id=user_id, created_at=now, deletion_requested_at=now))
    await breaks(house, "UPDATE drafts SET amount = '{' WHERE id = :key", key=bad.id)
    assert await privacy.find_deletable() == (SARI,)


async def test_a_changed_order_keeps_no_message_of_another_waiting(house: House, service: FakeSettlement) -> None:
    bad, good = await house.place(), await house.place(number="8720999999")
    await breaks(house, BREAKS["bolt11"], key=bad.reference)
    await house.tells()
    assert house.ears.shown() == [good.bolt11]
    service.becomes(good.service_id or "", "LN_INVOICE_PAID")
    await house.polls()
    assert house.ears.kinds()[-1] == OrderNotification.PAID
    async with house.sql.reading() as tx:
        assert (await OutboxRepository(tx).backlog(house.clock.now() + timedelta(days=1))).count == 0


async def test_alarms_about_a_changed_order_are_still_shown(house: House) -> None:
    bad, good = await house.place(), await house.place(SARI)
    await breaks(house, BREAKS["bolt11"], key=bad.reference)
    now = house.clock.now()
    raised = [Alarm(kind=AlarmKind.ORDER_STUCK, subject=each.reference, raised_at=now) for each in (bad, good)]
    assert set(await house.alarms.subjects_of(raised)) == {good.reference}


async def test_an_answer_is_not_saved_over_an_intent_that_was_changed(house: House, service: FakeSettlement) -> None:
    service.places.append("lost_after")
    lost = await house.place()
    await breaks(house, BREAKS["method"], key=lost.reference)
    await house.reconciles()
    assert house.ears.shown() == []
    assert house.sql.unreadable_rows() == {f"orders {lost.reference}"}


async def test_orders_that_expire_or_are_looked_for_are_read_row_by_row(house: House, service: FakeSettlement) -> None:
    bad, good = await house.place(), await house.place(SARI)
    await breaks(house, "UPDATE orders SET number = 's1.no.key' WHERE reference = :key", key=bad.reference)
    house.clock.passes(hours=2)
    await house.polls(after=0)
    assert (await house.order(good.reference)).expiry_notified
    service.places.append("lost_before")
    lost = await house.place(SARI)
    async with house.sql.reading() as tx:
        found = await OrderRepository(tx).in_phase({Phase.UNKNOWN, Phase.OPEN})
    assert {order.reference for order in found} == {good.reference, lost.reference}


async def test_an_update_that_does_not_open_keeps_no_place(house: House) -> None:
    now = house.clock.now()
    async with house.sql.transaction() as tx:
        await InboxRepository(tx).add(
            [InboxItem(update_id=key, chat_id=EMMA, body="{}", received_at=now) for key in (1, 2)]
        )
    await breaks(house, "UPDATE inbox SET body = 's1.no.key' WHERE update_id = 1")
    async with house.sql.reading() as tx:
        assert [(item.update_id, item.body) for item in await InboxRepository(tx).waiting(EMMA)] == [(1, ""), (2, "{}")]
    assert house.sql.unreadable_rows() == {"inbox 1"}


async def rows_of_the_alarm(house: House) -> str:
    """The rows that operators are told of."""
    await house.watching.look()
    async with house.store.reading() as tx:
        (alarm,) = [alarm for alarm in await AlarmRepository(tx).open() if alarm.kind is AlarmKind.ROW_UNREADABLE]
    return str(alarm.facts["rows"])


@pytest.mark.parametrize("column", ["payload = '{'", "created_at = 'today'", "due_at = ''"])
async def test_a_message_that_cannot_be_read_keeps_none_behind_it_waiting(house: House, column: str) -> None:
    bad, good = await house.place(), await house.place(SARI)
    await breaks(house, f"UPDATE outbox SET {column} WHERE subject = :key AND kind = 'invoice'", key=order_subject(bad))  # noqa: S608
    await house.tells()
    assert house.ears.kinds() == [OrderNotification.CARD]
    assert house.ears.shown() == [good.bolt11]
    assert (await rows_of_the_alarm(house)).startswith("outbox ")


async def test_a_message_left_half_sent_that_cannot_be_read_is_given_up(house: House) -> None:
    await house.place()
    await breaks(house, "UPDATE outbox SET payload = '{', status = 'sending' WHERE kind = 'invoice'")
    assert await house.delivery.recover() == 0
    await house.tells()  # gives it up
    await house.tells()
    assert house.ears.kinds() == [OrderNotification.CARD]


async def a_damaged_user(house: House, user_id: int) -> None:
    """A user whose phrase doesn't open."""
    async with house.store.transaction() as tx:
        await UserRepository(tx).save(User(id=user_id, created_at=house.clock.now(), phrase="winter stair harp"))
    await breaks(house, "UPDATE users SET phrase = 's1.no.key' WHERE id = :key", key=user_id)


async def test_an_order_is_followed_though_its_users_phrase_does_not_open(
    house: House, service: FakeSettlement
) -> None:
    await a_damaged_user(house, EMMA)
    order = await house.place()
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await house.polls()
    service.becomes(order.service_id or "", "LN_SWAP_PENDING")
    await house.polls()
    assert (await house.order(order.reference)).state == "LN_SWAP_PENDING"
    assert OrderNotification.PAID in house.ears.kinds()
    assert await due(house) == {order.reference}
    assert await rows_of_the_alarm(house) == f"users {EMMA}"


async def test_a_damaged_user_keeps_nobody_elses_daily_quote_waiting(house: House) -> None:
    scheduler = RateScheduler(house.store, house.market, house.clock)
    now = house.clock.now()
    async with house.store.transaction() as tx:
        for user_id in (EMMA, SARI, OSCAR):
            await UserRepository(tx).save(User(id=user_id, created_at=now))
            await SubscriptionRepository(tx).save(
                Subscription(
                    user_id=user_id, subscribed_at=now, daily_minute=480, next_daily_at=now - timedelta(minutes=1)
                )
            )
    await a_damaged_user(house, EMMA)
    await breaks(house, "UPDATE subscriptions SET subscribed_at = 'today' WHERE user_id = :key", key=OSCAR)
    assert await scheduler.queue_due()
    await house.tells()
    assert house.ears.kinds(SARI) == ["daily_quote"]
    assert not await scheduler.queue_due()
    async with house.sql._writer.connect() as connection:
        found = await connection.execute(text("SELECT user_id FROM subscriptions WHERE next_daily_at IS NOT NULL"))
        assert set(found.scalars()) == {SARI}
    assert set((await rows_of_the_alarm(house)).split(", ")) == {f"users {EMMA}", f"subscriptions {OSCAR}"}


async def test_while_all_rows_open_there_is_no_alarm(house: House) -> None:
    await house.place()
    await house.watching.look()
    async with house.store.reading() as tx:
        assert await AlarmRepository(tx).open() == ()
