"""Tickets in `/privacy` and in the exported file, and what becomes of support's messages about them.

When a user is deleted, the bot also deletes its messages about their tickets in support's chats, if Telegram lets it.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, literal, select

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import JsonObject, Keys, count_rows
from bot.infra.i18n import Html, as_html
from bot.infra.outbox.model import Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.outbox.tables import outbox
from bot.support.model import BotMessage, EntryKind, Ticket, TicketEntry
from bot.support.notifications import TICKET_SUBJECT, DeletedTicket, StaffNotification, ticket_notification
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository
from bot.support.tables import tickets
from bot.users.user_data import MAX_LISTED, StoredData, UserData, format_time

INTERNAL: Final = frozenset({EntryKind.NOTE, EntryKind.UNDECIDED})
"""What support wrote and didn't send to the user."""


def stored_tickets(first: Sequence[Ticket], count: int) -> StoredData:
    """Return the number of tickets, and a warning that names the open ones. Those come first."""
    still_open = [f"<code>{as_html(ticket.reference)}</code>" for ticket in first if ticket.is_open]
    references = {"references": Html(", ".join(still_open))}
    warnings = [("support.privacy.tickets_open", references)] if still_open else ()
    return StoredData(key="support.privacy.tickets", count=count, warnings=warnings)


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the tickets of a user."""
    first = await TicketRepository(tx).of_user(user_id, limit=MAX_LISTED)
    return stored_tickets(first, await count_rows(tx, tickets, user_id))


async def export(tx: Transaction, keys: Sequence[Keys]) -> Sequence[JsonObject]:
    """Return tickets for the exported file: the messages of both sides, without what support kept to itself."""
    found = await TicketRepository(tx).with_references([reference for (reference,) in keys])
    return [_export_ticket(each, await TicketEntryRepository(tx).of_ticket(each.reference)) for each in found]


async def before_deletion(tx: Transaction, user_id: int, now: datetime) -> None:
    """Queue the deletion of the messages about the user's tickets in support's chats. What waits there isn't sent."""
    bot_messages = await BotMessageRepository(tx).in_staff_chats(user_id)
    subjects = select(literal(TICKET_SUBJECT) + tickets.c.reference).where(tickets.c.user_id == user_id)
    await tx.connection.execute(delete(outbox).where(outbox.c.subject.in_(subjects)))
    of_chat: dict[tuple[int, str], list[BotMessage]] = defaultdict(list)
    for bot_message in bot_messages:
        of_chat[bot_message.chat_id, bot_message.ticket].append(bot_message)
    await OutboxRepository(tx).add(
        [_removal(chat_id, ticket, found, now) for (chat_id, ticket), found in of_chat.items()]
    )


def _removal(chat_id: int, ticket: str, bot_messages: list[BotMessage], now: datetime) -> Notification[DeletedTicket]:
    """Return a notification that lists all messages to delete. Their rows are gone when it is sent."""
    topics = tuple(sorted({each.topic_id for each in bot_messages if each.topic_id is not None}))
    outside = tuple(each.message_id for each in bot_messages if each.topic_id is None)
    deleted = DeletedTicket(ticket, chat_id, topics, tuple(each.message_id for each in bot_messages), outside)
    return ticket_notification(chat_id, StaffNotification.DELETED, deleted, now)


def _export_ticket(ticket: Ticket, entries: Sequence[TicketEntry]) -> JsonObject:
    return {
        "reference": ticket.reference,
        "about_order": ticket.order_reference or None,
        "opened_because": str(ticket.cause),
        "status": str(ticket.status),
        "opened_at": format_time(ticket.created_at),
        "first_answer_at": format_time(ticket.first_reply_at),
        "closed_at": format_time(ticket.closed_at),
        "closed_because": str(ticket.close_reason) if ticket.close_reason else None,
        "times_reopened": ticket.reopen_count,
        "rating": str(ticket.rating) if ticket.rating else None,
        "messages": [_export_entry(each) for each in entries if each.kind not in INTERNAL],
    }


def _export_entry(entry: TicketEntry) -> JsonObject:
    return {
        "from": "you" if entry.kind is EntryKind.ASKED else "support",
        "at": format_time(entry.at),
        "html": None if entry.withdrawn_at else entry.text,
        "attached": str(entry.media) if entry.media else None,
        "delivered_at": format_time(entry.delivered_at),
        "edited_at": format_time(entry.edited_at),
        "taken_back_at": format_time(entry.withdrawn_at),
    }


USER_DATA = UserData(stored=stored, exports={"tickets": export}, before_deletion=before_deletion)
