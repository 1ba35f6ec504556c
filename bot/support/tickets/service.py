"""What all services of tickets share: a change is read, decided and saved in one transaction, with its notifications.

Where another process has saved the ticket meanwhile, the change is decided again on what that has saved.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeVar

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.model import EntryKind, IncomingMessage, TicketEntry
from bot.support.notifications.queueing import ticket_subject, update_card
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository

T = TypeVar("T")
Change = Callable[[Transaction, Ticket, datetime], Awaitable[T]]
"""Takes the ticket as it is within the transaction. What it raises undoes all of it."""

GONE: Final = "staff.gone"


class ConcurrentChange(Exception):
    """The ticket was saved elsewhere since it was read. Nothing of this attempt is saved."""


class TicketService:
    """Change tickets; `wake_outbox` is called after each change that was saved."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        wake_outbox: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._staff_chat = staff_chat
        self._wake_outbox = wake_outbox

    async def _change(self, reference: str, change: Change[T]) -> T:
        """Return what `change` returns for the ticket.

        Raises:
            Rejection: there is no such ticket, or `change` rejects it.
        """

        async def attempt(tx: Transaction) -> T:
            ticket = await TicketRepository(tx).get(reference)
            if ticket is None:
                raise Rejection(GONE)
            return await change(tx, ticket, self._clock.now())

        return await self._commit(attempt)

    async def _commit(self, attempt: Callable[[Transaction], Awaitable[T]]) -> T:
        """Return what `attempt` returns, in another transaction each time that it raises `Overtaken`."""
        while True:
            try:
                async with self._database.transaction() as tx:
                    result = await attempt(tx)
            except ConcurrentChange:
                continue
            self._wake_outbox()
            return result

    async def _save(self, tx: Transaction, before: Ticket, after: Ticket, now: datetime) -> Ticket:
        """Save a changed ticket and update its cards. Do nothing if nothing has changed.

        Raises:
            Overtaken: the ticket is no longer as `before`.
        """
        if after == before:
            return before
        saved = await TicketRepository(tx).save(after)
        if saved is None:
            raise ConcurrentChange
        await update_card(tx, self._staff_chat, saved.reference, now, saved.version)
        return saved


async def check_none_open(tx: Transaction, ticket: Ticket) -> None:
    """Check that a closed ticket may be opened again.

    Raises:
        Rejection: another ticket is open about the same.
    """
    if not ticket.is_open and await TicketRepository(tx).open_of(ticket.user_id, ticket.order_reference) is not None:
        raise Rejection("ticket.another_open")


async def add_entry(
    tx: Transaction, ticket: Ticket, incoming: IncomingMessage, kind: EntryKind, *, by: int, now: datetime
) -> TicketEntry | None:
    """Save what was written in a ticket; return None if that message was saved before."""
    return await TicketEntryRepository(tx).add(
        TicketEntry(
            ticket=ticket.reference,
            number=0,
            kind=kind,
            author_id=by,
            at=now,
            text=incoming.text,
            media=incoming.media,
            file_id=incoming.file_id,
            source_chat_id=incoming.chat_id,
            source_message_id=incoming.message_id,
        )
    )


async def audit_ticket(
    tx: Transaction, ticket: Ticket, action: AuditAction, *, by: int, now: datetime, detail: str = ""
) -> None:
    """Record in the audit log who did what; `detail` never holds what anybody wrote."""
    subject = ticket_subject(ticket.reference)
    await record_audit(tx, by, action, subject, now, user_id=ticket.user_id, detail=detail)
