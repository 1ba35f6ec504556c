"""Handle users' buttons of tickets, and the ways to a ticket from an order or from a message.

A button works only for the ticket's own user.
"""

from collections.abc import Awaitable, Callable, Mapping

from telegram import Message

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import SupportContacts
from bot.support.incoming_messages import read_message
from bot.support.ticket import Rating, Ticket
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.user_service import UserTicketService
from bot.support.user_chat.buttons import (
    LeaveTicketQuestionButton,
    NewTicketButton,
    UserTicketAction,
    UserTicketButton,
)
from bot.support.user_chat.help_handlers import HelpHandlers
from bot.support.user_chat.message_handlers import UserMessageHandlers
from bot.support.user_chat.screens import page as ticket_page
from bot.support.user_chat.screens import question as ticket_question
from bot.users.session import Session

MAX_OFFERED = 3

_Action = Callable[[Session, Ticket, str], Awaitable[None]]


class UserTicketHandlers:
    """Let users ask support, and show them their tickets."""

    def __init__(
        self,
        infra: Infra,
        *,
        tickets: UserTicketService,
        messages: UserMessageHandlers,
        help_handlers: HelpHandlers,
        contacts: SupportContacts,
    ) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._contacts = contacts
        self._tickets = tickets
        self._messages = messages
        self._help = help_handlers
        self._actions: Mapping[UserTicketAction, _Action] = {
            UserTicketAction.SHOW: self._show,
            UserTicketAction.WRITE: self._write,
            UserTicketAction.REOPEN: self._reopen,
            UserTicketAction.RATE: self._rate,
            UserTicketAction.FORWARD: self._forward,
        }

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(NewTicketButton, self.new_button)
        routes.add_button(LeaveTicketQuestionButton, self.leave_button)
        routes.add_button(UserTicketButton, self.ticket_button, belongs_to="ticket")
        return routes

    async def ask_about(self, session: Session, order: Order) -> None:
        """Ask what is wrong with an order. If there is no support agent, show the contact."""
        await session.acknowledge()
        if not self._contacts.has_staff:
            await session.send_message(ticket_question.show_contact(session.t, order, self._contacts.contact))
            return
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).open_of(session.user.id, order.reference)
        await self._messages.ask(session, order, ticket)

    async def offer_to_forward(self, session: Session, message: Message) -> bool:
        """Offer to add a message to one of the user's open tickets. Return False if they have none."""
        if not self._contacts.has_staff or read_message(message) is None:
            return False
        async with self._database.reading() as tx:
            known = await TicketRepository(tx).of_user(session.user.id, limit=MAX_OFFERED)
        tickets = [ticket for ticket in known if ticket.is_open]
        if tickets:
            shown = ticket_question.offer_to_forward(session.t, tickets)
            await self._messenger.send_text(
                session.chat_id, shown.text, shown.keyboard, priority="talk", reply_to=message.message_id
            )
        return bool(tickets)

    async def new_button(self, session: Session, _: NewTicketButton) -> None:
        """Ask what is wrong. If there is no support agent, show `/help`."""
        await session.acknowledge()
        if self._contacts.has_staff:
            async with self._database.reading() as tx:
                ticket = await TicketRepository(tx).open_of(session.user.id)
            await self._messages.ask(session, None, ticket)
        else:
            await self._help.show_help(session)

    async def leave_button(self, session: Session, _: LeaveTicketQuestionButton) -> None:
        """Confirm that the question is cancelled. The press itself has ended it (`users/questions.py`)."""
        await session.acknowledge()
        await session.show(session.with_resume(ticket_question.confirm_cancelled(session.t)))

    async def ticket_button(self, session: Session, button: UserTicketButton) -> None:
        """Handle a button of the user's own ticket."""
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(button.ticket)
        if ticket is None or ticket.user_id != session.user.id:
            await session.acknowledge(session.t.plain("support.ticket.gone"), alert=True)
        else:
            try:
                await self._actions[button.action](session, ticket, button.argument)
            except Rejection as rejection:
                await session.acknowledge(session.t.plain(rejection.key, **rejection.arguments), alert=True)

    async def _show(self, session: Session, ticket: Ticket, _: str = "") -> None:
        """Show the ticket's page. It replaces the list under `/help`, but never a notification."""
        await session.acknowledge()
        if not session.is_newest_question:
            session.message_id = None
        await session.show(session.with_resume(await self._page(session, ticket)))

    async def _write(self, session: Session, ticket: Ticket, _: str) -> None:
        if not ticket.is_open and not self._may_be_reopened(session, ticket):
            raise Rejection("support.ticket.closed_too_long_ago")
        await session.acknowledge()
        await self._messages.ask(session, await self._order_of(ticket), ticket)

    async def _reopen(self, session: Session, ticket: Ticket, _: str) -> None:
        """Reopen the ticket at once, and then ask what is still wrong."""
        ticket = await self._tickets.reopen(ticket)
        await session.acknowledge(session.t.plain("support.ticket.reopened"))
        await session.edit_message(await self._page(session, ticket))
        await self._messages.ask(session, await self._order_of(ticket), ticket)

    async def _rate(self, session: Session, ticket: Ticket, argument: str) -> None:
        if argument not in set(Rating):
            raise Rejection("users.stale.button")
        ticket = await self._tickets.rate(ticket, Rating(argument))
        await session.acknowledge(session.t.plain("support.ticket.thanks"))
        await session.edit_message(await self._page(session, ticket))

    async def _forward(self, session: Session, ticket: Ticket, _: str) -> None:
        """Add the message that the offer replies to, if the user wrote it."""
        theirs = session.pressed.reply_to_message if session.pressed is not None else None
        is_own = theirs is not None and theirs.from_user is not None and theirs.from_user.id == session.user.id
        incoming = read_message(theirs) if theirs is not None and is_own else None
        if incoming is None:
            raise Rejection("support.ticket.nothing_to_pass_on")
        saved = await self._tickets.write(session.user, incoming, ticket.reference)
        await session.acknowledge()
        await session.edit_message(session.with_resume(ticket_question.confirm_added(session.t, saved.ticket)))
        if session.message_id is not None:
            await self._messages.save_bot_message(session, saved.ticket, session.message_id)

    async def _page(self, session: Session, ticket: Ticket) -> Screen:
        order = await self._order_of(ticket)
        can_reopen = self._may_be_reopened(session, ticket)
        return ticket_page.show_ticket(session.reader, ticket, order, can_reopen=can_reopen)

    def _may_be_reopened(self, session: Session, ticket: Ticket) -> bool:
        return ticket.can_be_reopened(session.now, self._tickets.reopen_within)

    async def _order_of(self, ticket: Ticket) -> Order | None:
        if not ticket.order_reference:
            return None
        async with self._database.reading() as tx:
            return await OrderRepository(tx).get(ticket.order_reference)
