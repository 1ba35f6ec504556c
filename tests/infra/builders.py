"""Builders of notifications, updates and infrastructure. A test sets only the fields that it is about."""

from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import select

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.model import Notification, NotificationStatus, Queue, StoredNotification
from bot.infra.outbox.repository import OutboxRepository, pack
from bot.infra.outbox.tables import outbox
from bot.infra.telegram.inbound.repository import Inbox, InboxItem
from tests.texts import TRANSLATIONS
from tests.times import NOW


def a_notification(subject: str = "order:R2345AB", kind: str = "paid", **changes: Any) -> StoredNotification:
    """Return a notification for Emma, due now."""
    values: dict[str, Any] = {"chat_id": 1001, "payload": {}, "due_at": NOW, "created_at": NOW}
    return Notification(**{**values, "subject": subject, "kind": kind, **changes})


def as_stored(notification: Notification[object]) -> StoredNotification:
    """Return a notification as it is read from its row."""
    row = replace(notification, kind=str(notification.kind), payload=pack(notification.payload))
    return cast("StoredNotification", row)


def an_update(update_id: int, **changes: Any) -> InboxItem:
    """Return an update from Emma's chat."""
    values: dict[str, Any] = {"chat_id": 1001, "body": '{"text": "halo"}', "received_at": NOW}
    return InboxItem(**{**values, "id": update_id, **changes})


def an_infra(database: Database, clock: Clock, messenger: Any = None) -> Infra:
    """Return an infrastructure that writes English to users who haven't chosen a language."""
    return Infra(
        clock=clock,
        database=database,
        messenger=messenger,
        translations=TRANSLATIONS,
        default_locale="en",
        inbox=Inbox(database, clock),
    )


async def due_heads(tx: Transaction, now: datetime, queue: Queue = Queue.URGENT) -> tuple[StoredNotification, ...]:
    """Return the heads of a queue that wait and are due, those that are due first."""
    heads = await OutboxRepository(tx).find_heads([queue])
    return tuple(each for each in heads if each.due_at <= now and each.status is NotificationStatus.WAITING)


async def all_notifications(tx: Transaction) -> tuple[StoredNotification, ...]:
    """Return all rows of the outbox."""
    return await OutboxRepository(tx)._find(select(outbox).order_by(outbox.c.id))


async def message_id_of(tx: Transaction, subject: str, kind: str, chat_id: int) -> int | None:
    """Return the id of the newest message of a kind."""
    found = await OutboxRepository(tx).find_messages(subject, (kind,), chat_id)
    return found[-1].message_id if found else None
