"""Show the page of a ticket to an agent. The audit log records who opened which."""

from datetime import datetime

from bot.infra.db.database import Database
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.cases.reader import Case, read_case
from bot.support.notification_queue import ticket_subject
from bot.support.staff.messages import TicketMessages
from bot.support.staff.screens.ticket_page import HERE, show_ticket
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository


class TicketPages:
    """Show the pages of tickets."""

    def __init__(self, database: Database, messages: TicketMessages) -> None:
        self._database = database
        self._messages = messages

    async def view(self, staff_id: int, ticket: Ticket, now: datetime) -> Case:
        """Return the case that a ticket is about."""
        async with self._database.transaction() as tx:
            subject = ticket_subject(ticket.reference)
            await record_audit(tx, staff_id, AuditAction.LOOKED, subject, now, user_id=ticket.user_id)
            return await read_case(tx, ticket.user_id, ticket.order_reference)

    async def show(self, staff: StaffSession, ticket: Ticket, argument: str = "") -> None:
        """Show a ticket's page as a new message of the ticket, or in place of the pressed message (`HERE`)."""
        case = await self.view(staff.user.id, ticket, staff.now)
        async with self._database.reading() as tx:
            cards = await BotMessageRepository(tx).cards(ticket.reference)
        link = next((card.link for card in cards if card.link), None)
        reader = await staff.reader_who_knows(ticket.claimed_by, ticket.closed_by, *case.people)
        screen = show_ticket(reader, ticket, case, link=link)
        await staff.session.acknowledge()
        if argument == HERE:
            await staff.edit_message(screen)
        else:
            await self._messages.say(staff, ticket, screen)
