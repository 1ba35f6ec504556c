"""A system of tickets on a real database, with a moved clock and a sender that records what it sends."""

import itertools
from datetime import timedelta
from typing import cast

from bot.infra.db.database import Database
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import NotificationKind
from bot.infra.outbox.rendering import FollowUp
from bot.staff.model import AuditEntry
from bot.staff.repository import AuditRepository
from bot.staff.staff_chat import StaffChat
from bot.support.model import IncomingMessage, MediaKind, Ticket, TicketEntry
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.support.staff_messages import StaffMessages
from bot.support.staff_service import StaffTicketService
from bot.support.topics import TicketTopics
from bot.support.user_messages import UserMessages
from tests.infra.keys import VAULT
from tests.orders.order_system import RecordingSender
from tests.settlement.fake_settlement import MovedClock

EMMA, SARI, OSCAR, RINA = 1001, 1002, 2001, 3001
GROUP = -1_001_000


class TicketSystem:
    """The services of support. The agents are Rina and Oscar, in a group or (`group` 0) each in private."""

    def __init__(self, database: str, clock: MovedClock, group: int = GROUP) -> None:
        self.store, self.clock, self.group = Database(database, VAULT), clock, group
        self.staff_chat = StaffChat(group, frozenset({OSCAR, RINA}))
        self.tickets = StaffTicketService(self.store, clock, self.staff_chat)
        self.sender = RecordingSender(clock)
        self.delivery = OutboxDelivery(
            self.store,
            self.sender,
            clock,
            follow_ups=self.follow_ups(),
        )
        self._numbers = itertools.count(500)

    def messages_to_staff(
        self, topics: TicketTopics | None = None, operator_ids: frozenset[int] = frozenset()
    ) -> StaffMessages:
        """Return the messages to support. Without `topics`, only what follows from their results."""
        return StaffMessages(cast("TicketTopics", topics), self.staff_chat, operator_ids)

    def messages_to_users(self) -> UserMessages:
        """Return the messages to users."""
        return UserMessages(self.staff_chat, reopen_within=timedelta(days=7))

    def follow_ups(self) -> dict[NotificationKind, FollowUp]:
        """Return what follows from the results of all messages."""
        return {**self.messages_to_staff().follow_ups(), **self.messages_to_users().follow_ups()}

    async def open_ticket(self, user_id: int = EMMA, order: str = "R2345AB") -> Ticket:
        """Save an open ticket of this user."""
        ticket = Ticket.open(user_id, self.clock.now(), order_reference=order)
        async with self.store.transaction() as tx:
            assert await TicketRepository(tx).add(ticket)
        return ticket

    def new_message(
        self, text: str | None = "It is on its way.", *, by: int = 0, photo: str | None = None
    ) -> IncomingMessage:
        """Return a new message of an agent, in the group or in private."""
        chat = self.group or by
        media = MediaKind.PHOTO if photo else None
        return IncomingMessage(chat_id=chat, message_id=next(self._numbers), text=text, media=media, file_id=photo)

    async def reply(self, ticket: Ticket, by: int = RINA, text: str = "It is on its way.") -> TicketEntry:
        """Save an agent's reply, and return its entry."""
        entry = await self.tickets.reply(ticket.reference, by, self.new_message(text, by=by))
        assert entry is not None
        return entry

    async def deliver(self) -> None:
        """Deliver all notifications that are due."""
        while await self.delivery.start_due():
            await self.delivery.wait_until_sent()

    async def reload(self, ticket: Ticket) -> Ticket:
        """Return the ticket as it is saved."""
        async with self.store.reading() as tx:
            found = await TicketRepository(tx).get(ticket.reference)
        assert found is not None
        return found

    async def reload_entry(self, entry: TicketEntry) -> TicketEntry:
        """Return the entry as it is saved."""
        async with self.store.reading() as tx:
            found = await TicketEntryRepository(tx).get(entry.ticket, entry.number)
        assert found is not None
        return found

    async def entries(self, ticket: Ticket) -> tuple[TicketEntry, ...]:
        """Return the entries of a ticket."""
        async with self.store.reading() as tx:
            return await TicketEntryRepository(tx).of_ticket(ticket.reference)

    async def audit_entries(self) -> list[AuditEntry]:
        """Return the audit log, oldest first."""
        async with self.store.reading() as tx:
            return list(reversed(await AuditRepository(tx).page(limit=50)))

    def kinds_sent_to(self, chat_id: int, kind: str = "") -> list[str]:
        """Return the kinds of notification sent to a chat, with their marks."""
        return [
            each.marked_kind
            for each in self.sender.sent
            if each.chat_id == chat_id and each.marked_kind.startswith(kind)
        ]
