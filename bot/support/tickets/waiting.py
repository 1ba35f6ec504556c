"""Somebody waits for an answer: support is reminded after a while, and the operators after as long again."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.roles import StaffChat
from bot.support.reply_times import Overdue, overdue, reminded
from bot.support.ticket import Ticket
from bot.support.tickets.notifications import ToStaffChat, marked, tell_chats
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.steps import saved, step_of

KINDS = {Overdue.ROOM: ToStaffChat.WAITS, Overdue.OPERATORS: ToStaffChat.WAITS_LONG}


class TicketWaiting:
    """`patience` is how long a ticket may wait for an answer before support is reminded of it."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        room: StaffChat,
        *,
        operator_ids: frozenset[int],
        patience: timedelta,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._room = room
        self._operators = operator_ids
        self._patience = patience
        self._on_news = on_news

    async def look(self) -> int:
        """Remind of every ticket that has waited for too long; how many there were to be reminded of."""
        now = self._clock.now()
        async with self._store.reading() as tx:
            waiting = await TicketRepository(tx).waiting(now - self._patience)
        late = [ticket.reference for ticket in waiting if overdue(ticket, now, self._patience)]
        told = [await step_of(self._store, self._clock, reference, self._remind) for reference in late]
        if any(told):
            self._on_news()
        return sum(told)

    async def _remind(self, tx: Transaction, ticket: Ticket, now: datetime) -> bool:
        """In one transaction: what is told and that it is. Whoever has answered meanwhile is left alone."""
        whom = overdue(ticket, now, self._patience)
        if whom is None or ticket.waits_since is None:
            return False
        kept = await saved(tx, self._room, ticket, reminded(ticket, whom, now), now)
        chats = await self._room.chats(tx) if whom is Overdue.ROOM else tuple(sorted(self._operators))
        # A ticket may wait more than once; each wait is known by its beginning.
        kind = marked(KINDS[whom], f"{ticket.waits_since:%Y%m%dT%H%M%S%f}")
        await tell_chats(tx, chats, kept.reference, kind, now, since=ticket.waits_since.isoformat())
        return True
