"""Fill every table with data of a user, delete that user, and find the tables that still name them."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from bot.app import build_declared
from bot.broadcasts.messages import reader_notifications
from bot.broadcasts.model import Broadcast
from bot.broadcasts.repository import BroadcastRepository
from bot.checkout.draft import DraftStatus, Refusal, RequestTerms, Step
from bot.checkout.repository import DraftRepository
from bot.core.clock import SystemClock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.evidence import Evidence
from bot.orders.order import Order, OrderEvent, Phase
from bot.orders.receipts.codes import Receipt, Refills
from bot.orders.receipts.repository import ReceiptRepository, WrongCodeRepository
from bot.orders.repository import MissedOrder, MissedOrderRepository, OrderRepository
from bot.payment_reminders.repository import ReminderRepository
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository
from bot.rates.model import RateAlert, Subscription
from bot.rates.repository import AlertRepository, SubscriptionRepository
from bot.recipients.repository import RecipientRepository
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from bot.support.model import BotMessage, BotMessageRole, EntryKind, Ticket, TicketEntry
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository
from bot.tables import metadata
from bot.users import privacy
from bot.users.model import RecordedEvent
from bot.users.repository import UserEventRepository, UserRepository
from bot.users.user_data import UserData
from tests.checkout.builders import a_draft
from tests.infra.builders import a_notification, an_update, due_heads
from tests.orders.builders import an_order
from tests.payment_reminders.builders import a_reminder
from tests.payment_requests.builders import a_report, a_request
from tests.recipients.builders import a_recipient
from tests.settlement.builders import a_deposit
from tests.times import DAY, NOW
from tests.users.builders import a_user

USER_DATA: Final[tuple[UserData, ...]] = tuple(
    feature.user_data for feature in build_declared().features if feature.user_data is not None
)
"""What is special about each feature's data of users."""

RINA, GROUP = 3001, -100_3001
DONE = {"phase": Phase.DONE, "state": "COMPLETED", "ended_at": NOW, "paid_at": NOW}


async def fill_every_table(store: Database, user_id: int, n: int = 0) -> Order:
    """Add rows of a user to every table, and return their sent order. Each `n` adds other rows."""
    deposit = a_deposit("cbbtc", token_address="0xcb", to_address="0xto")
    order = an_order(
        f"R{user_id}N{n}",
        user_id=user_id,
        chat_id=user_id,
        number="7731004455",
        service_id=f"cm{user_id}.{n}",
        bolt11="lnbc1kopi",
        deposit=deposit,
        refusal="no 7731004455",
        page_token=f"t{user_id}.{n}",
        evidence=(Evidence("merchant_name", "WARUNG SARI", NOW),),
        **DONE,
    )
    async with store.transaction() as tx:
        chosen: dict[str, object] = {
            "locale": "id",
            "time_zone": "Asia/Makassar",
            "notification_preferences": {"converting": "sound"},
        }
        named = {"phrase": "MANGO LAUT", "suggested_phrase": "MANGO-77", "username": f"u{user_id}"}
        await UserRepository(tx).save(a_user(user_id, **chosen, **named))
        await RecipientRepository(tx).save(a_recipient(f"r{user_id}.{n}", user_id, label="Ibu Kost"))
        await ReminderRepository(tx).save(a_reminder(user_id, f"r{user_id}.{n}", id=f"reminder {user_id}.{n}"))
        asked = {"user_id": user_id, "token": f"token{user_id}.{n}", "draft_id": f"asked{user_id}.{n}"}
        await PaymentRequestRepository(tx).add(a_request(f"q{user_id}.{n}", **asked))
        await ReportRepository(tx).add(a_report(user_id, request_id=f"q{user_id}.{n}"))
        await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=NOW))
        await AlertRepository(tx).save(
            RateAlert(
                id=f"alert {user_id}.{n}",
                user_id=user_id,
                is_above=True,
                threshold=Decimal(10**9),
                created_at=NOW,
                expires_at=NOW + DAY,
            )
        )
        broadcast = Broadcast(id=f"b{user_id}.{n}", operator_id=2001, created_at=NOW)
        await BroadcastRepository(tx).add(broadcast)
        await OutboxRepository(tx).add(reader_notifications(broadcast, [user_id], NOW))
        await OrderRepository(tx).add(order)
        await OrderRepository(tx).add_event(
            OrderEvent(reference=order.reference, at=NOW, phase=Phase.DONE, state="COMPLETED")
        )
        await ReceiptRepository(tx).add(
            Receipt(reference=order.reference, code=f"CODE-{user_id}", code_hash=f"{user_id}.{n}", created_at=NOW)
        )
        await WrongCodeRepository(tx).save(user_id, Refills(NOW, NOW))
        await MissedOrderRepository(tx).save(MissedOrder(user_id=user_id, reference=order.reference, at=NOW))
        answers = {"number": "7731004455", "doubtful_number": "7731004456", "holder": "SARI DEWI"}
        placed = a_draft(f"d{user_id}.{n}", chat_id=user_id, user_id=user_id, **answers)
        refused = Refusal(step=Step.AMOUNT, key="core.amount.unreadable", at=NOW)
        terms = RequestTerms(note="for 7731004455", note_asked=True, is_reusable=True)
        await DraftRepository(tx).add(replace(placed, status=DraftStatus.PLACED, refusal=refused, terms=terms))
        await OutboxRepository(tx).add([a_notification(f"order:{order.reference}", chat_id=user_id)])
        await _add_ticket(tx, order, n)
        for notification in (*await due_heads(tx, NOW), *await due_heads(tx, NOW, queue=Queue.BULK)):
            await OutboxRepository(tx).record_sent({notification.id: 5}, NOW)
        update = user_id * 10 + n
        await InboxRepository(tx).add([an_update(update, chat_id=user_id)])
        await InboxRepository(tx).finish([update], NOW)
    return order


