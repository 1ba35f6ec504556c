"""Support at work on a ticket: claimed, taken over, answered, noted, closed, opened again.

An answer and the news of it are kept in one transaction: from then on it reaches the person whatever happens, once.
What became of it is known from there alone (`ticket_relay`); until then nobody says that it was sent.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction
from bot.staff.roles import StaffChat
from bot.support.model import EntryKind, TicketEntry, Written
from bot.support.ticket import CloseReason, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ToUser, marked, tell_person
from bot.support.tickets.remarks import Remark, elsewhere, everywhere, remark
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.steps import T, audited, entered, saved, step_of

ANY_TIME: Final = timedelta(days=36500)
"""Support may open a ticket again however long ago it was closed."""


class TicketReplies:
    """What support does with tickets. Whoever calls has seen that `by` is one of the supporters.

    Everything raises `Rejection` where there is no such ticket, or the step can't be taken with it as it is.
    """

    def __init__(
        self, store: Database, clock: Clock, room: StaffChat, on_news: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._clock = clock
        self._room = room
        self._on_news = on_news

    async def claim(self, reference: str, by: int) -> Ticket:
        """Take it on. Who holds it already keeps it; held by another, it is refused."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            return await self._held(tx, ticket, ticket.claim(by, now), by, now)

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def take_over(self, reference: str, by: int, note: Written) -> Ticket | None:
        """Take it on from whoever holds it, who hears of it with the note; None where that was taken in before."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket | None:
            entry = await entered(tx, ticket, note, EntryKind.NOTE, by=by, now=now)
            if entry is None:
                return None
            kept = await self._held(tx, ticket, ticket.take_over(by, now), by, now)
            before = ticket.claimed_by or 0
            where = await everywhere(tx, self._room, entry)
            await remark(tx, where, entry, Remark.TAKEN_OVER, now, by=by, before=before if before != by else 0)
            return kept

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def answer(self, reference: str, by: int, written: Written) -> TicketEntry | None:
        """Answer its person; None where that message was taken in before. Claims a ticket that nobody holds."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> TicketEntry | None:
            entry = await entered(tx, ticket, written, EntryKind.ANSWER, by=by, now=now)
            if entry is None:
                return None
            kept = await saved(tx, self._room, ticket, ticket.record_reply(by, now), now)
            await tell_person(tx, kept, marked(ToUser.ANSWER, entry.number), now, entry=entry.number)
            await remark(tx, await elsewhere(tx, self._room, entry), entry, Remark.ANSWERED, now, by=by)
            await audited(tx, kept, AuditAction.ANSWERED, by=by, now=now, detail=f"#{entry.number}")
            return entry

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def answer_again(self, reference: str, by: int, number: int) -> bool:
        """Try once more to bring an answer that couldn't be brought; False where it isn't such a one any more."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> bool:
            ticket.claim(by, now)
            entry = await TicketEntryRepository(tx).get(reference, number)
            if entry is None or entry.kind is not EntryKind.ANSWER or not entry.failure or entry.withdrawn_at:
                return False
            await TicketEntryRepository(tx).save(replace(entry, failure=None))
            await tell_person(tx, ticket, marked(ToUser.ANSWER, f"{number}.{_stamp(now)}"), now, entry=number)
            await audited(tx, ticket, AuditAction.ANSWERED, by=by, now=now, detail=f"#{number}")
            return True

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def note(self, reference: str, by: int, written: Written) -> TicketEntry | None:
        """Keep what only support is to read, in any ticket; None where that message was taken in before."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> TicketEntry | None:
            entry = await entered(tx, ticket, written, EntryKind.NOTE, by=by, now=now)
            if entry is not None:
                await remark(tx, await elsewhere(tx, self._room, entry), entry, Remark.NOTED, now, by=by)
                await audited(tx, ticket, AuditAction.NOTED, by=by, now=now, detail=f"#{entry.number}")
            return entry

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def close(self, reference: str, by: int, reason: CloseReason) -> Ticket:
        """Close it, and tell its person why. Claims a ticket that nobody holds."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            kept = await saved(tx, self._room, ticket, ticket.close(by, reason, now), now)
            await tell_person(tx, kept, marked(ToUser.CLOSED, kept.version), now, reason=str(reason))
            await audited(tx, kept, AuditAction.CLOSED, by=by, now=now, detail=str(reason))
            return kept

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def reopen(self, reference: str, by: int) -> Ticket:
        """Open a closed one again: whoever does is the one who holds it, and has something to say."""

        async def step(tx: Transaction, ticket: Ticket, now: datetime) -> Ticket:
            if (
                not ticket.is_open
                and await TicketRepository(tx).open_of(ticket.person_id, ticket.order_reference) is not None
            ):
                raise Rejection("ticket.another_open")
            open_again = ticket.reopen(now, ANY_TIME).take_over(by, now)
            return await self._held(tx, ticket, open_again, by, now)

        return self._told(await step_of(self._store, self._clock, reference, step))

    async def _held(self, tx: Transaction, before: Ticket, after: Ticket, by: int, now: datetime) -> Ticket:
        if after == before:
            return before
        kept = await saved(tx, self._room, before, after, now)
        await audited(tx, kept, AuditAction.CLAIMED, by=by, now=now)
        return kept

    def _told(self, made: T) -> T:
        self._on_news()
        return made


def _stamp(moment: datetime) -> int:
    """Tells two attempts at the same apart."""
    return int(moment.timestamp() * 1_000_000)
