"""Edit and withdraw messages of tickets after they were sent.

Telegram reports edits to bots, but not deletions in these chats. So an agent withdraws a reply by a command.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import format_mark
from bot.staff.model import AuditAction
from bot.support.model import EntryKind, IncomingMessage, TicketEntry
from bot.support.notification_kinds import AboutEntry, StaffNotification, TicketNotification, UserEntry
from bot.support.notification_queue import notify_staff, notify_user
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.service import TicketService, audit_ticket, check_hidden_number


class TicketCorrectionService(TicketService):
    """Edit and withdraw messages of tickets. For replies and notes, the caller checks that the author is an agent."""

    async def find(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """Return the entry of an original message."""
        async with self._database.reading() as tx:
            return await TicketEntryRepository(tx).of_source(chat_id, message_id)

    async def edit(self, entry: TicketEntry, by: int, incoming: IncomingMessage) -> bool:
        """Save the edited content, and update all copies. Return False if nothing has changed.

        Raises:
            Rejection: the entry was withdrawn, or a reply now quotes a number that is hidden from the user.
        """

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or _is_same(known, incoming):
                return False
            if known.withdrawn_at is not None:
                raise Rejection("support.ticket.taken_back_already")
            if known.kind is EntryKind.REPLY:
                await check_hidden_number(tx, ticket, incoming.text)
            edited = replace(known, text=incoming.text, media=incoming.media, file_id=incoming.file_id, edited_at=now)
            await TicketEntryRepository(tx).save(edited)
            await self._notify_of_edit(tx, ticket, edited, now)
            if edited.kind is not EntryKind.ASKED:
                await audit_ticket(tx, ticket, AuditAction.EDITED, by=by, now=now, detail=f"#{edited.number}")
            return True

        return await self._change(entry.ticket, change)

    async def withdraw(self, entry: TicketEntry, by: int) -> bool:
        """Withdraw a reply from its user. Return False if it was withdrawn before.

        Raises:
            Rejection: the entry isn't a reply, or is another agent's.
        """

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or known.kind is not EntryKind.REPLY:
                raise Rejection("support.ticket.no_answer")
            if known.author_id != by:
                raise Rejection("support.ticket.answer_of_another")
            if known.withdrawn_at is not None:
                return False
            await TicketEntryRepository(tx).save(replace(known, withdrawn_at=now))
            payload = AboutEntry(ticket.reference, known.number)
            await notify_user(
                tx, ticket, TicketNotification.REPLY_WITHDRAWN, payload, now, mark=format_mark(known.number)
            )
            await audit_ticket(tx, ticket, AuditAction.WITHDREW, by=by, now=now, detail=f"#{known.number}")
            return True

        return await self._change(entry.ticket, change)

    async def _notify_of_edit(self, tx: Transaction, ticket: Ticket, edited: TicketEntry, now: datetime) -> None:
        mark = format_mark(edited.number, int(now.timestamp() * 1_000_000))
        if edited.kind is EntryKind.REPLY:
            payload = AboutEntry(ticket.reference, edited.number)
            await notify_user(tx, ticket, TicketNotification.REPLY_EDITED, payload, now, mark=mark)
        elif edited.kind is EntryKind.ASKED:
            entry = UserEntry(ticket.reference, edited.number, ticket.claimed_by or 0)
            await notify_staff(tx, self._staff_chat, StaffNotification.EDITED, entry, now, mark=mark)


def _is_same(entry: TicketEntry, incoming: IncomingMessage) -> bool:
    """Return whether the content is the same. Telegram reports a new link preview as an edit, too."""
    return (entry.text, entry.media, entry.file_id) == (incoming.text, incoming.media, incoming.file_id)
