"""Handle `/help` and its pages."""

from bot.infra.db.database import Database
from bot.infra.telegram.ui.router import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import SupportContacts
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.buttons import HelpButton, HelpPage
from bot.support.user_chat.facts import FactReader
from bot.support.user_chat.screens import help as screens
from bot.users.provider import Provider
from bot.users.session import Session
from bot.users.welcome import read_staff_help

MAX_LISTED = 5
"""How many open tickets `/help` lists."""


class HelpHandlers:
    """Show how the bot works and how to reach support."""

    def __init__(
        self,
        *,
        database: Database,
        facts: FactReader,
        contacts: SupportContacts,
        provider: Provider,
    ) -> None:
        self._database = database
        self._facts = facts
        self._contacts = contacts
        self._provider = provider

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("help", self.show_help, menu={Menu.EVERYONE: 120})
        routes.add_button(HelpButton, self.help_button)
        return routes

    async def show_help(self, session: Session, _: str = "") -> None:
        """Show the first page in a new message."""
        await session.show_below(session.with_resume(await self._first_page(session)))

    async def help_button(self, session: Session, button: HelpButton) -> None:
        """Show a page in place of the page before."""
        await session.acknowledge()
        await session.show(session.with_resume(await self._page(session, button.page)))

    async def _page(self, session: Session, page: HelpPage) -> Screen:
        if page is HelpPage.FIRST:
            return await self._first_page(session)
        if page is HelpPage.SENDERS:
            return await self._senders_page(session)
        return screens.show_page(session.t, page, await self._facts.read())

    async def _first_page(self, session: Session) -> Screen:
        """Return the page of a member of staff, or that of senders."""
        parts = await read_staff_help(session)
        return screens.show_staff_page(session.t, parts) if parts else await self._senders_page(session)

    async def _senders_page(self, session: Session) -> Screen:
        async with self._database.reading() as tx:
            known = await TicketRepository(tx).of_user(session.user.id, limit=MAX_LISTED)
            tickets = [ticket for ticket in known if ticket.is_open]
            orders = [
                await OrderRepository(tx).get_if_readable(ticket.order_reference)
                for ticket in tickets
                if ticket.order_reference
            ]
        by_reference = {order.reference: order for order in orders if order is not None}
        return screens.show_first_page(session.t, self._contacts, tickets, by_reference, self._provider)
