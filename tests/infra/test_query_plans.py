"""Frequent queries use an index, however many rows there are."""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import Connection, Engine, event

from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository
from bot.broadcasts.tables import IS_OF_OPEN
from bot.checkout.repository import DraftRepository
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository
from bot.orders.order import Phase, payer_in_chat, payer_on_page
from bot.orders.repository import MissedOrderRepository, OrderRepository
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.payment_reminders.repository import ReminderRepository
from bot.payment_requests.repository import PaymentRequestRepository
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.staff.repository import AlarmRepository
from bot.support.repository import TicketRepository
from tests.harness.databases import on_sqlite
from tests.infra.builders import a_notification
from tests.orders.builders import an_order
from tests.times import NOW, SECOND

A_BROADCAST = Broadcast(
    id="b1", operator_id=2001, status=BroadcastStatus.RUNNING, created_at=NOW, started_at=NOW, next_reader=1
)
AN_UPDATE = InboxItem(id=7, chat_id=1001, body="", received_at=NOW)


ASKED: dict[str, tuple[Callable[[Transaction], Awaitable[object]], ...]] = {
    "pk_inbox": (
        lambda tx: InboxRepository(tx).is_overtaken(AN_UPDATE),
        lambda tx: InboxRepository(tx).is_earlier_than(AN_UPDATE, 8),
    ),
    "ix_orders_due (is_paid=? AND next_poll_at": (
        lambda tx: OrderRepository(tx).due(NOW, is_paid=False),
        lambda tx: OrderRepository(tx).due_after(NOW, is_paid=False),
    ),
    "uq_alarms_raised (kind=? AND subject=?)": (lambda tx: OrderRepository(tx).unsettled_of_user(1001),),
    "COVERING INDEX ix_orders_due (is_paid=?": (lambda tx: OrderRepository(tx).count_due(NOW, is_paid=True),),
    "pk_orders": (lambda tx: OrderRepository(tx).due_if_viewed(["R1", "R2"], [], NOW, NOW, 9),),
    "ix_orders_user_id_created_at": (
        lambda tx: OrderRepository(tx).due_if_viewed([], [7, 8], NOW, NOW, 9),
        lambda tx: OrderRepository(tx).placed_after(payer_in_chat(1001), NOW),
        lambda tx: OrderRepository(tx).counted_by_limits(payer_in_chat(1001), NOW),
        lambda tx: OrderRepository(tx).counted_and_newest(1001, NOW),
        lambda tx: OrderRepository(tx).of_user(1001),
    ),
    "ix_orders_expiring": (lambda tx: OrderRepository(tx).expiring(NOW),),
    "ix_orders_unclaimed": (lambda tx: OrderRepository(tx).similar_unclaimed(an_order(), NOW),),
    "ix_orders_deposit_sats (channel=? AND sats>": (
        lambda tx: OrderRepository(tx).sums_used("cbbtc", 25_000, 26_000, since=NOW),
    ),
    "ix_orders_deposit_expected_sats (channel=? AND expected_sats>": (
        lambda tx: OrderRepository(tx).sums_used("cbbtc", 25_000, 26_000, since=NOW),
    ),
    "ix_orders_deposit_sats (channel=? AND sats=": (
        lambda tx: OrderRepository(tx).rivals("cbbtc", 25_000, but="R1", since=NOW),
    ),
    "ix_orders_deposit_expected_sats (channel=? AND expected_sats=": (
        lambda tx: OrderRepository(tx).rivals("cbbtc", 25_000, but="R1", since=NOW),
    ),
    "ix_orders_from_links_created_at": (lambda tx: OrderRepository(tx).count_from_links(NOW),),
    "ix_orders_origin_created_at": (
        lambda tx: PaymentRequestRepository(tx).received(1002),
        lambda tx: PaymentRequestRepository(tx).received(1002, since=NOW),
    ),
    "ix_orders_payer_hash_created_at": (
        lambda tx: OrderRepository(tx).placed_after(payer_on_page("secret"), NOW),
        lambda tx: OrderRepository(tx).counted_by_limits(payer_on_page("secret"), NOW),
    ),
    "ix_orders_overdue": (lambda tx: OrderRepository(tx).overdue(NOW),),
    "ix_orders_phase_created_at": (
        lambda tx: OrderRepository(tx).in_phase([Phase.UNKNOWN]),
        lambda tx: OrderRepository(tx).count_not_ended(NOW),
    ),
    "uq_orders_draft_id_attempt": (lambda tx: OrderRepository(tx).of_draft("d1"),),
    "uq_orders_service_id": (lambda tx: OrderRepository(tx).by_service_id(["cm1"]),),
    "uq_orders_page_token": (lambda tx: OrderRepository(tx).by_page_token(["t1", "t2"]),),
    "uq_drafts_open_chat": (lambda tx: DraftRepository(tx).open_of(1001),),
    "ix_drafts_open_expires_at": (lambda tx: DraftRepository(tx).expired(NOW),),
    "pk_missed_orders": (lambda tx: MissedOrderRepository(tx).of_user(1001),),
    "ix_inbox_unfinished": (
        lambda tx: InboxRepository(tx).find_unfinished(1001),
        lambda tx: InboxRepository(tx).find_waiting("me", 9),
        lambda tx: InboxRepository(tx).count_unfinished(),
    ),
    "ix_outbox_due (queue=?)": (
        lambda tx: OutboxRepository(tx).find_heads(tuple(Queue)),
        lambda tx: DeliveryRepository(tx).find_unsent(),
    ),
    "same_chat USING INDEX ix_outbox_unsent (chat_id=?)": (lambda tx: OutboxRepository(tx).find_heads(tuple(Queue)),),
    "ix_outbox_": (lambda tx: OutboxRepository(tx).count_due("rate:", NOW),),
    "outbox USING INDEX ix_outbox_unsent (chat_id=?": (
        lambda tx: OutboxRepository(tx).find_heads_in([1001, 1002], tuple(Queue)),
    ),
    "ix_outbox_unsent (chat_id=? AND id>?)": (lambda tx: OutboxRepository(tx).find_alike(a_notification()),),
    "ix_outbox_sent_at": (lambda tx: OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)),),
    "ix_outbox_given_up": (lambda tx: OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)),),
    "ix_outbox_due": (
        lambda tx: OutboxRepository(tx).get_backlog(NOW),
        lambda tx: OutboxRepository(tx).get_backlogs(NOW),
    ),
    "uq_alarms_raised": (lambda tx: AlarmRepository(tx).find_open(),),
    "uq_tickets_open": (lambda tx: TicketRepository(tx).open_of(1001, "R1"),),
    "ix_tickets_order_reference": (lambda tx: TicketRepository(tx).of_order("R1"),),
    "ix_tickets_waiting_since": (lambda tx: TicketRepository(tx).waiting(NOW),),
    "uq_outbox_subject": (
        lambda tx: OutboxRepository(tx).find_by_subject("ticket:T-2345A"),
        lambda tx: DeliveryRepository(tx).find_readers(A_BROADCAST, 9),
    ),
    "ix_inbox_finished_at": (lambda tx: InboxRepository(tx).delete_finished(NOW),),
    "ix_broadcasts_open": (
        lambda tx: BroadcastRepository(tx).find_open(),
        lambda tx: OutboxRepository(tx).delete_old(NOW, (IS_OF_OPEN,)),
    ),
    "pk_quotes": (lambda tx: QuoteRepository(tx).find_between(NOW, NOW), lambda tx: QuoteRepository(tx).get_latest()),
    "ix_subscriptions_next_daily_at": (lambda tx: SubscriptionRepository(tx).find_due(NOW),),
    "ix_payment_reminders_due_at": (lambda tx: ReminderRepository(tx).find_due(NOW, 24),),
    "ix_rate_alerts_expires_at": (lambda tx: AlertRepository(tx).find_active(NOW),),
}
"""The questions, by what their plans on SQLite contain: the index that each of them uses."""
# SQLite chooses the name of the index of a unique constraint.
SQLITES_NAME = {
    "pk_inbox": "INTEGER PRIMARY KEY",
    "pk_missed_orders": "sqlite_autoindex_missed_orders_1",
    "pk_orders": "sqlite_autoindex_orders_1",
    "pk_quotes": "sqlite_autoindex_quotes_1",
    "uq_orders_draft_id_attempt": "sqlite_autoindex_orders_2",
    "uq_outbox_subject": "sqlite_autoindex_outbox_1",
}


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    def note(_c: Connection, _cursor: object, statement: str, parameters: Any, *_rest: object) -> None:
        seen.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def literal(value: object) -> str:
    return f"'{value.isoformat()}'" if isinstance(value, datetime) else f"'{value}'"


