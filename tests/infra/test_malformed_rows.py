"""A malformed time, number or JSON makes only its own row unreadable, in every table."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from decimal import Decimal

import pytest
from sqlalchemy import text

from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.operations.repository import StatisticsRepository
from bot.orders.order import OrderEvent, Phase
from bot.orders.repository import OrderRepository
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.settlement.model import Quote
from bot.staff.model import Alarm, AlarmKind, AuditAction, AuditEntry
from bot.staff.repository import AlarmRepository, AuditRepository
from bot.support.model import SavedReply, TicketFilter
from bot.support.repository import BotMessageRepository, SavedReplyRepository, TicketEntryRepository, TicketRepository
from bot.users.repository import UserRepository
from tests.harness.databases import on_sqlite
from tests.infra.builders import a_notification, an_update, due_heads
from tests.orders.builders import an_order
from tests.rates.builders import a_subscription, an_alert
from tests.support.builders import a_bot_message, a_ticket, an_entry
from tests.times import DAY, NOW, SECOND
from tests.users.builders import EMMA, SARI, a_user

LATER = NOW + DAY


@dataclass(frozen=True)
class Case:
    """A good row and a malformed one, the reads to test, and the key of the malformed row."""

    keep: Callable[[Transaction], Awaitable[object]]
    breaks: str
    read: Callable[[Transaction], Awaitable[Collection[object]]]
    noted: str
    is_unknown: bool = False


async def two_users(tx: Transaction) -> None:
    for user_id in (EMMA, SARI):
        await UserRepository(tx).save(a_user(user_id, username="her"))


async def two_orders(tx: Transaction) -> None:
    for reference in ("BAD", "GOOD"):
        await OrderRepository(tx).add(an_order(reference, next_poll_at=NOW, expires_at=NOW, service_id=reference))


async def two_events(tx: Transaction) -> None:
    await two_orders(tx)
    for state in ("BAD", "GOOD"):
        await OrderRepository(tx).add_event(OrderEvent(reference="GOOD", at=NOW, phase=Phase.OPEN, state=state))


async def two_alerts(tx: Transaction) -> None:
    await two_users(tx)
    await AlertRepository(tx).save(an_alert("bad"))
    await AlertRepository(tx).save(an_alert("good"))


async def two_subscriptions(tx: Transaction) -> None:
    await two_users(tx)
    for user_id in (EMMA, SARI):
        await SubscriptionRepository(tx).save(a_subscription(user_id, next_daily_at=NOW))


async def two_tickets(tx: Transaction) -> None:
    for reference in ("T-BAD", "T-GOOD"):
        await TicketRepository(tx).add(a_ticket(reference))


async def two_entries(tx: Transaction) -> None:
    await two_tickets(tx)
    for source in (1, 2):
        await TicketEntryRepository(tx).add(an_entry("T-GOOD", source))


async def two_bot_messages(tx: Transaction) -> None:
    await two_tickets(tx)
    for chat_id in (-1, -2):
        await BotMessageRepository(tx).add(a_bot_message(1, "T-GOOD", chat_id=chat_id))


async def two_broadcasts(tx: Transaction) -> None:
    for key in ("bad", "good"):
        await BroadcastRepository(tx).add(
            Broadcast(id=key, operator_id=EMMA, created_at=NOW, status=BroadcastStatus.SCHEDULED, audience=Audience())
        )


async def two_alarms(tx: Transaction) -> None:
    for subject in ("BAD", "GOOD"):
        await AlarmRepository(tx).add(Alarm(kind=AlarmKind.ORDER_FAILED, subject=subject, raised_at=NOW))


async def two_quotes(tx: Transaction) -> None:
    for minute in range(2):
        await QuoteRepository(tx).add(Quote(Decimal(1_666_666_666), NOW + minute * SECOND, None, "s"))


async def two_notifications(tx: Transaction) -> None:
    await OutboxRepository(tx).add([a_notification(chat_id=EMMA), a_notification(chat_id=SARI)])


async def two_updates(tx: Transaction) -> None:
    await InboxRepository(tx).add([an_update(key) for key in (1, 2)])


async def two_audit_entries(tx: Transaction) -> None:
    for subject in ("BAD", "GOOD"):
        await AuditRepository(tx).add(AuditEntry(at=NOW, actor_id=EMMA, action=AuditAction.REVEALED, subject=subject))


async def two_answers(tx: Transaction) -> None:
    for name in ("bad", "good"):
        await SavedReplyRepository(tx).save(SavedReply(name=name, texts={"en": "x"}, updated_at=NOW, updated_by=EMMA))


ANYWHERE = {
    "order's rate": Case(
        two_orders,
        "UPDATE orders SET btc_idr = 'much' WHERE reference = 'BAD'",
        lambda tx: OrderRepository(tx).due(LATER, is_paid=False, limit=9),
        "orders BAD",
    ),
    "infinite rate": Case(
        two_orders,
        "UPDATE orders SET btc_idr = 'Infinity' WHERE reference = 'BAD'",
        lambda tx: OrderRepository(tx).of_user(1001),
        "orders BAD",
    ),
    "exported rate": Case(
        two_orders,
        "UPDATE orders SET btc_idr = 'much' WHERE reference = 'BAD'",
        lambda tx: StatisticsRepository(tx).order_lines(NOW, LATER, None, 9),
        "orders BAD",
    ),
    "message": Case(
        two_notifications,
        "UPDATE outbox SET payload = '{' WHERE chat_id = 1001",
        lambda tx: due_heads(tx, LATER),
        "outbox ",
    ),
    "alarm": Case(
        two_alarms,
        "UPDATE alarms SET facts = '{' WHERE subject = 'BAD'",
        lambda tx: AlarmRepository(tx).find_open(),
        "alarms ",
    ),
    "price alert": Case(
        two_alerts,
        "UPDATE rate_alerts SET threshold = 'high' WHERE id = 'bad'",
        lambda tx: AlertRepository(tx).find_active(NOW),
        "rate_alerts bad",
    ),
    "broadcast": Case(
        two_broadcasts,
        "UPDATE broadcasts SET texts = '{' WHERE id = 'bad'",
        lambda tx: BroadcastRepository(tx).find_open(),
        "broadcasts bad",
    ),
    "saved answer": Case(
        two_answers,
        "UPDATE saved_replies SET texts = '{' WHERE name = 'bad'",
        lambda tx: SavedReplyRepository(tx).all(),
        "saved_replies bad",
    ),
    "audit entry": Case(
        two_audit_entries,
        "UPDATE audit SET action = 'lost' WHERE subject = 'BAD'",
        lambda tx: AuditRepository(tx).page(),
        "audit ",
        is_unknown=True,
    ),
    "user": Case(
        two_users,
        "UPDATE users SET notification_preferences = '{' WHERE id = 1001",
        lambda tx: UserRepository(tx).find_by_username("her"),
        "users 1001",
    ),
    "ticket": Case(
        two_tickets,
        "UPDATE tickets SET cause = 'lost' WHERE reference = 'T-BAD'",
        lambda tx: TicketRepository(tx).listed(TicketFilter.OPEN, EMMA, limit=9, offset=0),
        "tickets T-BAD",
        is_unknown=True,
    ),
    "quote": Case(
        two_quotes,
        "UPDATE quotes SET btc_idr = 'much' WHERE fetched_at = (SELECT min(fetched_at) FROM quotes)",
        lambda tx: QuoteRepository(tx).find_between(NOW, LATER),
        "quotes 2026-03-01 09:30:00.123456+00:00",
    ),
}
ON_SQLITE = {
    "order's time": Case(
        two_orders,
        "UPDATE orders SET created_at = 'today' WHERE reference = 'BAD'",
        lambda tx: OrderRepository(tx).due(LATER, is_paid=False, limit=9),
        "orders BAD",
    ),
    "event's time": Case(
        two_events,
        "UPDATE order_events SET at = 'today' WHERE state = 'BAD'",
        lambda tx: OrderRepository(tx).events("GOOD"),
        "order_events ",
    ),
    "subscription's time": Case(
        two_subscriptions,
        "UPDATE subscriptions SET subscribed_at = 'today' WHERE user_id = 1001",
        lambda tx: SubscriptionRepository(tx).find_due(LATER),
        "subscriptions 1001",
    ),
    "ticket's reminder": Case(
        two_tickets,
        "UPDATE tickets SET reminded_at = 'today' WHERE reference = 'T-BAD'",
        lambda tx: TicketRepository(tx).waiting(LATER),
        "tickets T-BAD",
    ),
    "ticket's times": Case(
        two_tickets,
        "UPDATE tickets SET closed_at = 'today' WHERE reference = 'T-BAD'",
        lambda tx: TicketRepository(tx).times(NOW, LATER),
        "tickets T-BAD",
    ),
    "entry's time": Case(
        two_entries,
        "UPDATE ticket_entries SET at = 'today' WHERE source_message_id = 1",
        lambda tx: TicketEntryRepository(tx).of_ticket("T-GOOD"),
        "ticket_entries T-GOOD.1",
    ),
    "time of a message of the bot": Case(
        two_bot_messages,
        "UPDATE ticket_posts SET at = 'today' WHERE chat_id = -1",
        lambda tx: BotMessageRepository(tx).cards("T-GOOD"),
        "ticket_posts -1.1",
    ),
    "message's time": Case(
        two_notifications,
        "UPDATE outbox SET created_at = 'today' WHERE chat_id = 1001",
        lambda tx: due_heads(tx, LATER),
        "outbox ",
    ),
}


# In a column of times PostgreSQL accepts nothing else.
CASES = [
    *(pytest.param("sqlite", case, id=f"sqlite-{name}") for name, case in {**ANYWHERE, **ON_SQLITE}.items()),
    *(
        pytest.param("postgresql", case, id=f"postgresql-{name}", marks=pytest.mark.postgresql)
        for name, case in ANYWHERE.items()
    ),
]


@pytest.mark.parametrize(("database", "case"), CASES, indirect=["database"])
async def test_a_value_that_cannot_be_read_costs_its_own_row_alone(store: Database, case: Case) -> None:
    async with store.transaction() as tx:
        await case.keep(tx)
    async with store.reading() as tx:
        assert len(await case.read(tx)) == 2
    async with store._writer.begin() as connection:
        await connection.execute(text(case.breaks))
    async with store.reading() as tx:
        assert len(await case.read(tx)) == 1
    ((noted, error),) = store._vault.unreadable.items()
    assert noted.startswith(case.noted)
    assert error.is_unknown is case.is_unknown


@on_sqlite
async def test_an_update_of_an_unknown_time_is_set_aside_as_one_without_a_body(store: Database) -> None:
    async with store.transaction() as tx:
        await two_updates(tx)
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE inbox SET received_at = 'today' WHERE id = 1"))
    async with store.reading() as tx:
        found = {item.id: item.body for item in await InboxRepository(tx).find_unfinished(1001)}
    assert found == {1: "", 2: an_update(2).body}
    assert store.unreadable_rows() == {"inbox 1"}


@on_sqlite
async def test_messages_of_others_do_not_hang_on_a_malformed_time(store: Database) -> None:
    async with store.transaction() as tx:
        await two_notifications(tx)
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE outbox SET due_at = '' WHERE chat_id = 1001"))
    async with store.reading() as tx:
        assert (await OutboxRepository(tx).get_backlog(LATER)).since is None
        assert [notification.chat_id for notification in await due_heads(tx, LATER)] == [SARI]


async def test_one_row_that_is_asked_for_by_its_key_is_refused(store: Database) -> None:
    async with store.transaction() as tx:
        await two_entries(tx)
        await two_users(tx)
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE ticket_entries SET kind = 'lost' WHERE source_message_id = 1"))
        await connection.execute(text("UPDATE users SET notification_preferences = '{' WHERE id = 1001"))
    async with store.transaction() as tx:
        with pytest.raises(RowUnreadable):  # None would say that the message is new
            await TicketEntryRepository(tx).of_source(1001, 1)
        with pytest.raises(RowUnreadable):  # None would say that the user is new
            await UserRepository(tx).get(EMMA)
        assert await UserRepository(tx).get_if_readable(EMMA) is None
        assert await UserRepository(tx).get_if_readable(SARI) == a_user(SARI, username="her")
