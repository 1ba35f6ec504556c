"""Notifications about tickets as rows of the outbox, for the transaction that changes the ticket.

A mark (an entry's number, the ticket's version) tells two of a kind apart, so that nothing is sent twice.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationKind, Queue, mark_of
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.repository import MovedChatRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import TicketEntry
from bot.support.notifications.kinds import (
    AboutTicket,
    EntryRemark,
    Remark,
    StaffNotification,
    TicketNotification,
    TicketStep,
)
from bot.support.ticket import Ticket

TICKET_SUBJECT: Final = "ticket:"
"""What the subjects of all notifications about tickets begin with. The ticket's reference follows."""


def ticket_subject(reference: str) -> str:
    """Return the subject of all notifications about a ticket."""
    return TICKET_SUBJECT + reference


def ticket_notification(
    chat_id: int, kind: NotificationKind, payload: AboutTicket, now: datetime, mark: str = ""
) -> Notification[AboutTicket]:
    """Return the row of the outbox.

    All that support and users write to each other goes through one queue, so that it keeps its order. That a ticket
    has opened follows a message about money, so it waits in the queue of that.
    """
    return Notification(
        chat_id=chat_id,
        subject=ticket_subject(payload.ticket),
        kind=kind,
        mark=mark,
        queue=Queue.MONEY if kind is TicketNotification.OPENED else Queue.EXTRA,
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
    """Queue a notification for some of the staff's chats."""
    await OutboxRepository(tx).add([ticket_notification(chat_id, kind, payload, now, mark) for chat_id in chat_ids])


async def update_card(tx: Transaction, staff_chat: StaffChat, reference: str, now: datetime, *mark: object) -> None:
    """Queue the update of a ticket's card. The parts of `mark` say what has changed."""
    await notify_staff(tx, staff_chat, StaffNotification.CARD, AboutTicket(reference), now, mark=mark_of(*mark))


async def notify_of_step(tx: Transaction, staff_chat: StaffChat, ticket: Ticket, what: str, now: datetime) -> None:
    """Queue the line that tells support what was done with a ticket, which was just saved. It mentions its agent."""
    step = TicketStep(ticket.reference, what, ticket.claimed_by or 0)
    await notify_staff(tx, staff_chat, StaffNotification.STEP, step, now, mark=mark_of(what, ticket.version))


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
    """Queue a line about an entry for some chats. `mark` tells two of a kind about one entry apart."""
    payload = EntryRemark(entry.ticket, entry.number, what, by, before, why)
    whole_mark = mark_of(what, entry.number, *((mark,) if mark else ()))
    await notify_chats(tx, chat_ids, StaffNotification.REMARK, payload, now, mark=whole_mark)


async def other_staff_chats(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return the chats in which support works and doesn't see the message that the entry was made of."""
    source = await source_chat(tx, entry)
    return tuple(chat_id for chat_id in await staff_chat.chats(tx) if chat_id != source)


async def staff_chats_with_source(tx: Transaction, staff_chat: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Return the same chats, and that of the message itself."""
    return (await source_chat(tx, entry), *await other_staff_chats(tx, staff_chat, entry))


async def source_chat(tx: Transaction, entry: TicketEntry) -> int:
    """Return the chat of the message that the entry was made of, by the id that it has now."""
    return await MovedChatRepository(tx).current(entry.source_chat_id)