async def plan(store: Database, statement: str, parameters: Any) -> str:
    if isinstance(parameters, list):  # the first of several executions of one statement
        parameters = parameters[0]
    async with store._writer.begin() as connection:
        if connection.dialect.name == "sqlite":
            found = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            return "\n".join(str(row[-1]) for row in found)
        # PostgreSQL reads nearly empty tables without an index, and parameters need a prepared statement.
        await connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        await connection.exec_driver_sql(f"PREPARE asked AS {statement}")
        values = f"({', '.join(map(literal, parameters))})" if parameters else ""
        found = await connection.exec_driver_sql(f"EXPLAIN EXECUTE asked{values}")
        plan = "\n".join(found.scalars())
        await connection.exec_driver_sql("DEALLOCATE asked")
        return plan


class RolledBack(Exception):
    """Ends a transaction, so that each question meets empty tables."""


def uses_index(plans: str, index: str, *, is_sqlite: bool) -> bool:
    if is_sqlite:
        return SQLITES_NAME.get(index, index) in plans
    # The choice between several indexes depends on the rows, but one of them must be used.
    return "Index" in plans and "Seq Scan" not in plans


async def test_each_question_is_answered_from_its_index(store: Database) -> None:
    slow = list[str]()
    for index, asked in ASKED.items():
        for ask in asked:
            with statements() as seen, suppress(RolledBack):
                async with store.transaction() as tx:
                    await ask(tx)
                    raise RolledBack
            plans = "\n".join([await plan(store, *one) for one in seen if not one[0].startswith("BEGIN")])
            if not uses_index(plans, index, is_sqlite=store._address.is_sqlite):
                slow.append(f"{index} isn't used:\n{seen}\n{plans}")
    assert slow == []


