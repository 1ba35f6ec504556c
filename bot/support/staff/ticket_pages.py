"""Show the page of a ticket to an agent. The audit log records who opened which."""

from datetime import datetime

from bot.infra.db.database import Database
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.buttons import LookupButton, LookupPage, StaffTicketAction, StaffTicketButton
from bot.support.cases.reader import Case, read_case
from bot.support.cases.screens.case import user_row
from bot.support.notification_queue import ticket_subject
from bot.support.notifications.screens import card as card_screens
from bot.support.staff.messages import TicketMessages
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository

HERE = "here"
"""The argument of a button that shows the ticket's page in place of the pressed message."""


def show_ticket(reader: Reader, ticket: Ticket, case: Case, *, link: str | None) -> Screen:
    """Return a ticket's page, with buttons to its order and its user. `link` opens the ticket in the staff's group."""
    t = reader.t
    card = card_screens.show_card(reader, ticket, case)
    ways = (
        *(
            [Button(case.order.reference, data=LookupButton(LookupPage.ORDER, case.order.reference).pack())]
            if case.order
            else []
        ),
        *user_row(t, case.user_id),
    )
    there = (Button(t.plain("support.lookup.go_there"), url=link),) if link else ()
    refresh = Button(
        t.plain("orders.button.refresh"), data=StaffTicketButton(ticket.reference, StaffTicketAction.SHOW, HERE).pack()
    )
    rows = [row for row in (*card.keyboard, there, (*ways, refresh)) if row]
    return Screen(card.text, tuple(rows))


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
