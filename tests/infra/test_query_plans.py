"""Frequent queries use an index, however many rows there are."""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any

from sqlalchemy import Column, Connection, Engine, event

from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository
from bot.broadcasts.tables import IS_OF_OPEN
from bot.checkout.repository import DraftRepository
from bot.infra.db.columns import metadata
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import export_rows, find_keys, prune_rows
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxItem, InboxRepository
from bot.operations.repository import StatisticsRepository
from bot.orders import user_data as orders_data
from bot.orders.destinations.repository import DestinationRepository
from bot.orders.order import Phase, payer_in_chat, payer_on_page
from bot.orders.repository import MissedOrderRepository, OrderRepository
from bot.orders.tables import NEEDS_MESSAGE_IDS
from bot.payment_reminders.repository import ReminderRepository
from bot.payment_requests.repository import PaymentRequestRepository, ids_of_user
from bot.payment_requests.tables import payment_requests
from bot.rates.repository import AlertRepository, QuoteRepository, SubscriptionRepository
from bot.staff.repository import AlarmRepository, AuditRepository, MovedChatRepository
from bot.support.lookup_model import OrderFilter
from bot.support.lookup_repository import LookupRepository
from bot.support.model import TicketFilter
from bot.support.repository import BotMessageRepository, RevealRepository, TicketEntryRepository, TicketRepository
from bot.users.repository import DeletionRepository, UserEventRepository, UserRepository
from tests.harness.databases import on_sqlite
from tests.infra.builders import a_notification
from tests.operations.test_statistics_repository import line_of
from tests.orders.builders import an_order
from tests.times import DAY, NOW, SECOND


def named_like(tx: Transaction) -> Awaitable[object]:
    return found(tx, parts=("4F7",))


def found(tx: Transaction, **sought: Any) -> Awaitable[object]:
    return LookupRepository(tx).find_orders(OrderFilter(**sought), limit=7, offset=0)


def listed(tx: Transaction, which: TicketFilter) -> Awaitable[object]:
    return TicketRepository(tx).listed(which, 3001, limit=7, offset=0)


A_BROADCAST = Broadcast(
    id="b1", operator_id=2001, status=BroadcastStatus.RUNNING, created_at=NOW, started_at=NOW, next_reader=1
)
AN_UPDATE = InboxItem(id=7, chat_id=1001, body="", received_at=NOW)


def column_of(name: str) -> Column[Any]:
    """Return the column with this name: "drafts.expires_at"."""
    table, column = name.split(".")
    return metadata.tables[table].c[column]


