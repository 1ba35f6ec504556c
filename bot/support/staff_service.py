"""Change tickets for support agents: claim, take over, reply, note, correct, close and reopen.

A reply and its notification are saved in one transaction. From then on it reaches the user exactly once. Agents see
that it was sent only after its delivery (`user_messages.py`). Telegram reports edits to bots, but not deletions in
these chats. So an agent withdraws a reply by a command.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction
from bot.support.model import CloseReason, EntryKind, IncomingMessage, Ticket, TicketEntry
from bot.support.notifications import (
    EDITED,
    AboutTicket,
    Remark,
    StaffNotification,
    TicketNotification,
    notify,
    notify_of_remark,
    notify_staff,
    notify_user,
    other_staff_chats,
    source_chat,
    staff_chats_with_source,
)
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.support.service import GONE, TicketService, add_entry, audit_ticket, check_hidden_number, check_none_open

CLAIM_LASTS: Final = timedelta(minutes=30)
"""How long a ticket without a reply stays its agent's who doesn't ask for it. Then it is the next agent's who does."""

PAUSED: Final = "paused"
"""What the audit log says of a ticket that was set aside."""

ANY_TIME: Final = timedelta(days=36500)
"""Support can reopen a ticket however long ago it was closed."""


class StaffTicketService(TicketService):
    """Change tickets for support agents. The caller checks that `by` is an agent.

    Raises:
        Rejection: there is no such ticket, or the change isn't possible. Every method raises it.
    """

    async def claim(self, reference: str, by: int) -> Ticket:
        """Claim a ticket, unless another agent holds it."""
        async with self._change(reference) as (tx, ticket, now):
            return await self._save_claim(tx, ticket, ticket.claim(by, now), by, now)

    async def claim_next(self, by: int) -> Ticket | None:
        """Claim the ticket that the agent works on next. Return None if none waits for them.

        Their own stays theirs as long as they ask. So no ticket is lost with its agent, and two never get the same.
        """
        async with self._database.transaction() as tx:
            now, agents = self._clock.now(), self._staff_chat.agent_ids
            ticket = await TicketRepository(tx).lock_next(by, agents, now - CLAIM_LASTS)
            return ticket and await self._save_claim(tx, ticket, ticket.take_over(by, now), by, now)

    async def pause(self, reference: str, by: int, until: datetime, status: str) -> Ticket:
        """Set a ticket aside until a time, or until its order no longer has this status. It is claimed first."""
        async with self._change(reference) as (tx, ticket, now):
            saved = await self._save(tx, ticket, ticket.pause(by, until, status, now), now)
            await audit_ticket(tx, saved, AuditAction.CHANGED, by=by, now=now, detail=PAUSED)
            return saved

    async def take_over(self, reference: str, by: int, note: IncomingMessage) -> Ticket | None:
        """Take a ticket over, with a note to the agent who held it. Return None if the note was saved before."""
        async with self._change(reference) as (tx, ticket, now):
            entry = await add_entry(tx, ticket, note, EntryKind.NOTE, by=by, now=now)
            if entry is None:
                return None
            saved = await self._save_claim(tx, ticket, ticket.take_over(by, now), by, now)
            before = ticket.claimed_by or 0
            chats = await staff_chats_with_source(tx, self._staff_chat, entry)
            before = before if before != by else 0
            await notify_of_remark(tx, chats, entry, Remark.TAKEN_OVER, now, by=by, before=before)
            return saved

    async def reply(
        self, reference: str, by: int, incoming: IncomingMessage, close_as: CloseReason | None = None
    ) -> TicketEntry | None:
        """Reply to the user, and claim an unclaimed ticket. Return None if the message was saved before.

        With a reason, the ticket is closed in the same transaction.

        Raises:
            Rejection: another agent holds the ticket, it is closed, or the reply quotes a number that is hidden from
                the user.
        """
        async with self._change(reference) as (tx, ticket, now):
            await check_hidden_number(tx, ticket, incoming.text)
            entry = await add_entry(tx, ticket, incoming, EntryKind.REPLY, by=by, now=now)
            if entry is not None:
                saved = await self._save(tx, ticket, ticket.record_reply(by, now), now)
                await self._queue_reply(tx, saved, entry, by, now)
                if close_as is not None:
                    await self._close(tx, saved, by, close_as, now)
            return entry

    async def ask_to_send(self, reference: str, by: int, incoming: IncomingMessage) -> TicketEntry | None:
        """Save what an agent wrote in the ticket's conversation, and ask them whether it is for the user.

        Return None if the message was saved before.
        """
        async with self._change(reference) as (tx, ticket, now):
            entry = await add_entry(tx, ticket, incoming, EntryKind.UNDECIDED, by=by, now=now)
            if entry is not None:
                about, chat = AboutTicket(reference, entry.number), await source_chat(tx, entry)
                await notify(tx, (chat,), StaffNotification.ASK_TO_SEND, about, now, entry.number)
            return entry

    async def send_undecided(self, reference: str, by: int, number: int) -> int:
        """Send to the user what `by` wrote up to the entry `number` and hasn't decided about. Return how many.

        0 means that it was decided before.

        Raises:
            Rejection: as `reply` does. Then nothing of it is sent.
        """
        async with self._change(reference) as (tx, ticket, now):
            undecided = await _find_undecided(tx, reference, by, number)
            saved = await self._save(tx, ticket, ticket.record_reply(by, now), now) if undecided else ticket
            for entry in undecided:
                await check_hidden_number(tx, saved, entry.text)
                sent = replace(entry, kind=EntryKind.REPLY)
                await TicketEntryRepository(tx).save(sent)
                await self._queue_reply(tx, saved, sent, by, now)
            return len(undecided)

    async def keep_undecided(self, reference: str, by: int, number: int) -> int:
        """Make notes of what `by` wrote up to the entry `number` and hasn't decided about. Return how many."""
        async with self._change(reference) as (tx, ticket, now):
            undecided = await _find_undecided(tx, reference, by, number)
            for entry in undecided:
                note = replace(entry, kind=EntryKind.NOTE)
                await TicketEntryRepository(tx).save(note)
                await self._queue_note(tx, ticket, note, by, now)
            return len(undecided)

    async def count_undecided(self, reference: str) -> int:
        """Return how many messages of agents in the conversation wait for a decision."""
        async with self._database.reading() as tx:
            entries = await TicketEntryRepository(tx).of_ticket(reference)
        return sum(entry.kind is EntryKind.UNDECIDED for entry in entries)

    async def retry_reply(self, reference: str, by: int, number: int) -> bool:
        """Send a reply again that couldn't be delivered. Return False if there is no such reply."""
        async with self._change(reference) as (tx, ticket, now):
            ticket.claim(by, now)
            entry = await TicketEntryRepository(tx).get(reference, number)
            if entry is None or entry.kind is not EntryKind.REPLY or not entry.failure or entry.withdrawn_at:
                return False
            await TicketEntryRepository(tx).save(replace(entry, failure=None))
            await notify_user(tx, ticket, TicketNotification.REPLY, number, now, number, _mark(now))
            await audit_ticket(tx, ticket, AuditAction.ANSWERED, by=by, now=now, detail=f"#{number}")
            return True

    async def add_note(self, reference: str, by: int, incoming: IncomingMessage) -> TicketEntry | None:
        """Save a note for support. Return None if the message was saved before."""
        async with self._change(reference) as (tx, ticket, now):
            entry = await add_entry(tx, ticket, incoming, EntryKind.NOTE, by=by, now=now)
            if entry is not None:
                await self._queue_note(tx, ticket, entry, by, now)
            return entry

    async def close(self, reference: str, by: int, reason: CloseReason) -> Ticket:
        """Close a ticket, and notify its user of the reason. An unclaimed ticket is claimed first."""
        async with self._change(reference) as (tx, ticket, now):
            return await self._close(tx, ticket, by, reason, now)

    async def _close(self, tx: Transaction, ticket: Ticket, by: int, reason: CloseReason, now: datetime) -> Ticket:
        saved = await self._save(tx, ticket, ticket.close(by, reason, now), now)
        await notify_user(tx, saved, TicketNotification.CLOSED, 0, now, saved.version)
        await audit_ticket(tx, saved, AuditAction.CLOSED, by=by, now=now, detail=str(reason))
        return saved

    async def reopen(self, reference: str, by: int) -> Ticket:
        """Reopen a closed ticket, and claim it."""
        async with self._change(reference) as (tx, ticket, now):
            await check_none_open(tx, ticket)
            return await self._save_claim(tx, ticket, ticket.reopen(now, ANY_TIME).take_over(by, now), by, now)

    async def find(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """Return the entry of an original message."""
        async with self._database.reading() as tx:
            return await TicketEntryRepository(tx).of_source(chat_id, message_id)

    async def edit(self, entry: TicketEntry, by: int, incoming: IncomingMessage) -> bool:
        """Save the edited content, and update all copies. Return False if nothing has changed.

        Raises:
            Rejection: the entry was withdrawn, or a reply now quotes a number that is hidden from the user.
        """
        async with self._change(entry.ticket) as (tx, ticket, now):
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or _is_same(known, incoming):
                return False
            if known.withdrawn_at is not None:
                raise Rejection("support.unsend.already")
            if known.kind is EntryKind.REPLY:
                await check_hidden_number(tx, ticket, incoming.text)
            edited = replace(known, text=incoming.text, media=incoming.media, file_id=incoming.file_id, edited_at=now)
            await TicketEntryRepository(tx).save(edited)
            number, mark = edited.number, (edited.number, _mark(now))
            if edited.kind is EntryKind.ASKED:
                await self._save(tx, ticket, replace(ticket, has_payee=ticket.has_payee or incoming.has_payee), now)
                about = AboutTicket(ticket.reference, number, EDITED, ticket.claimed_by or 0)
                await notify_staff(tx, self._staff_chat, StaffNotification.ENTRY, about, now, *mark)
                return True
            if edited.kind is EntryKind.REPLY:
                await notify_user(tx, ticket, TicketNotification.REPLY_EDITED, number, now, *mark)
            await audit_ticket(tx, ticket, AuditAction.EDITED, by=by, now=now, detail=f"#{number}")
            return True

    async def withdraw(self, entry: TicketEntry, by: int) -> bool:
        """Withdraw a reply from its user. Return False if it was withdrawn before.

        Raises:
            Rejection: the entry isn't a reply, or is another agent's.
        """
        async with self._change(entry.ticket) as (tx, ticket, now):
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or known.kind is not EntryKind.REPLY:
                raise Rejection("support.unsend.no_reply")
            if known.author_id != by:
                raise Rejection("support.unsend.not_author")
            if known.withdrawn_at is not None:
                return False
            await TicketEntryRepository(tx).save(replace(known, withdrawn_at=now))
            await notify_user(tx, ticket, TicketNotification.REPLY_WITHDRAWN, known.number, now, known.number)
            await audit_ticket(tx, ticket, AuditAction.WITHDREW, by=by, now=now, detail=f"#{known.number}")
            return True

    async def _queue_reply(self, tx: Transaction, ticket: Ticket, entry: TicketEntry, by: int, now: datetime) -> None:
        await notify_user(tx, ticket, TicketNotification.REPLY, entry.number, now, entry.number)
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


def _mark(now: datetime) -> int:
    """Return another mark for each attempt."""
    return int(now.timestamp() * 1_000_000)


async def _find_undecided(tx: Transaction, reference: str, by: int, number: int) -> tuple[TicketEntry, ...]:
    """Return what `by` wrote up to the entry `number` and hasn't decided about.

    Raises:
        Rejection: there is no such entry, or another agent wrote it.
    """
    newest = await TicketEntryRepository(tx).get(reference, number)
    if newest is None:
        raise Rejection(GONE)
    if newest.author_id != by:
        raise Rejection("support.staff.only_author_decides")
    undecided = await TicketEntryRepository(tx).undecided_of(reference, by)
    return tuple(entry for entry in undecided if entry.number <= number)


def _is_same(entry: TicketEntry, incoming: IncomingMessage) -> bool:
    """Return whether the content is the same. Telegram reports a new link preview as an edit, too."""
    return (entry.text, entry.media, entry.file_id) == (incoming.text, incoming.media, incoming.file_id)