async def test_heads_are_the_first_of_each_chat_among_many_told(store: Database) -> None:
    told = [a_notification(kind=f"told {n}", chat_id=n % 1_000) for n in range(3_000)]
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(told)
    async with store._writer.begin() as connection:
        await connection.exec_driver_sql("UPDATE outbox SET status = 'sent'")
    waiting = [a_notification(kind=f"waiting {n}", chat_id=n % 500, due_at=NOW - SECOND) for n in range(1_000)]
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(waiting)
        found = await OutboxRepository(tx).find_heads()
        assert [notification.kind for notification in found] == [f"waiting {n}" for n in range(Queue.URGENT.slots + 1)]


@on_sqlite
async def test_a_broadcast_that_waits_costs_no_more_however_long_it_is(store: Database) -> None:
    queue, steps = Queue.BULK, list[int]()
    for chats in (range(200), range(200, 5_000)):
        async with store.transaction() as tx:
            await OutboxRepository(tx).add([a_notification(kind=queue, chat_id=n, queue=queue) for n in chats])
        async with store.reading() as tx:
            with statements() as seen:
                await OutboxRepository(tx).find_heads(tuple(Queue))
        steps.append(count_steps(store, *seen[0]))
    assert steps[1] <= steps[0] * 1.1


def count_steps(store: Database, statement: str, parameters: Any) -> int:
    """Return how many steps SQLite's virtual machine takes."""
    steps = count()
    with closing(sqlite3.connect(str(store._address.path))) as connection:
        connection.set_progress_handler(lambda: next(steps) < 0, 1)
        assert len(connection.execute(statement, parameters).fetchall()) == Queue.BULK.slots + 1
    return next(steps)
