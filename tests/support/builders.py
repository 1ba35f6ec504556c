"""Tickets, their entries and messages for tests, which name only the fields that they are about."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.support.model import BotMessage, BotMessageRole, CloseReason, EntryKind, Ticket, TicketEntry, TicketStatus
from tests.times import NOW


def a_ticket(reference: str = "T-2345A", **changes: Any) -> Ticket:
    """Return an open ticket of Emma's about her order. It has waited for an answer since it was opened."""
    values: dict[str, Any] = {
        "user_id": 1001,
        "order_reference": f"order of {reference}",
        "created_at": NOW,
        "waiting_since": NOW,
    }
    return Ticket(**{**values, "reference": reference, **changes})


def an_unanswered_ticket(now: datetime, **changes: object) -> Ticket:
    """Return Emma's ticket about order ABC2345. It was opened 20 minutes before `now`."""
    opened = now - timedelta(minutes=20)
    ticket = a_ticket("T-4F7K2", order_reference="ABC2345", created_at=opened, waiting_since=opened)
    return replace(ticket, **changes)  # type: ignore[arg-type]


def a_closed_ticket(now: datetime, reason: CloseReason = CloseReason.SOLVED, **changes: object) -> Ticket:
    """Return the same ticket, closed by support at `now`."""
    closed = {"status": TicketStatus.CLOSED, "closed_at": now, "close_reason": reason, "waiting_since": None}
    return an_unanswered_ticket(now, **{**closed, "closed_by": 3001, **changes})


def an_entry(ticket: str = "T-2345A", source: int = 1, **changes: Any) -> TicketEntry:
    """Return an entry that Emma wrote with the message `source`."""
    values: dict[str, Any] = {
        "number": 0,
        "kind": EntryKind.ASKED,
        "author_id": 1001,
        "at": NOW,
        "text": "where is it",
        "source_chat_id": 1001,
        "source_message_id": source,
    }
    return TicketEntry(**{**values, "ticket": ticket, **changes})


def a_bot_message(message_id: int = 1, ticket: str = "T-2345A", **changes: Any) -> BotMessage:
    """Return the first message of a ticket in a group."""
    values: dict[str, Any] = {"chat_id": -1001, "role": BotMessageRole.CARD, "at": NOW}
    return BotMessage(**{**values, "message_id": message_id, "ticket": ticket, **changes})
