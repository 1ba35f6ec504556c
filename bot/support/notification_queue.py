"""Queue notifications about tickets, in the transaction that changes the ticket.

A mark, such as the entry's number, distinguishes notifications of one kind. One with a known mark isn't sent again.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import (
    Notification,
    NotificationKind,
    Queue,
    format_mark,
)
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.repository import MovedChatRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import TicketEntry
from bot.support.notification_kinds import (
    AboutTicket,
    EntryRemark,
    Remark,
    StaffNotification,
    TicketNotification,
    TicketStep,
)
from bot.support.ticket import Cause, Ticket

TICKET_SUBJECT: Final = "ticket:"
"""The prefix of the subject of a notification about a ticket. The ticket's reference follows."""


def ticket_subject(reference: str) -> str:
    """Return the subject of all notifications about a ticket."""
    return TICKET_SUBJECT + reference


def ticket_notification(
    chat_id: int, kind: NotificationKind, payload: AboutTicket, now: datetime, mark: str = ""
) -> Notification[AboutTicket]:
    """Return a notification about a ticket.

    The messages of support and users share one queue, so that they stay in order. New tickets and failed payouts are in
    the queue of messages about money. Much that one user writes doesn't delay them in the staff's group.
    """
    is_failure = isinstance(payload, TicketStep) and payload.what == Cause.FAILED
    return Notification(
        chat_id=chat_id,
        subject=ticket_subject(payload.ticket),
        kind=kind,
        mark=mark,
        queue=Queue.URGENT if kind is StaffNotification.NEW_CARD or is_failure else Queue.EXTRA,
        payload=payload,
        due_at=now,
        created_at=now,
    )


async def notify_staff(
    tx: Transaction,
    staff_chat: StaffChat,
    kind: StaffNotification,
    payload: AboutTicket,
    now: datetime,
    *,
    mark: str = "",
) -> None:
    """Queue a notification for the chats in which support works."""
    await notify_chats(tx, await staff_chat.chats(tx), kind, payload, now, mark=mark)


async def notify_chats(
    tx: Transaction,
    chat_ids: Iterable[int],
    kind: StaffNotification,
    payload: AboutTicket,
    now: datetime,
    *,
    mark: str = "",
) -> None:
    """Queue a notification for some chats."""
    await OutboxRepository(tx).add([ticket_notification(chat_id, kind, payload, now, mark) for chat_id in chat_ids])


async def update_card(tx: Transaction, staff_chat: StaffChat, reference: str, now: datetime, *mark: object) -> None:
    """Queue an update of a ticket's card. `mark` is what has changed."""
    await notify_staff(tx, staff_chat, StaffNotification.CARD, AboutTicket(reference), now, mark=format_mark(*mark))


async def notify_of_step(tx: Transaction, staff_chat: StaffChat, ticket: Ticket, what: str, now: datetime) -> None:
    """Queue a line to support about a change of a ticket. It mentions the agent who holds the ticket."""
    step = TicketStep(ticket.reference, what, ticket.claimed_by or 0)
    await notify_staff(tx, staff_chat, StaffNotification.STEP, step, now, mark=format_mark(what, ticket.version))


async def notify_user(
    tx: Transaction, ticket: Ticket, kind: TicketNotification, payload: AboutTicket, now: datetime, *, mark: str = ""
) -> None:
    """Queue a notification for the ticket's user."""
    await OutboxRepository(tx).add([ticket_notification(ticket.user_id, kind, payload, now, mark)])


async def notify_of_remark(
    tx: Transaction,
    chat_ids: Iterable[int],
    entry: TicketEntry,
    what: Remark,
    now: datetime,
    *,
    mark: str = "",
    by: int = 0,
    before: int = 0,
    why: str = "",
) -> None:
    """Queue a line about an entry for some chats. `mark` distinguishes equal remarks about one entry."""
    payload = EntryRemark(entry.ticket, entry.number, what, by, before, why)
    whole_mark = format_mark(what, entry.number, *((mark,) if mark else ()))
    await notify_chats(tx, chat_ids, StaffNotification.REMARK, payload, now, mark=whole_mark)


async def other_staff_chats(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return the chats of support, except the one with the entry's original message."""
    source = await source_chat(tx, entry)
    return tuple(chat_id for chat_id in await staff_chat.chats(tx) if chat_id != source)


async def staff_chats_with_source(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return all chats of support, with the chat of the entry's original message first."""
    return (await source_chat(tx, entry), *await other_staff_chats(tx, staff_chat, entry))


async def source_chat(tx: Transaction, entry: TicketEntry) -> int:
    """Return the current id of the chat with the entry's original message."""
    return await MovedChatRepository(tx).current(entry.source_chat_id)
