"""Change tickets for support agents: claim, take over, reply, note, close and reopen.

A reply and its notification are saved in one transaction. From then on it reaches the user exactly once. Agents see
that it was sent only after its delivery (`notifications/replies.py`).
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import format_mark
from bot.staff.model import AuditAction
from bot.support.model import EntryKind, IncomingMessage, TicketEntry
from bot.support.notification_kinds import AboutEntry, AboutTicket, Remark, StaffNotification, TicketNotification
from bot.support.notification_queue import (
    notify_chats,
    notify_of_remark,
    notify_user,
    other_staff_chats,
    source_chat,
    staff_chats_with_source,
)
from bot.support.ticket import CloseReason, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.service import (
    TicketService,
    add_entry,
    audit_ticket,
    check_hidden_number,
    check_none_open,
)

ANY_TIME: Final = timedelta(days=36500)
"""Support can reopen a ticket however long ago it was closed."""


class StaffTicketService(TicketService):
    """Change tickets for support agents. The caller checks that `by` is an agent.

    Raises:
        Rejection: there is no such ticket, or the change isn't possible. Every method raises it.
    """

    async def claim(self, reference: str, by: int) -> Ticket:
        """Claim a ticket, unless another agent holds it."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            return await self._save_claim(tx, ticket, ticket.claim(by, now), by, now)

        return await self._change(reference, change)

    async def take_over(self, reference: str, by: int, note: IncomingMessage) -> Ticket | None:
        """Take a ticket over, with a note to the agent who held it. Return None if the note was saved before."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket | None:
            entry = await add_entry(tx, ticket, note, EntryKind.NOTE, by=by, now=now)
            if entry is None:
                return None
            saved = await self._save_claim(tx, ticket, ticket.take_over(by, now), by, now)
            before = ticket.claimed_by or 0
            chats = await staff_chats_with_source(tx, self._staff_chat, entry)
            await notify_of_remark(
                tx, chats, entry, Remark.TAKEN_OVER, now, by=by, before=before if before != by else 0
            )
            return saved

        return await self._change(reference, change)

    async def reply(self, reference: str, by: int, incoming: IncomingMessage) -> TicketEntry | None:
        """Reply to the user, and claim an unclaimed ticket. Return None if the message was saved before.

        Raises:
            Rejection: another agent holds the ticket, it is closed, or the reply quotes a number that is hidden from
                the user.
        """

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> TicketEntry | None:
            await check_hidden_number(tx, ticket, incoming.text)
            entry = await add_entry(tx, ticket, incoming, EntryKind.REPLY, by=by, now=now)
            if entry is None:
                return None
            saved = await self._save(tx, ticket, ticket.record_reply(by, now), now)
            await self._queue_reply(tx, saved, entry, by, now)
            return entry

        return await self._change(reference, change)

    async def ask_to_send(self, reference: str, by: int, incoming: IncomingMessage) -> TicketEntry | None:
        """Save what an agent wrote in the ticket's conversation, and ask them whether it is for the user.

        Return None if the message was saved before.
        """

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> TicketEntry | None:
            entry = await add_entry(tx, ticket, incoming, EntryKind.UNDECIDED, by=by, now=now)
            if entry is not None:
                about, mark = AboutEntry(reference, entry.number), format_mark(entry.number)
                chat = await source_chat(tx, entry)
                await notify_chats(tx, (chat,), StaffNotification.ASK_TO_SEND, about, now, mark=mark)
            return entry

        return await self._change(reference, change)

    async def send_undecided(self, reference: str, by: int, number: int) -> int:
        """Send to the user what `by` wrote up to the entry `number` and hasn't decided about. Return how many.

        0 means that it was decided before.

        Raises:
            Rejection: as `reply` does. Then nothing of it is sent.
        """

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> int:
            undecided = await _find_undecided(tx, reference, by, number)
            if not undecided:
                return 0
            saved = await self._save(tx, ticket, ticket.record_reply(by, now), now)
            for entry in undecided:
                await check_hidden_number(tx, saved, entry.text)
                sent = replace(entry, kind=EntryKind.REPLY)
                await TicketEntryRepository(tx).save(sent)
                await self._queue_reply(tx, saved, sent, by, now)
            return len(undecided)

        return await self._change(reference, change)

    async def keep_undecided(self, reference: str, by: int, number: int) -> int:
        """Make notes of what `by` wrote up to the entry `number` and hasn't decided about. Return how many."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> int:
            undecided = await _find_undecided(tx, reference, by, number)
            for entry in undecided:
                note = replace(entry, kind=EntryKind.NOTE)
                await TicketEntryRepository(tx).save(note)
                await self._queue_note(tx, ticket, note, by, now)
            return len(undecided)

        return await self._change(reference, change)

    async def count_undecided(self, reference: str) -> int:
        """Return how many messages of agents in the conversation wait for a decision."""
        async with self._database.reading() as tx:
            entries = await TicketEntryRepository(tx).of_ticket(reference)
        return sum(entry.kind is EntryKind.UNDECIDED for entry in entries)

    async def retry_reply(self, reference: str, by: int, number: int) -> bool:
        """Send a reply again that couldn't be delivered. Return False if there is no such reply."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            ticket.claim(by, now)
            entry = await TicketEntryRepository(tx).get(reference, number)
            if entry is None or entry.kind is not EntryKind.REPLY or not entry.failure or entry.withdrawn_at:
                return False
            await TicketEntryRepository(tx).save(replace(entry, failure=None))
            about = AboutEntry(reference, number)
            mark = format_mark(number, int(now.timestamp() * 1_000_000))  # another one for each attempt
            await notify_user(tx, ticket, TicketNotification.REPLY, about, now, mark=mark)
            await audit_ticket(tx, ticket, AuditAction.ANSWERED, by=by, now=now, detail=f"#{number}")
            return True

        return await self._change(reference, change)

    async def add_note(self, reference: str, by: int, incoming: IncomingMessage) -> TicketEntry | None:
        """Save a note for support. Return None if the message was saved before."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> TicketEntry | None:
            entry = await add_entry(tx, ticket, incoming, EntryKind.NOTE, by=by, now=now)
            if entry is not None:
                await self._queue_note(tx, ticket, entry, by, now)
            return entry

        return await self._change(reference, change)

    async def close(self, reference: str, by: int, reason: CloseReason) -> Ticket:
        """Close a ticket, and notify its user of the reason. An unclaimed ticket is claimed first."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            saved = await self._save(tx, ticket, ticket.close(by, reason, now), now)
            about = AboutTicket(reference)
            await notify_user(tx, saved, TicketNotification.CLOSED, about, now, mark=format_mark(saved.version))
            await audit_ticket(tx, saved, AuditAction.CLOSED, by=by, now=now, detail=str(reason))
            return saved

        return await self._change(reference, change)

    async def reopen(self, reference: str, by: int) -> Ticket:
        """Reopen a closed ticket, and claim it."""

        async def change(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            await check_none_open(tx, ticket)
            return await self._save_claim(tx, ticket, ticket.reopen(now, ANY_TIME).take_over(by, now), by, now)

        return await self._change(reference, change)

    async def _queue_reply(self, tx: Transaction, ticket: Ticket, entry: TicketEntry, by: int, now: datetime) -> None:
        about, mark = AboutEntry(entry.ticket, entry.number), format_mark(entry.number)
        await notify_user(tx, ticket, TicketNotification.REPLY, about, now, mark=mark)
        others = await other_staff_chats(tx, self._staff_chat, entry)
        await notify_of_remark(tx, others, entry, Remark.REPLIED, now, by=by)
        await audit_ticket(tx, ticket, AuditAction.ANSWERED, by=by, now=now, detail=f"#{entry.number}")

    async def _queue_note(self, tx: Transaction, ticket: Ticket, entry: TicketEntry, by: int, now: datetime) -> None:
        others = await other_staff_chats(tx, self._staff_chat, entry)
        await notify_of_remark(tx, others, entry, Remark.NOTED, now, by=by)
        await audit_ticket(tx, ticket, AuditAction.NOTED, by=by, now=now, detail=f"#{entry.number}")

    async def _save_claim(self, tx: Transaction, before: Ticket, after: Ticket, by: int, now: datetime) -> Ticket:
        if after == before:
            return before
        saved = await self._save(tx, before, after, now)
        await audit_ticket(tx, saved, AuditAction.CLAIMED, by=by, now=now)
        return saved


async def _find_undecided(tx: Transaction, reference: str, by: int, number: int) -> tuple[TicketEntry, ...]:
    """Return what `by` wrote up to the entry `number` and hasn't decided about.

    Raises:
        Rejection: there is no such entry, or another agent wrote it.
    """
    newest = await TicketEntryRepository(tx).get(reference, number)
    if newest is None:
        raise Rejection("support.staff.gone")
    if newest.author_id != by:
        raise Rejection("support.staff.only_author_decides")
    undecided = await TicketEntryRepository(tx).undecided_of(reference, by)
    return tuple(entry for entry in undecided if entry.number <= number)
