"""Change tickets for their users: write, reopen and rate.

A ticket, its entry and the notifications are saved in one transaction. A message that was saved before changes
nothing. After a crash, its update is handled again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus, format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import EntryKind, IncomingMessage
from bot.support.notification_kinds import AboutTicket, StaffNotification, UserEntry
from bot.support.notification_queue import notify_of_step, notify_staff, ticket_subject
from bot.support.ticket import Rating, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.service import ConcurrentChange, TicketService, add_entry, check_none_open
from bot.users.model import User, UserEvent
from bot.users.repository import UserRepository, record_user_event

EVENT_OF: Final[Mapping[Rating, UserEvent]] = {Rating.GOOD: UserEvent.RATED_GOOD, Rating.BAD: UserEvent.RATED_BAD}

MAX_WAITING: Final = 20
"""So many messages of one ticket can wait for their way to support. Then its user is told to wait before the next."""


@dataclass(frozen=True, slots=True)
class SavedMessage:
    """The ticket of a message, and what the user did with it. `event` is None if the message was saved before."""

    ticket: Ticket
    event: UserEvent | None


FindTicket = Callable[[Transaction, datetime], Awaitable[SavedMessage]]
"""Returns the ticket after the message. Raises `ConcurrentChange` if the ticket has changed since it was read."""


class UserTicketService(TicketService):
    """Change tickets for their users. `reopen_within` is how long after it was closed a ticket can be reopened."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        *,
        reopen_within: timedelta,
    ) -> None:
        super().__init__(database, clock, staff_chat)
        self.reopen_within = reopen_within

    async def ask(self, user: User, incoming: IncomingMessage, order_reference: str = "") -> SavedMessage:
        """Open a ticket with a message, or add it to the open ticket about the same.

        `user` is saved in the same transaction, because their question is answered.
        """

        async def find(tx: Transaction, now: datetime) -> SavedMessage:
            known = await TicketRepository(tx).open_of(user.id, order_reference)
            if known is not None:
                return await self._add_message(tx, known, now)
            ticket = Ticket.open(user.id, now, order_reference=order_reference)
            if not await TicketRepository(tx).add(ticket):
                raise ConcurrentChange
            about = AboutTicket(ticket.reference)
            await notify_staff(tx, self._staff_chat, StaffNotification.NEW_CARD, about, now)
            return SavedMessage(ticket, UserEvent.OPENED_TICKET)

        return await self._save_message(user, incoming, find)

    async def write(self, user: User, incoming: IncomingMessage, reference: str) -> SavedMessage:
        """Add a message to a ticket of the user. This reopens a closed ticket.

        If another ticket is open about the same, the message is added to that one.

        Raises:
            Rejection: the ticket was closed too long ago, or it isn't the user's.
        """

        async def find(tx: Transaction, now: datetime) -> SavedMessage:
            ticket = await TicketRepository(tx).get(reference)
            if ticket is None or ticket.user_id != user.id:
                raise Rejection("support.ticket.gone")
            current = ticket if ticket.is_open else await TicketRepository(tx).open_of(user.id, ticket.order_reference)
            if current is not None:
                return await self._add_message(tx, current, now)
            reopened = ticket.reopen(now, self.reopen_within)
            return SavedMessage(await self._save(tx, ticket, reopened, now), UserEvent.REOPENED)

        return await self._save_message(user, incoming, find)

    async def reopen(self, ticket: Ticket) -> Ticket:
        """Reopen a ticket.

        Raises:
            Rejection: the ticket is open, was closed too long ago, or another is open about the same.
        """

        async def change(tx: Transaction, current: Ticket, now: datetime) -> Ticket:
            await check_none_open(tx, current)
            saved = await self._save(tx, current, current.reopen(now, self.reopen_within), now)
            await notify_of_step(tx, self._staff_chat, saved, str(UserEvent.REOPENED), now)
            await record_user_event(tx, saved.user_id, UserEvent.REOPENED, now, saved.order_reference)
            return saved

        return await self._change(ticket.reference, change)

    async def is_crowded(self, ticket: Ticket) -> bool:
        """Return whether `MAX_WAITING` messages of the ticket's user wait for their way to support, and no more."""
        async with self._database.reading() as tx:
            queued = await OutboxRepository(tx).find_by_subject(ticket_subject(ticket.reference))
        is_waiting = (StaffNotification.ENTRY, NotificationStatus.WAITING)
        return len({each.mark for each in queued if (each.kind, each.status) == is_waiting}) == MAX_WAITING

    async def rate(self, ticket: Ticket, rating: Rating) -> Ticket:
        """Save the user's rating of the help. The last rating counts.

        Raises:
            Rejection: the ticket is open.
        """

        async def change(tx: Transaction, current: Ticket, now: datetime) -> Ticket:
            if not current.is_open and current.rating is rating:
                return current
            saved = await self._save(tx, current, current.rate(rating, now), now)
            await record_user_event(tx, saved.user_id, EVENT_OF[rating], now, saved.order_reference)
            return saved

        return await self._change(ticket.reference, change)

    async def _add_message(self, tx: Transaction, ticket: Ticket, now: datetime) -> SavedMessage:
        after = ticket.add_message(now)
        # It is saved even if nothing has changed, so that it isn't closed at the same moment.
        saved = await (TicketRepository(tx).save(ticket) if after == ticket else self._save(tx, ticket, after, now))
        if saved is None:
            raise ConcurrentChange
        return SavedMessage(saved, UserEvent.ADDED_MESSAGE)

    async def _save_message(self, user: User, incoming: IncomingMessage, find: FindTicket) -> SavedMessage:
        async def attempt(tx: Transaction) -> SavedMessage:
            now = self._clock.now()
            message = await _find_saved(tx, incoming)
            if message is None:
                message = await find(tx, now)
                await self._add_entry(tx, message, incoming, now)
            await UserRepository(tx).save(user)
            return message

        return await self._commit(attempt)

    async def _add_entry(
        self, tx: Transaction, message: SavedMessage, incoming: IncomingMessage, now: datetime
    ) -> None:
        ticket, event = message.ticket, message.event or UserEvent.ADDED_MESSAGE
        entry = await add_entry(tx, ticket, incoming, EntryKind.ASKED, by=ticket.user_id, now=now)
        if entry is None:
            return
        payload, mark = UserEntry(ticket.reference, entry.number, ticket.claimed_by or 0), format_mark(entry.number)
        await notify_staff(tx, self._staff_chat, StaffNotification.ENTRY, payload, now, mark=mark)
        await record_user_event(tx, ticket.user_id, event, now, ticket.order_reference)


async def _find_saved(tx: Transaction, incoming: IncomingMessage) -> SavedMessage | None:
    entry = await TicketEntryRepository(tx).of_source(incoming.chat_id, incoming.message_id)
    ticket = await TicketRepository(tx).get(entry.ticket) if entry else None
    return None if ticket is None else SavedMessage(ticket, None)
