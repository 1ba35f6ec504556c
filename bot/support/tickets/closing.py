"""What a person says of a ticket that was closed: that it isn't over, or how the help was."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.staff.roles import StaffChat
from bot.support.ticket import Rating, Ticket
from bot.support.tickets.notifications import tell_step
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.steps import Step, saved, step_of
from bot.users.activity import UserEvent, record_user_event

DID = {Rating.GOOD: UserEvent.RATED_GOOD, Rating.BAD: UserEvent.RATED_BAD}


class TicketEnding:
    """Of the person's own tickets. `reopen_within` is how long after its end one may be taken up again."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        room: StaffChat,
        *,
        reopen_within: timedelta,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self.reopen_within = reopen_within
        self._store = store
        self._clock = clock
        self._room = room
        self._on_news = on_news

    async def reopen(self, ticket: Ticket) -> Ticket:
        """Open it again.

        Raises:
            Rejection: it is open, was closed too long ago, or another is open about the same.
        """

        async def step(tx: Transaction, known: Ticket, now: datetime) -> Ticket:
            if (
                not known.is_open
                and await TicketRepository(tx).open_of(known.person_id, known.order_reference) is not None
            ):
                raise Rejection("ticket.another_open")
            kept = await saved(tx, self._room, known, known.reopen(now, self.reopen_within), now)
            await tell_step(tx, self._room, kept, str(UserEvent.REOPENED), now)
            await record_user_event(tx, kept.person_id, UserEvent.REOPENED, now, kept.order_reference)
            return kept

        return await self._take(ticket, step)

    async def rate(self, ticket: Ticket, rating: Rating) -> Ticket:
        """Keep how the help was; the last word counts. Raises `Rejection` where it is open."""

        async def step(tx: Transaction, known: Ticket, now: datetime) -> Ticket:
            if not known.is_open and known.rating is rating:
                return known
            kept = await saved(tx, self._room, known, known.rate(rating, now), now)
            await record_user_event(tx, kept.person_id, DID[rating], now, kept.order_reference)
            return kept

        return await self._take(ticket, step)

    async def _take(self, ticket: Ticket, step: Step[Ticket]) -> Ticket:
        kept = await step_of(self._store, self._clock, ticket.reference, step)
        self._on_news()
        return kept
