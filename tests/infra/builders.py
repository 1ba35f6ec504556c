"""Builders of notifications, updates and infrastructure. A test sets only the fields that it is about."""

from dataclasses import replace
from typing import Any, cast

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Features, Infra
from bot.infra.jobs.chat_jobs import ChatJobs
from bot.infra.outbox.model import Notification, StoredNotification
from bot.infra.outbox.payload import pack
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.model import InboxItem
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
    return InboxItem(**{**values, "update_id": update_id, **changes})


def an_infra(database: Database, clock: Clock, messenger: Any = None, features: Features | None = None) -> Infra:
    """Return an infrastructure that writes English to users who haven't chosen a language."""
    return Infra(
        clock=clock,
        database=database,
        messenger=messenger,
        translations=TRANSLATIONS,
        default_locale="en",
        chat_jobs=ChatJobs(database, clock),
        features=features or Features(),
    )


async def message_id_of(tx: Transaction, subject: str, kind: str, chat_id: int) -> int | None:
    """Return the id of the newest message of a kind."""
    found = await OutboxRepository(tx).find_messages(subject, (kind,), chat_id)
    return found[-1].message_id if found else None
