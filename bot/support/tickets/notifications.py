"""News of tickets as rows of the outbox: to the room where support works, and to the ticket's person.

Written in the transaction that changes the ticket. A kind's mark (an entry's number, the ticket's version) tells two
of a kind apart, so that nothing is told twice.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Kind, Notification, Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.roles import StaffChat
from bot.support.ticket import Ticket

TICKET_SUBJECT: Final = "ticket:"


class ToStaffChat(StrEnum):
    """What support hears."""

    HEAD = "ticket_head"  # opens the topic (or the thread of replies) with the card
    CARD = "ticket_card"  # the card has changed
    ENTRY = "ticket_entry"  # the person wrote something
    EDITED = "ticket_entry_edited"  # the person has changed what they wrote
    STEP = "ticket_step"  # the person or the order has changed the ticket, and somebody should look
    REMARK = "ticket_remark"  # what became of something, in one line
    WAITS = "ticket_waits"  # nobody has answered for too long
    FORGOTTEN = "ticket_forgotten"  # its person was: what stands of it here goes
    WAITS_LONG = "ticket_waits_long"  # and nobody did after that was said: for the operators


class ToUser(StrEnum):
    """What the ticket's person hears."""

    OPENED = "ticket_opened"  # one was opened by itself
    ANSWER = "ticket_answer"
    ANSWER_EDITED = "ticket_answer_edited"
    ANSWER_WITHDRAWN = "ticket_answer_withdrawn"
    CLOSED = "ticket_closed"


def subject_of_ticket(reference: str) -> str:
    """What all news of a ticket are filed under."""
    return TICKET_SUBJECT + reference


def ticket_in(subject: str) -> str:
    """The reference in a subject made by `subject_of_ticket`."""
    return subject.removeprefix(TICKET_SUBJECT)


async def tell_room(
    tx: Transaction, room: StaffChat, ticket: Ticket, kind: str, now: datetime, **payload: object
) -> None:
    """Queue news for wherever support works; `payload` holds masked facts."""
    await tell_chats(tx, await room.chats(tx), ticket.reference, kind, now, **payload)


async def tell_step(tx: Transaction, room: StaffChat, ticket: Ticket, what: str, now: datetime) -> None:
    """Queue the line that tells support what was done with a ticket as it has just been saved; calls its holder."""
    kind = marked(ToStaffChat.STEP, f"{what}.{ticket.version}")
    await tell_room(tx, room, ticket, kind, now, what=what, ping=ticket.claimed_by or 0)


async def tell_chats(
    tx: Transaction, chat_ids: Iterable[int], reference: str, kind: str, now: datetime, **payload: object
) -> None:
    """Queue news of a ticket for some of support's chats."""
    await OutboxRepository(tx).add(
        [ticket_notification(chat_id, reference, kind, now, payload) for chat_id in chat_ids]
    )


async def tell_person(tx: Transaction, ticket: Ticket, kind: str, now: datetime, **payload: object) -> None:
    """Queue news for the ticket's person."""
    await OutboxRepository(tx).add([ticket_notification(ticket.person_id, ticket.reference, kind, now, payload)])


def marked(kind: ToStaffChat | ToUser, mark: object) -> str:
    """The kind of one of several that a ticket may have of it."""
    return str(Kind(kind, str(mark)))


def ticket_notification(
    chat_id: int, reference: str, kind: str, now: datetime, payload: Mapping[str, object]
) -> Notification:
    """Return the row of the outbox.

    All that support and users write to each other goes through one queue, so that it keeps its order. That a ticket
    has opened follows a message about money, so it waits in the queue of that.
    """
    return Notification(
        chat_id=chat_id,
        subject=subject_of_ticket(reference),
        kind=str(kind),
        queue=Queue.MONEY if Kind.parse(kind).name == ToUser.OPENED else Queue.EXTRA,
        payload=payload,
        due_at=now,
        created_at=now,
    )
