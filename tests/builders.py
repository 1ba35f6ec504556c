"""Whole orders, drafts, notifications and tickets for tests, which name only what they are about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from bot.checkout.draft import OrderDraft, Step
from bot.core.money import Amount
from bot.infra.outbox.model import Notification, StoredNotification
from bot.infra.outbox.payload import pack
from bot.infra.telegram.inbound.model import InboxItem
from bot.orders.order import Order, Phase
from bot.settlement.model import PayoutMethod
from bot.support.model import EntryKind, PostRole, TicketEntry, TicketPost
from bot.support.ticket import Ticket

NOW = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BCA = PayoutMethod("014", "BANK BCA", "bank", 250_000_000)
OVO = PayoutMethod("ovo", "OVO", "ewallet", None)


def an_order(reference: str = "R2345AB", **changes: Any) -> Order:
    """An intent of Emma's to send Rp250,000 to BCA."""
    known: dict[str, Any] = {
        "reference": reference,
        "user_id": 1001,
        "chat_id": 1001,
        "draft_id": f"draft of {reference}",
        "attempt": 1,
        "method": BCA,
        "number": "8620123456",
        "holder": "SARI DEWI",
        "requested_amount": Amount("IDR", 250_000),
        "channel": "lightning",
        "expected_sats": 15_000,
        "expected_idr": 250_000,
        "phase": Phase.INTENDED,
        "created_at": NOW,
        "btc_idr": Decimal("1666666666.6600"),
    }
    return Order(**{**known, **changes})


def a_draft(draft_id: str = "d1", **changes: Any) -> OrderDraft:
    """An open draft of Emma's that asks for the destination."""
    known: dict[str, Any] = {
        "id": draft_id,
        "chat_id": 1001,
        "user_id": 1001,
        "step": Step.DESTINATION,
        "expires_at": NOW + timedelta(minutes=30),
    }
    return OrderDraft(**{**known, **changes})


def a_notification(subject: str = "order:R2345AB", kind: str = "paid", **changes: Any) -> StoredNotification:
    """Return a notification for Emma, due now."""
    known: dict[str, Any] = {"chat_id": 1001, "payload": {}, "due_at": NOW, "created_at": NOW}
    return Notification(**{**known, "subject": subject, "kind": kind, **changes})


def stored(notification: Notification[object]) -> StoredNotification:
    """Return a notification as it is read from its row."""
    row = replace(notification, kind=str(notification.kind), payload=pack(notification.payload))
    return cast("StoredNotification", row)


def an_update(update_id: int, **changes: Any) -> InboxItem:
    """An update from Emma's chat."""
    known: dict[str, Any] = {"chat_id": 1001, "body": '{"text": "halo"}', "received_at": NOW}
    return InboxItem(**{**known, "update_id": update_id, **changes})


def a_ticket(reference: str = "T-2345A", **changes: Any) -> Ticket:
    """An open ticket of Emma's about her order, which waits since it was opened."""
    known: dict[str, Any] = {
        "user_id": 1001,
        "order_reference": f"order of {reference}",
        "created_at": NOW,
        "waiting_since": NOW,
    }
    return Ticket(**{**known, "reference": reference, **changes})


def an_entry(ticket: str = "T-2345A", source: int = 1, **changes: Any) -> TicketEntry:
    """Something Emma has written in it; `source` is the message."""
    known: dict[str, Any] = {
        "number": 0,
        "kind": EntryKind.ASKED,
        "author_id": 1001,
        "at": NOW,
        "text": "where is it",
        "source_chat_id": 1001,
        "source_message_id": source,
    }
    return TicketEntry(**{**known, "ticket": ticket, **changes})


def a_post(message_id: int = 1, ticket: str = "T-2345A", **changes: Any) -> TicketPost:
    """Its card in a group."""
    known: dict[str, Any] = {"chat_id": -1001, "role": PostRole.CARD, "at": NOW}
    return TicketPost(**{**known, "message_id": message_id, "ticket": ticket, **changes})
