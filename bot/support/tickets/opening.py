"""Tickets open: by their person's first word, or by themselves when a paid order fails or takes too long.

A ticket, what was written in it and the news of both are kept in one transaction. A message that was taken in before
(its update is met again after a crash) changes nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.staff.roles import StaffChat
from bot.support.model import EntryKind, Written
from bot.support.ticket import Cause, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, tell_person, tell_room, tell_step
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.steps import Overtaken, entered, repeated, saved
from bot.users.activity import UserEvent, record_user_event
from bot.users.model import Person
from bot.users.repository import UserRepository

log = structlog.get_logger(__name__)

TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of somebody's words. `what` is what they did by them; None where they were taken in before."""

    ticket: Ticket
    what: UserEvent | None


Find = Callable[[Transaction, datetime], Awaitable[Taken]]
"""The ticket that words belong to, as it is after them. Raises `Overtaken` where somebody else was quicker."""


class TicketOpening:
    """The person's words. `reopen_within` is how long after its end a ticket may be taken up again."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        room: StaffChat,
        *,
        reopen_within: timedelta,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._room = room
        self._within = reopen_within
        self._on_news = on_news

    async def ask(self, person: Person, written: Written, order_reference: str = "") -> Taken:
        """Open a ticket with these words, or add them to the one that is open about the same.

        `person` is saved along with it: the question that the words answer isn't open any more.
        """

        async def find(tx: Transaction, now: datetime) -> Taken:
            known = await TicketRepository(tx).open_of(person.id, order_reference)
            if known is not None:
                return await self._more(tx, known, now)
            ticket = Ticket.open(person.id, now, order_reference=order_reference)
            if not await TicketRepository(tx).add(ticket):
                raise Overtaken
            await tell_room(tx, self._room, ticket, ToStaffChat.HEAD, now)
            return Taken(ticket, UserEvent.ASKED)

        return await self._take(person, written, find)

    async def say(self, person: Person, written: Written, reference: str) -> Taken:
        """Add these words to a ticket of this person's; one that was closed not long ago is open again by them.

        Where another is open about the same by now, they belong to that.

        Raises:
            Rejection: it was closed too long ago, or is nobody's or another's.
        """

        async def find(tx: Transaction, now: datetime) -> Taken:
            ticket = await TicketRepository(tx).get(reference)
            if ticket is None or ticket.person_id != person.id:
                raise Rejection("ticket.gone")
            goes_on = (
                ticket if ticket.is_open else await TicketRepository(tx).open_of(person.id, ticket.order_reference)
            )
            return await (self._more(tx, goes_on, now) if goes_on else self._reopen(tx, ticket, now))

        return await self._take(person, written, find)

    async def _more(self, tx: Transaction, ticket: Ticket, now: datetime) -> Taken:
        return Taken(await saved(tx, self._room, ticket, ticket.add_message(now), now), UserEvent.SAID)

    async def _reopen(self, tx: Transaction, ticket: Ticket, now: datetime) -> Taken:
        again = ticket.reopen(now, self._within)
        return Taken(await saved(tx, self._room, ticket, again, now), UserEvent.REOPENED)

    async def _take(self, person: Person, written: Written, find: Find) -> Taken:
        async def attempt(tx: Transaction) -> Taken:
            now = self._clock.now()
            taken = await _taken_before(tx, written)
            if taken is None:
                taken = await find(tx, now)
                await self._enter(tx, taken, written, now)
            await UserRepository(tx).save(person)
            return taken

        taken = await repeated(self._store, attempt)
        self._on_news()
        return taken

    async def _enter(self, tx: Transaction, taken: Taken, written: Written, now: datetime) -> None:
        ticket, what = taken.ticket, taken.what or UserEvent.SAID
        entry = await entered(tx, ticket, written, EntryKind.ASKED, by=ticket.person_id, now=now)
        if entry is None:
            return
        ping = ticket.claimed_by or 0
        kind = marked(ToStaffChat.ENTRY, entry.number)
        await tell_room(tx, self._room, ticket, kind, now, entry=entry.number, ping=ping)
        await record_user_event(tx, ticket.person_id, what, now, ticket.order_reference)


async def open_by_itself(tx: Transaction, room: StaffChat, order: Order, cause: Cause, now: datetime) -> None:
    """Open a ticket about a paid order that went wrong, and tell its person; one that is open already learns of it.

    To be called in the transaction that keeps what went wrong. Nothing where nobody is there to help.
    """
    if not room.is_open:
        return
    for _ in range(TRIES):
        known = await TicketRepository(tx).open_of(order.person_id, order.reference)
        if known is not None:
            if await _learn(tx, room, known, cause, now):
                return
            continue
        ticket = Ticket.open(order.person_id, now, order_reference=order.reference, cause=cause)
        if await TicketRepository(tx).add(ticket):
            await tell_room(tx, room, ticket, ToStaffChat.HEAD, now)
            await tell_person(tx, ticket, ToUser.OPENED, now)
            return
    log.error("ticket_not_opened", order=order.reference, cause=str(cause))


async def _learn(tx: Transaction, room: StaffChat, ticket: Ticket, cause: Cause, now: datetime) -> bool:
    """Who asked by themselves has asked first; what takes too long and then fails has failed. False: it changed."""
    after = ticket if ticket.cause is Cause.ASKED else replace(ticket, cause=cause)
    kept = await TicketRepository(tx).save(after.add_message(now))
    if kept is None:
        return False
    await tell_room(tx, room, kept, marked(ToStaffChat.CARD, kept.version), now)
    await tell_step(tx, room, kept, str(cause), now)
    return True


async def _taken_before(tx: Transaction, written: Written) -> Taken | None:
    entry = await TicketEntryRepository(tx).of_source(written.chat_id, written.message_id)
    ticket = await TicketRepository(tx).get(entry.ticket) if entry else None
    return None if ticket is None else Taken(ticket, None)