async def _add_ticket(tx: Transaction, order: Order, n: int) -> None:
    """Add a ticket about the order, with entries of both sides, and what staff did with it."""
    user_id, name = order.user_id, f"T-{order.user_id}.{n}"
    await TicketRepository(tx).add(
        Ticket(reference=name, user_id=user_id, order_reference=order.reference, created_at=NOW, waiting_since=NOW)
    )
    for kind, author, chat_id in (
        (EntryKind.ASKED, user_id, user_id),
        (EntryKind.REPLY, RINA, GROUP),
        (EntryKind.NOTE, RINA, GROUP),
    ):
        entry = TicketEntry(
            ticket=name,
            number=0,
            kind=kind,
            author_id=author,
            at=NOW,
            text="about 7731004455",
            file_id=f"AgAC-{user_id}",
            source_chat_id=chat_id,
            source_message_id=user_id * 1_000 + n * 3 + list(EntryKind).index(kind),
        )
        assert await TicketEntryRepository(tx).add(entry)
    for chat_id, message_id in ((user_id, 900 + n), (GROUP, user_id * 10_000 + n)):
        await BotMessageRepository(tx).add(
            BotMessage(
                chat_id=chat_id, message_id=message_id, ticket=name, role=BotMessageRole.REMARK, topic_id=n, at=NOW
            )
        )
    await OutboxRepository(tx).add([a_notification(f"ticket:{name}", chat_id=GROUP)])
    await UserEventRepository(tx).add(
        RecordedEvent(user_id=user_id, reference=order.reference, at=NOW, event="pressed.check")
    )
    await AuditRepository(tx).add(
        AuditEntry(
            at=NOW,
            actor_id=RINA,
            action=AuditAction.LOOKED,
            subject=f"ticket:{name}",
            user_id=user_id,
            detail="they asked about 7731004455",
        )
    )


async def delete_user(tx: Transaction, user_id: int) -> None:
    """Delete a user with everything that the features store about them."""
    await privacy.delete_user(tx, user_id, SystemClock().now(), USER_DATA)


async def tables_that_name(store: Database, user_id: int) -> list[str]:
    """Return the tables that contain a user's ID in any column."""
    found = []
    async with store._reader.connect() as connection:
        for name, table in metadata.tables.items():
            rows = (await connection.execute(table.select())).all()
            if any(str(value) in {str(user_id), f"person:{user_id}"} for row in rows for value in row):
                found.append(name)
    return found
