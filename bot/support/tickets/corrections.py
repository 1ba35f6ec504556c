"""What was written and is changed afterwards: corrected by its author, or taken back.

Telegram tells bots of corrections, and never of deletions in these chats: an answer is taken back by saying so.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction
from bot.staff.roles import StaffChat
from bot.support.model import EntryKind, TicketEntry, Written
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, tell_person, tell_room
from bot.support.tickets.steps import audited, step_of


class TicketCorrections:
    """Whoever calls has seen that staff who change an answer or a note are supporters still."""

    def __init__(
        self, store: Database, clock: Clock, room: StaffChat, on_news: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._clock = clock
        self._room = room
        self._on_news = on_news

    async def entry_of(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """What was made of this message."""
        async with self._store.reading() as tx:
            return await TicketEntryRepository(tx).of_source(chat_id, message_id)

    async def edit(self, entry: TicketEntry, by: int, written: Written) -> bool:
        """Keep what the message says by now, and show it wherever it was shown; whether anything has changed.

        Raises:
            Rejection: it was taken back.
        """

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or _is_as(known, written):
                return False
            if known.withdrawn_at is not None:
                raise Rejection("ticket.taken_back_already")
            edited = replace(known, text=written.text, media=written.media, file_id=written.file_id, edited_at=now)
            await TicketEntryRepository(tx).save(edited)
            await self._tell_edited(tx, ticket, edited, now)
            if edited.kind is not EntryKind.ASKED:
                await audited(tx, ticket, AuditAction.EDITED, by=by, now=now, detail=f"#{edited.number}")
            return True

        changed = await step_of(self._store, self._clock, entry.ticket, step)
        self._on_news()
        return changed

    async def withdraw(self, entry: TicketEntry, by: int) -> bool:
        """Take an answer back from its person; False where it was taken back before.

        Raises:
            Rejection: it is no answer, or somebody else's.
        """

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            known = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
            if known is None or known.kind is not EntryKind.ANSWER:
                raise Rejection("ticket.no_answer")
            if known.author_id != by:
                raise Rejection("ticket.answer_of_another")
            if known.withdrawn_at is not None:
                return False
            await TicketEntryRepository(tx).save(replace(known, withdrawn_at=now))
            await tell_person(tx, ticket, marked(ToUser.ANSWER_WITHDRAWN, known.number), now, entry=known.number)
            await audited(tx, ticket, AuditAction.WITHDREW, by=by, now=now, detail=f"#{known.number}")
            return True

        withdrawn = await step_of(self._store, self._clock, entry.ticket, step)
        self._on_news()
        return withdrawn

    async def _tell_edited(self, tx: Transaction, ticket: Ticket, edited: TicketEntry, now: datetime) -> None:
        mark = f"{edited.number}.{int(now.timestamp() * 1_000_000)}"
        if edited.kind is EntryKind.ANSWER:
            await tell_person(tx, ticket, marked(ToUser.ANSWER_EDITED, mark), now, entry=edited.number)
        elif edited.kind is EntryKind.ASKED:
            await tell_room(
                tx,
                self._room,
                ticket,
                marked(ToStaffChat.EDITED, mark),
                now,
                entry=edited.number,
                ping=ticket.claimed_by,
            )


def _is_as(entry: TicketEntry, written: Written) -> bool:
    """Whether nothing has changed: Telegram also reports a link's preview as a correction."""
    return (entry.text, entry.media, entry.file_id) == (written.text, written.media, written.file_id)
