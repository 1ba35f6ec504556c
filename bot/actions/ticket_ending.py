"""What a person says of a ticket that was closed: that it isn't over, or how the help was."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from bot.actions.person_acts import Did, did
from bot.actions.ports import Clock, Store, Transaction
from bot.actions.support_room import SupportRoom
from bot.actions.ticket_news import ToRoom, marked, tell_room, tell_step
from bot.domain.errors import Rejection
from bot.domain.tickets import Rating, Ticket, rated, reopened

DID = {Rating.GOOD: Did.RATED_GOOD, Rating.BAD: Did.RATED_BAD}
Change = Callable[[Transaction, datetime], Awaitable[tuple[Ticket, Did]]]
"""The ticket as it is afterwards, not yet saved, and what its person has done by that."""


class TicketEnding:
    """Of the person's own tickets. `reopen_within` is how long after its end one may be taken up again."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        room: SupportRoom,
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

        async def change(tx: Transaction, now: datetime) -> tuple[Ticket, Did]:
            if not ticket.is_open and await tx.tickets.open_of(ticket.person_id, ticket.order_reference) is not None:
                raise Rejection("ticket.another_open")
            return reopened(ticket, now, self.reopen_within), Did.REOPENED

        return await self._keep(change)

    async def rate(self, ticket: Ticket, rating: Rating) -> Ticket:
        """Keep how the help was; the last word counts. Raises `Rejection` where it is open."""
        if not ticket.is_open and ticket.rating is rating:
            return ticket

        async def change(_: Transaction, now: datetime) -> tuple[Ticket, Did]:
            return rated(ticket, rating, now), DID[rating]

        return await self._keep(change)

    async def _keep(self, change: Change) -> Ticket:
        now = self._clock.now()
        async with self._store.transaction() as tx:
            after, what = await change(tx, now)
            saved = await tx.tickets.save(after)
            if saved is None:
                raise Rejection("ticket.changed")
            await tell_room(tx, self._room, saved, marked(ToRoom.CARD, saved.version), now)
            if what is Did.REOPENED:
                await tell_step(tx, self._room, saved, str(what), now)
            await did(tx, saved.person_id, what, now, saved.order_reference)
        self._on_news()
        return saved
