"""Show, export, delete and prune the tickets of a user.

When a user is deleted, the bot also deletes its messages about their tickets in support's chats, if Telegram lets it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, literal, select

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator, as_html
from bot.infra.outbox.model import Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.outbox.tables import outbox
from bot.support.model import BotMessage, EntryKind, TicketEntry
from bot.support.notification_kinds import AboutTicket, DeletedTicket, StaffNotification
from bot.support.notification_queue import TICKET_SUBJECT, ticket_notification
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.tables import ticket_entries, tickets
from bot.users.user_data import MAX_LISTED, JsonObject, Rows, StoredData, UserData, count_rows, format_time

INTERNAL: Final = frozenset({EntryKind.NOTE, EntryKind.UNDECIDED})
"""What support wrote and didn't send to the user."""


@dataclass(frozen=True, slots=True)
class StoredTickets(StoredData):
    """A user's tickets."""

    first: tuple[Ticket, ...]
    """The open ones come first."""

    count: int

    def records(self, t: Translator) -> Sequence[str]:
        """Return the number of tickets."""
        return (self._count(t),) if self.count else ()

    def counts(self, t: Translator) -> Mapping[str, Html]:
        """Return the number of tickets."""
        return {"tickets": self._count(t)}

    def warnings(self, t: Translator) -> Sequence[str]:
        """Return a warning that names the user's open tickets, if there are any."""
        still_open = [ticket.reference for ticket in self.first if ticket.is_open]
        if not still_open:
            return ()
        references = ", ".join(f"<code>{as_html(reference)}</code>" for reference in still_open)
        return (t("support.privacy.tickets_open", references=Html(references)),)

    def _count(self, t: Translator) -> Html:
        return t.plural("support.privacy.tickets", self.count)


async def read_stored(tx: Transaction, user_id: int) -> StoredTickets:
    """Return the tickets of a user."""
    first = await TicketRepository(tx).of_user(user_id, limit=MAX_LISTED)
    return StoredTickets(first, await count_rows(tx, tickets, user_id))


async def export(tx: Transaction, user_id: int, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return tickets for the exported file: the messages of both sides, without what support kept to itself."""
    found = await TicketRepository(tx).of_user(user_id, limit=limit, offset=offset)
    return [_export_ticket(each, await TicketEntryRepository(tx).of_ticket(each.reference)) for each in found]


async def delete_user(tx: Transaction, user_id: int, now: datetime) -> None:
    """Delete the user's tickets, and queue the deletion of their messages in support's chats."""
    bot_messages = await BotMessageRepository(tx).in_staff_chats(user_id)
    subjects = select(literal(TICKET_SUBJECT) + tickets.c.reference).where(tickets.c.user_id == user_id)
    await tx.connection.execute(delete(outbox).where(outbox.c.subject.in_(subjects)))
    # Their entries and the bot's messages are deleted with them.
    await tx.connection.execute(delete(tickets).where(tickets.c.user_id == user_id))
    of_chat: dict[tuple[int, str], list[BotMessage]] = defaultdict(list)
    for bot_message in bot_messages:
        of_chat[bot_message.chat_id, bot_message.ticket].append(bot_message)
    await OutboxRepository(tx).add(
        [_removal(chat_id, ticket, found, now) for (chat_id, ticket), found in of_chat.items()]
    )


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete the entries of tickets that were closed longer ago than `kept`. None keeps all."""
    return 0 if kept is None else await delete_entries(tx, now - kept, limit)


async def delete_entries(tx: Transaction, closed_before: datetime, limit: int) -> int:
    """Delete up to `limit` entries of tickets closed before a time, and return how many. The tickets stay."""
    old = (
        select(ticket_entries.c.id)
        .join(tickets, tickets.c.reference == ticket_entries.c.ticket)
        .where(tickets.c.closed_at < closed_before)
        .limit(limit)
    )
    return (await tx.connection.execute(delete(ticket_entries).where(ticket_entries.c.id.in_(old)))).rowcount


def _removal(chat_id: int, ticket: str, bot_messages: list[BotMessage], now: datetime) -> Notification[AboutTicket]:
    """Return a notification that lists all messages to delete. Their rows are gone when it is sent."""
    topics = tuple(sorted({each.topic_id for each in bot_messages if each.topic_id is not None}))
    deleted = DeletedTicket(ticket, chat_id, topics, tuple(each.message_id for each in bot_messages))
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


USER_DATA = UserData(
    feature="support",
    rows={"tickets": Rows(tickets, export)},
    stored=read_stored,
    delete_user=delete_user,
    prune=prune,
)
