"""One step of a ticket: read, decided and saved in one transaction, anew where somebody else was faster."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeVar

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.roles import StaffChat
from bot.support.model import EntryKind, TicketEntry, Written
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ToStaffChat, marked, subject_of_ticket, tell_room
from bot.support.tickets.repository import TicketRepository

T = TypeVar("T")
Step = Callable[[Transaction, Ticket, datetime], Awaitable[T]]
"""Takes the ticket as it is within the transaction; what it raises undoes the whole."""

GONE: Final = "staff.gone"


class Overtaken(Exception):
    """Somebody else has saved the ticket since it was read: nothing of this attempt is kept."""


async def step_of(store: Database, clock: Clock, reference: str, step: Step[T]) -> T:
    """What `step` makes of the ticket. It is repeated as often as somebody else was faster, and sees what they did.

    Raises:
        Rejection: there is no such ticket, or the step refuses it.
    """

    async def attempt(tx: Transaction) -> T:
        ticket = await TicketRepository(tx).get(reference)
        if ticket is None:
            raise Rejection(GONE)
        return await step(tx, ticket, clock.now())

    return await repeated(store, attempt)


async def repeated(store: Database, attempt: Callable[[Transaction], Awaitable[T]]) -> T:
    """What `attempt` brings, in a transaction of its own each time that it raises `Overtaken`."""
    while True:
        try:
            async with store.transaction() as tx:
                return await attempt(tx)
        except Overtaken:
            continue


async def saved(tx: Transaction, room: StaffChat, before: Ticket, after: Ticket, now: datetime) -> Ticket:
    """Keep a ticket's step, and let its cards follow; nothing, where it changes nothing.

    Raises:
        Overtaken: `before` isn't how it is any more.
    """
    if after == before:
        return before
    kept = await TicketRepository(tx).save(after)
    if kept is None:
        raise Overtaken
    await tell_room(tx, room, kept, marked(ToStaffChat.CARD, kept.version), now)
    return kept


async def entered(
    tx: Transaction, ticket: Ticket, written: Written, kind: EntryKind, *, by: int, now: datetime
) -> TicketEntry | None:
    """Take in what somebody wrote; None where that message was taken in before."""
    return await TicketEntryRepository(tx).add(
        TicketEntry(
            ticket=ticket.reference,
            number=0,
            kind=kind,
            author_id=by,
            at=now,
            text=written.text,
            media=written.media,
            file_id=written.file_id,
            source_chat_id=written.chat_id,
            source_message_id=written.message_id,
        )
    )


async def audited(
    tx: Transaction, ticket: Ticket, action: AuditAction, *, by: int, now: datetime, detail: str = ""
) -> None:
    """Write down who did what; `detail` never holds what anybody wrote."""
    subject = subject_of_ticket(ticket.reference)
    await record_audit(tx, by, action, subject, now, person_id=ticket.person_id, detail=detail)
