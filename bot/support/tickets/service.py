"""The base of all services of tickets.

A change reads the ticket, decides and saves in one transaction, with its notifications. If another process has saved
the ticket since, the change is tried again with the newer ticket.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeVar

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.repository import OrderRepository
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.model import EntryKind, IncomingMessage, TicketEntry
from bot.support.notification_queue import ticket_subject, update_card
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository

T = TypeVar("T")
Change = Callable[[Transaction, Ticket, datetime], Awaitable[T]]
"""Changes the ticket that was read in the transaction. If it raises, nothing is saved."""

GONE: Final = "support.staff.gone"
HIDDEN_NUMBER: Final = "support.staff.refusal.hidden_number"

_TAG: Final = re.compile(r"<[^>]*>")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s.()+'-]+(?=\d)")


class ConcurrentChange(Exception):
    """The ticket was saved by others since it was read. Nothing of this attempt is saved."""


class TicketService:
    """Change tickets."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
    ) -> None:
        self._database = database
        self._clock = clock
        self._staff_chat = staff_chat

    async def _change(self, reference: str, change: Change[T]) -> T:
        """Change a ticket, and return the result of `change`.

        Raises:
            Rejection: there is no such ticket, or `change` raised it.
        """

        async def attempt(tx: Transaction) -> T:
            ticket = await TicketRepository(tx).get(reference)
            if ticket is None:
                raise Rejection(GONE)
            return await change(tx, ticket, self._clock.now())

        return await self._commit(attempt)

    async def _commit(self, attempt: Callable[[Transaction], Awaitable[T]]) -> T:
        """Return the result of `attempt`. Try again in a new transaction while it raises `ConcurrentChange`."""
        while True:
            try:
                async with self._database.transaction() as tx:
                    return await attempt(tx)
            except ConcurrentChange:
                continue

    async def _save(self, tx: Transaction, before: Ticket, after: Ticket, now: datetime) -> Ticket:
        """Save a changed ticket and update its cards. Do nothing if nothing has changed.

        Raises:
            ConcurrentChange: the saved ticket is no longer `before`.
        """
        if after == before:
            return before
        saved = await TicketRepository(tx).save(after)
        if saved is None:
            raise ConcurrentChange
        await update_card(tx, self._staff_chat, saved.reference, now, saved.version)
        return saved


async def check_none_open(tx: Transaction, ticket: Ticket) -> None:
    """Check that no other ticket is open about the same, before a closed ticket is reopened.

    Raises:
        Rejection: another ticket is open.
    """
    if not ticket.is_open and await TicketRepository(tx).open_of(ticket.user_id, ticket.order_reference) is not None:
        raise Rejection("support.ticket.another_open")


async def check_hidden_number(tx: Transaction, ticket: Ticket, text: str | None) -> None:
    """Check that a reply doesn't quote the whole number of a recipient whom the ticket's user may not see.

    Raises:
        Rejection: it does. What a picture shows can't be checked.
    """
    reference = ticket.order_reference
    order = await OrderRepository(tx).get_if_readable(reference) if reference else None
    if order is None or not order.hides_recipient or not order.has_recipient:
        return
    digits = _BETWEEN_DIGITS.sub("", _TAG.sub("", text or ""))
    if order.number.lstrip("0") in digits:  # +62 812 … is 0812 …
        raise Rejection(HIDDEN_NUMBER)


async def add_entry(
    tx: Transaction, ticket: Ticket, incoming: IncomingMessage, kind: EntryKind, *, by: int, now: datetime
) -> TicketEntry | None:
    """Save a message in a ticket. Return None if it was saved before."""
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
    """Record an action in the audit log. `detail` never contains a message's text."""
    subject = ticket_subject(ticket.reference)
    await record_audit(tx, by, action, subject, now, user_id=ticket.user_id, detail=detail)