ASKED: dict[str, tuple[Callable[[Transaction], Awaitable[object]], str]] = {
    "overtaken": (lambda tx: InboxRepository(tx).is_overtaken(AN_UPDATE), "pk_inbox"),
    "earlier": (lambda tx: InboxRepository(tx).is_earlier_than(AN_UPDATE, 8), "pk_inbox"),
    "due": (lambda tx: OrderRepository(tx).due(NOW, is_paid=False), "ix_orders_due (is_paid=? AND next_poll_at"),
    "failed orders that aren't settled": (
        lambda tx: OrderRepository(tx).unsettled_of_user(1001),
        "uq_alarms_raised (kind=? AND subject=?)",
    ),
    "count_due": (
        lambda tx: OrderRepository(tx).count_due(NOW, is_paid=True),
        "COVERING INDEX ix_orders_due (is_paid=?",
    ),
    "due_after": (
        lambda tx: OrderRepository(tx).due_after(NOW, is_paid=False),
        "ix_orders_due (is_paid=? AND next_poll_at",
    ),
    "ended transfers": (
        lambda tx: DestinationRepository(tx).histories(NOW, NOW + SECOND),
        "ix_orders_created_at_reference (created_at>? AND created_at<?)",
    ),
    "recent transfers": (
        lambda tx: DestinationRepository(tx).recent(NOW),
        "ix_orders_created_at_reference (created_at>? AND created_at<?)",
    ),
    "viewed pages": (lambda tx: OrderRepository(tx).due_if_viewed(["R1", "R2"], [], NOW, NOW, 9), "pk_orders"),
    "users' orders": (
        lambda tx: OrderRepository(tx).due_if_viewed([], [7, 8], NOW, NOW, 9),
        "ix_orders_user_id_created_at",
    ),
    "expiring": (lambda tx: OrderRepository(tx).expiring(NOW), "ix_orders_expiring"),
    "unclaimed_like": (lambda tx: OrderRepository(tx).similar_unclaimed(an_order(), NOW), "ix_orders_unclaimed"),
    "sums used": (
        lambda tx: OrderRepository(tx).sums_used("cbbtc", 25_000, 26_000, since=NOW),
        "ix_orders_deposit_sats (channel=? AND sats>",
    ),
    "sums reserved": (
        lambda tx: OrderRepository(tx).sums_used("cbbtc", 25_000, 26_000, since=NOW),
        "ix_orders_deposit_expected_sats (channel=? AND expected_sats>",
    ),
    "rivals": (
        lambda tx: OrderRepository(tx).rivals("cbbtc", 25_000, but="R1", since=NOW),
        "ix_orders_deposit_sats (channel=? AND sats=",
    ),
    "lost rivals": (
        lambda tx: OrderRepository(tx).rivals("cbbtc", 25_000, but="R1", since=NOW),
        "ix_orders_deposit_expected_sats (channel=? AND expected_sats=",
    ),
    "placed_after": (
        lambda tx: OrderRepository(tx).placed_after(payer_in_chat(1001), NOW),
        "ix_orders_user_id_created_at",
    ),
    "orders from links": (
        lambda tx: OrderRepository(tx).count_from_links(NOW),
        "ix_orders_from_links_created_at",
    ),
    "tally_links": (lambda tx: OrderRepository(tx).tally_links(["a", "b"]), "ix_orders_origin_created_at"),
    "delete_links": (
        lambda tx: orders_data.delete_links(tx, ids_of_user(1001), NOW),
        "ix_orders_origin_created_at",
    ),
    "blocks_deletion": (
        lambda tx: PaymentRequestRepository(tx).count_in_progress(1001),
        "ix_orders_origin_created_at",
    ),
    "made today": (
        lambda tx: PaymentRequestRepository(tx).count_made(1001, NOW),
        "ix_payment_requests_user_id_created_at",
    ),
    "placed_after on a page": (
        lambda tx: OrderRepository(tx).placed_after(payer_on_page("secret"), NOW),
        "ix_orders_payer_hash_created_at",
    ),
    "may_count on a page": (
        lambda tx: OrderRepository(tx).counted_by_limits(payer_on_page("secret"), NOW),
        "ix_orders_payer_hash_created_at",
    ),
    "may_count": (
        lambda tx: OrderRepository(tx).counted_by_limits(payer_in_chat(1001), NOW),
        "ix_orders_user_id_created_at",
    ),
    "may_count, and newest": (
        lambda tx: OrderRepository(tx).counted_and_newest(1001, NOW),
        "ix_orders_user_id_created_at",
    ),
    "results of requests": (
        lambda tx: OrderRepository(tx).newest_results(NOW, 9),
        "ix_orders_created_at_reference",
    ),
    "overdue": (lambda tx: OrderRepository(tx).overdue(NOW), "ix_orders_overdue"),
    "of_person": (lambda tx: OrderRepository(tx).of_user(1001), "ix_orders_user_id_created_at"),
    "count_newer": (lambda tx: OrderRepository(tx).count_newer(an_order()), "ix_orders_user_id_created_at"),
    "count_of_person": (lambda tx: OrderRepository(tx).count_of_user(1001), "ix_orders_user_id_created_at"),
    "in_phase": (lambda tx: OrderRepository(tx).in_phase([Phase.UNKNOWN]), "ix_orders_phase_created_at"),
    "of_draft": (lambda tx: OrderRepository(tx).of_draft("d1"), "uq_orders_draft_id_attempt"),
    "by_service_id": (lambda tx: OrderRepository(tx).by_service_id(["cm1"]), "uq_orders_service_id"),
    "by_page_token": (lambda tx: OrderRepository(tx).by_page_token(["t1", "t2"]), "uq_orders_page_token"),
    "open_of": (lambda tx: DraftRepository(tx).open_of(1001), "uq_drafts_open_chat"),
    "lapsed": (lambda tx: DraftRepository(tx).expired(NOW), "ix_drafts_open_expires_at"),
    "missed of_person": (lambda tx: MissedOrderRepository(tx).of_user(1001), "pk_missed_orders"),
    "waiting": (lambda tx: InboxRepository(tx).find_unfinished(1001), "ix_inbox_unfinished"),
    "chats_waiting": (lambda tx: InboxRepository(tx).find_waiting("me", 9), "ix_inbox_unfinished"),
    "heads, what is due": (lambda tx: OutboxRepository(tx).find_heads(tuple(Queue)), "ix_outbox_due (queue=?)"),
    "heads, what comes first": (
        lambda tx: OutboxRepository(tx).find_heads(tuple(Queue)),
        "same_chat USING INDEX ix_outbox_unsent (chat_id=?)",
    ),
    "notifications due": (lambda tx: OutboxRepository(tx).count_due("rate:", NOW), "ix_outbox_"),
    "heads of chats": (
        lambda tx: OutboxRepository(tx).find_heads_in([1001, 1002], tuple(Queue)),
        "outbox USING INDEX ix_outbox_unsent (chat_id=?",
    ),
    "alike": (lambda tx: OutboxRepository(tx).find_alike(a_notification()), "ix_outbox_unsent (chat_id=? AND id>?)"),
    "forget_told": (lambda tx: OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)), "ix_outbox_sent_at"),
    "forget_given_up": (lambda tx: OutboxRepository(tx).delete_old(NOW, (NEEDS_MESSAGE_IDS,)), "ix_outbox_given_up"),
    "backlog": (lambda tx: OutboxRepository(tx).get_backlog(NOW), "ix_outbox_due"),
    "backlog of each queue": (lambda tx: OutboxRepository(tx).get_backlogs(NOW), "ix_outbox_due"),
    "unfinished updates": (lambda tx: InboxRepository(tx).count_unfinished(), "ix_inbox_unfinished"),
    "orders by phase": (lambda tx: OrderRepository(tx).count_not_ended(NOW), "ix_orders_phase_created_at"),
    "open alarms": (lambda tx: AlarmRepository(tx).find_open(), "uq_alarms_raised"),
    "alarms since": (lambda tx: AlarmRepository(tx).find_since(NOW), "ix_alarms_raised_at"),
    "references like": (named_like, "ix_orders_created_at_reference"),
    "service ids like": (named_like, "uq_orders_service_id"),
    "found by day": (lambda tx: found(tx, since=NOW, until=NOW + SECOND), "ix_orders_created_at_reference"),
    "found by sum": (lambda tx: found(tx, idr=(250_000,), sats=(1,)), "ix_orders_created_at_reference"),
    "found by bank": (lambda tx: found(tx, code="014"), "ix_orders_method_code_created_at"),
    "where orders went": (lambda tx: LookupRepository(tx).find_used_methods(), "ix_orders_method_code_created_at"),
    "people called": (lambda tx: UserRepository(tx).find_by_username("emma"), "ix_users_username"),
    "tally": (lambda tx: LookupRepository(tx).count_orders(1001), "ix_orders_user_id_created_at"),
    "ticket open_of": (lambda tx: TicketRepository(tx).open_of(1001, "R1"), "uq_tickets_open"),
    "tickets of_person": (lambda tx: TicketRepository(tx).of_user(1001), "ix_tickets_user_id_created_at"),
    "tickets of_order": (lambda tx: TicketRepository(tx).of_order("R1"), "ix_tickets_order_reference"),
    "tickets waiting": (lambda tx: TicketRepository(tx).waiting(NOW), "ix_tickets_waiting_since"),
    "tickets of a time": (lambda tx: TicketRepository(tx).times(NOW, NOW + SECOND), "ix_tickets_created_at"),
    "open tickets": (lambda tx: listed(tx, TicketFilter.OPEN), "ix_tickets_open_created_at"),
    "somebody's tickets": (lambda tx: listed(tx, TicketFilter.MINE), "ix_tickets_open_created_at"),
    "unclaimed tickets": (lambda tx: listed(tx, TicketFilter.UNCLAIMED), "ix_tickets_open_created_at"),
    "closed tickets": (lambda tx: listed(tx, TicketFilter.CLOSED), "ix_tickets_closed_at"),
    "entries of_ticket": (lambda tx: TicketEntryRepository(tx).of_ticket("T-2345A"), "uq_ticket_entries_ticket_number"),
    "entries of_source": (lambda tx: TicketEntryRepository(tx).of_source(1001, 1), "uq_ticket_entries_source"),
    "posts": (lambda tx: BotMessageRepository(tx).get(-1001, 1), "pk_ticket_posts"),
    "heads of a ticket": (lambda tx: BotMessageRepository(tx).cards("T-2345A"), "ix_ticket_posts_ticket_entry"),
    "messages of an entry": (
        lambda tx: BotMessageRepository(tx).of_entry("T-2345A", 1, -1001),
        "ix_ticket_posts_ticket_entry",
    ),
    "posts of_topic": (lambda tx: BotMessageRepository(tx).of_topic(-1001, 5), "ix_ticket_posts_chat_id_topic_id"),
    "topic of a ticket": (lambda tx: BotMessageRepository(tx).topic("T-2345A", -1001), "ix_ticket_posts_ticket_entry"),
    "delete_topic": (lambda tx: BotMessageRepository(tx).delete_topic(-1001, 5), "ix_ticket_posts_chat_id_topic_id"),
    "messages in_staff_chats": (
        lambda tx: BotMessageRepository(tx).in_staff_chats(1001),
        "ix_tickets_user_id_created_at",
    ),
    "where a chat is now": (lambda tx: MovedChatRepository(tx).current(-1001), "pk_moved_chats"),
    "acts of_order": (lambda tx: UserEventRepository(tx).find_by_order(1001, "R1", NOW), "ix_user_events_user_id_at"),
    "trail": (lambda tx: AuditRepository(tx).page(before="2026"), "pk_audit"),
    "trail of one": (lambda tx: AuditRepository(tx).page(before="2026", actor_id=2001), "ix_audit_actor_id_id"),
    "trail of a time": (lambda tx: AuditRepository(tx).between(NOW, NOW, "2026", 9), "pk_audit"),
    "what is revealed": (lambda tx: RevealRepository(tx).unmasked(), "ix_reveals_until"),
    "notifications of a subject": (
        lambda tx: OutboxRepository(tx).find_by_subject("ticket:T-2345A"),
        "uq_outbox_subject",
    ),
    "leaving": (lambda tx: DeletionRepository(tx).find_requested(), "ix_users_deletion_requested_at"),
    "away": (lambda tx: DeletionRepository(tx).find_blocked(NOW), "ix_users_blocked_at"),
    "unsent notifications": (lambda tx: DeletionRepository(tx).has_notifications(1001), "ix_outbox_unsent"),
    "recipients_of_orders": (
        lambda tx: orders_data.remove_recipients(tx, NOW, 9),
        "ix_orders_with_recipient",
    ),
    "last messages": (lambda tx: DeletionRepository(tx).delete_last_messages(), "ix_outbox_last_messages"),
    "orders of a time": (
        lambda tx: StatisticsRepository(tx).tally_orders((NOW, NOW + SECOND)),
        "ix_orders_created_at_reference",
    ),
    "times of answers": (lambda tx: StatisticsRepository(tx).find_answer_times(NOW), "ix_inbox_finished_at"),
    "last payment": (lambda tx: StatisticsRepository(tx).find_last_payment(), "ix_orders_paid_at"),
    "count of a time": (lambda tx: StatisticsRepository(tx).count_orders(NOW, NOW), "ix_orders_created_at_reference"),
    "lines of a time": (
        lambda tx: StatisticsRepository(tx).order_lines(NOW, NOW, None, 9),
        "ix_orders_created_at_reference",
    ),
    "lines behind": (
        lambda tx: StatisticsRepository(tx).order_lines(NOW, NOW, line_of(an_order()), 9),
        "ix_orders_created_at_reference",
    ),
    "open broadcasts": (lambda tx: BroadcastRepository(tx).find_open(), "ix_broadcasts_open"),
    "broadcasts newest": (lambda tx: BroadcastRepository(tx).newest(), "ix_broadcasts_created_at"),
    "broadcasts draft_of": (lambda tx: BroadcastRepository(tx).draft_of(2001), "ix_broadcasts_drafts"),
    "forget_finished": (lambda tx: InboxRepository(tx).delete_finished(NOW), "ix_inbox_finished_at"),
    "quotes between": (lambda tx: QuoteRepository(tx).find_between(NOW, NOW), "pk_quotes"),
    "quotes latest": (lambda tx: QuoteRepository(tx).get_latest(), "pk_quotes"),
    "dailies due": (lambda tx: SubscriptionRepository(tx).find_due(NOW), "ix_subscriptions_next_daily_at"),
    "reminders due": (lambda tx: ReminderRepository(tx).find_due(NOW, 24), "ix_payment_reminders_due_at"),
    "reminders of": (lambda tx: ReminderRepository(tx).find_by_user(1001), "ix_payment_reminders_user_id"),
    "alerts_of": (lambda tx: AlertRepository(tx).find_by_user(1001), "ix_rate_alerts_user_id"),
    "awake_alerts": (lambda tx: AlertRepository(tx).find_active(NOW), "ix_rate_alerts_expires_at"),
    "forget_alerts": (lambda tx: AlertRepository(tx).delete_expired(NOW), "ix_rate_alerts_expires_at"),
    "the audience": (
        lambda tx: DeliveryRepository(tx).count_readers(Audience(locale="id"), NOW),
        "SEARCH subscriptions USING INTEGER PRIMARY KEY (rowid=?)",
    ),
    "the next readers": (
        lambda tx: DeliveryRepository(tx).find_readers(A_BROADCAST, 9),
        "uq_outbox_subject",
    ),
    "what a broadcast has unsent": (
        lambda tx: DeliveryRepository(tx).find_unsent(),
        "ix_outbox_due (queue=?)",
    ),
    "a broadcast's results": (
        lambda tx: DeliveryRepository(tx).read_progress(A_BROADCAST, NOW),
        "uq_outbox_subject",
    ),
    "a broadcast's unknown results": (
        lambda tx: DeliveryRepository(tx).retry_unknown("b1", NOW),
        "uq_outbox_subject",
    ),
    "sent messages of open broadcasts": (
        lambda tx: OutboxRepository(tx).delete_old(NOW, (IS_OF_OPEN,)),
        "ix_broadcasts_open",
    ),
    "rows of a file": (lambda tx: find_keys(tx, payment_requests, 1001), "ix_payment_requests_user_id_created_at"),
    "page of a file": (lambda tx: export_rows(payment_requests, tx, [("a",), ("b",)]), "pk_payment_requests"),
    **{
        f"old {name}": (partial(prune_rows, column_of(name), now=NOW, retention=DAY, limit=9), index)
        for name, index in {
            "drafts.expires_at": "ix_drafts_closed_expires_at",
            "missed_orders.at": "ix_missed_orders_at",
            "payment_request_reports.at": "ix_payment_request_reports_at",
            "payment_requests.used_at": "ix_payment_requests_used_at",
            "recipients.last_used_at": "ix_recipients_last_used_at",
            "ticket_entries.ticket": "ix_tickets_closed_at",
            "user_events.at": "ix_user_events_at",
            "wrong_codes.full_at": "ix_wrong_codes_full_at",
        }.items()
    },
}
# SQLite chooses the name of the index of a unique constraint.
SQLITES_NAME = {
    "pk_inbox": "INTEGER PRIMARY KEY",
    "pk_audit": "sqlite_autoindex_audit_1",
    "pk_missed_orders": "sqlite_autoindex_missed_orders_1",
    "pk_moved_chats": "sqlite_autoindex_moved_chats_1",
    "pk_orders": "sqlite_autoindex_orders_1",
    "pk_payment_requests": "sqlite_autoindex_payment_requests_1",
    "pk_quotes": "sqlite_autoindex_quotes_1",
    "pk_ticket_posts": "sqlite_autoindex_ticket_posts_1",
    "uq_orders_draft_id_attempt": "sqlite_autoindex_orders_2",
    "uq_outbox_subject": "sqlite_autoindex_outbox_1",
    "uq_ticket_entries_source": "sqlite_autoindex_ticket_entries_3",
    "uq_ticket_entries_ticket_number": "sqlite_autoindex_ticket_entries_2",
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
    slow: dict[str, str] = {}
    for question, (ask, index) in ASKED.items():
        with statements() as seen, suppress(RolledBack):
            async with store.transaction() as tx:
                await ask(tx)
                raise RolledBack
        plans = "\n".join([await plan(store, *one) for one in seen if not one[0].startswith("BEGIN")])
        if not uses_index(plans, index, is_sqlite=store._address.is_sqlite):
            slow[question] = plans
    assert slow == {}


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
