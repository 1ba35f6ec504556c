"""Handle lookups: `/find`, `/order`, `/tickets`, `/customer`, and the buttons of their pages.

They are support agents'. Operators also have `/find` and the buttons.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from telegram import Message, MessageOriginHiddenUser, MessageOriginUser, Update

from bot.core.date_ranges import Period
from bot.infra.db.database import Database
from bot.infra.telegram.ui.reader import quote_input
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.settlement.errors import SettlementFailure
from bot.staff.buttons import LookupButton, LookupPage
from bot.support.lookup_model import Found, OrderFilter, ParsedQuery, parse_page, parse_user_id
from bot.support.lookups import LookupService
from bot.support.model import Ticket, TicketFilter
from bot.support.repository import TicketRepository
from bot.support.screens import lookups as screens
from bot.support.service_orders import MARK, ServiceOrders, is_service_id
from bot.support.session import StaffSession, StaffSessions, TicketMessages, TicketPages
from bot.users.session import Session

TICKET: Final = re.compile(r"T-?[0-9A-Z]{5}")
_USER_LINK: Final = re.compile(r"@|https://t\.me/|t\.me/", re.IGNORECASE)
AROUND_IDS: Final = "#<>"
"""What people put around a reference or an id."""

_ShowPage = Callable[[StaffSession, str, int], Awaitable[bool]]
"""Shows the page of a subject, from an offset on. It returns False if there is no such subject."""


class LookupHandlers:
    """Show orders, tickets and users to staff. The audit log records who opened which."""

    def __init__(
        self,
        *,
        sessions: StaffSessions,
        database: Database,
        lookups: LookupService,
        service_orders: ServiceOrders,
        messages: TicketMessages,
        ticket_pages: TicketPages,
    ) -> None:
        self._sessions = sessions
        self._database = database
        self._lookups = lookups
        self._service_orders = service_orders
        self._messages = messages
        self._ticket_pages = ticket_pages
        self._pages: Mapping[LookupPage, _ShowPage] = {
            LookupPage.ORDER: self._show_order,
            LookupPage.ORDER_OF_ALARM: self._show_order_of_alarm,
            LookupPage.TICKET: self._show_ticket,
            LookupPage.TICKET_HERE: partial(self._show_ticket, in_place=True),
            LookupPage.EVIDENCE: self._show_evidence,
            LookupPage.FOUND: self._show_found_page,
            LookupPage.USER: self._show_user,
            LookupPage.ORDERS_OF_USER: self._show_orders_of,
            LookupPage.TICKETS_OF_USER: self._show_tickets_of,
            LookupPage.TICKETS: self._show_tickets,
        }

    def routes(self) -> tuple[Routes[StaffSession], ...]:
        """Return the commands and the buttons."""
        of_agents, of_staff = self._sessions.routes(), self._sessions.routes(Audience.STAFF)
        of_agents.add_command("order", self.order, menu={Menu.SUPPORT: 30})
        of_agents.add_command("tickets", self.list_tickets, menu={Menu.SUPPORT: 10})
        of_agents.add_command("customer", self.user, menu={Menu.SUPPORT: 40})
        of_staff.add_command("find", self.find, menu={Menu.SUPPORT: 20, Menu.OPERATORS: 15})
        of_staff.add_button(LookupButton, self.lookup_button)
        return of_agents, of_staff

    async def order(self, staff: StaffSession, typed: str) -> None:
        """Show the order of the ticket that is named or that the command replies to, or find what was typed."""
        word = "".join(typed.split()).strip(AROUND_IDS)
        ticket = await self._find_ticket(word) if word else await self._messages.ticket_of(staff, staff.message)
        if ticket is not None and ticket.order_reference:
            await self._show_order(staff, ticket.order_reference)
        elif ticket is not None:
            await self._ticket_pages.show(staff, ticket)
        elif word:
            await self.find(staff, typed)
        else:
            await self._show(staff, Screen(staff.t("support.lookup.how_order")))

    async def find(self, staff: StaffSession, typed: str) -> None:
        """Show what the typed text names: an order, a ticket, a user, or orders by destination, sum and day."""
        text = " ".join(typed.split())
        word = "" if " " in text else text.strip(AROUND_IDS)
        if not text:
            await self._show(staff, Screen(staff.t("support.lookup.how_find")))
        elif not word:
            await self._show_found(staff, text)
        elif (ticket := await self._find_ticket(word)) is not None:
            await self._ticket_pages.show(staff, ticket)
        elif (order := await self._lookups.find_order(word)) is not None:
            await self._show_order(staff, order.reference)
        elif _USER_LINK.match(word):
            await self._show_by_name(staff, word)
        else:
            await self._show_found(staff, word)

    async def _show_found(self, staff: StaffSession, text: str) -> None:
        """Show what a word can be a part of, or the orders with the typed destination, sum and day.

        If that is one order or one user, show its page.
        """
        query = await self._lookups.parse_query(text, staff.session.zone)
        wanted, is_word = query.wanted, " " not in text
        users = await self._lookups.find_users_like(text, staff.messenger.names) if is_word else ()
        is_choice = bool(query.candidates) and not wanted.is_name
        found = Found(query=query, users=users)
        if not is_choice:
            found = replace(found, orders=await self._lookups.find_orders(wanted))
        orders = found.orders.items
        if is_word and not users and wanted.is_name and len(orders) == 1:
            await self._show_order(staff, orders[0].reference)
        elif len(users) == 1 and not orders:
            await self._show_user_or_explain(staff, users[0])
        elif query.unread and not is_word:
            await self._show(staff, Screen(staff.t("support.lookup.unread", what=" ".join(query.unread))))
        elif is_word and not users and not orders and is_service_id(text):
            await self._show_order(staff, f"{MARK}{text}")
        elif is_word and not users and not orders and not query.candidates and (wanted.is_empty or wanted.is_name):
            await self._show(staff, Screen(staff.t("support.lookup.nothing_called", what=quote_input(text))))
        else:
            await self._show_results(staff, found)

    async def _show_results(self, staff: StaffSession, found: Found) -> None:
        reader = await staff.reader_who_knows(*found.users, *(order.user_id for order in found.orders.items))
        await self._show(staff, screens.show_found(reader, found))

    async def _show_found_page(self, staff: StaffSession, text: str, offset: int) -> bool:
        query = await self._lookups.parse_query(text, staff.session.zone)
        if not query.wanted.is_empty:
            page = await self._lookups.find_orders(query.wanted, offset)
            await self._show_results(staff, Found(query=query, orders=page))
        return not query.wanted.is_empty

    async def list_tickets(self, staff: StaffSession, _: str) -> None:
        """Show the open tickets, oldest first, with buttons to the other lists."""
        await self._show_tickets(staff, TicketFilter.OPEN)

    async def user(self, staff: StaffSession, typed: str) -> None:
        """Show the user with this id or name.

        Without an argument, show the author of the message that the command replies to.
        """
        wanted, message = "".join(typed.split()), staff.message
        if wanted:
            await self._show_by_name(staff, wanted)
            return
        answered = message.reply_to_message if message is not None else None
        if answered is not None and answered.forward_origin is not None:
            await self._show_author(staff, answered)
        elif (ticket := await self._messages.ticket_of(staff, message)) is not None:
            await self._show_user_or_explain(staff, ticket.user_id)
        else:
            await self._show(staff, Screen(staff.t("support.lookup.how_person")))

    async def lookup_button(self, staff: StaffSession, button: LookupButton) -> None:
        """Show the page that a button names."""
        if not await self._pages[button.page](staff, *parse_page(button.query)):
            await staff.toast("support.staff.gone", alert=True)

    async def take_forwarded(self, session: Session, update: Update) -> bool:
        """Show the author of a message that an agent forwards to the bot, unless it answers an open question.

        Return False for any other update. A forwarded picture may be a receipt, which the bot checks for everyone.
        """
        message = session.typed
        if message is None or message.forward_origin is None or message.photo or message.document:
            return False
        if session.is_in_conversation or session.user.open_question:
            return False
        staff = await self._sessions.open(session, update)
        if staff is not None:
            await self._show_author(staff, message)
        return staff is not None

    async def _show_order(self, staff: StaffSession, reference: str, _: int = 0) -> bool:
        """Show an order of ours, or after `MARK` what the service reports about its id."""
        if reference.startswith(MARK):
            return await self._show_of_service(staff, reference.removeprefix(MARK), is_evidence=False)
        case = await self._lookups.view_order(staff.user.id, reference)
        if case is not None:
            await self._show(staff, screens.show_order(await staff.reader_who_knows(*case.people), case))
        return case is not None

    async def _show_order_of_alarm(self, staff: StaffSession, reference: str, _: int) -> bool:
        staff.session.message_id = None
        return await self._show_order(staff, reference)

    async def _show_ticket(self, staff: StaffSession, reference: str, _: int, *, in_place: bool = False) -> bool:
        ticket = await self._find_ticket(reference)
        if ticket is not None:
            await self._ticket_pages.show(staff, ticket, in_place=in_place)
        return ticket is not None

    async def _show_evidence(self, staff: StaffSession, reference: str, _: int) -> bool:
        if reference.startswith(MARK):
            return await self._show_of_service(staff, reference.removeprefix(MARK), is_evidence=True)
        order = await self._lookups.view_evidence(staff.user.id, reference)
        if order is not None:
            await self._show(staff, screens.show_evidence(staff.reader, order))
        return order is not None

    async def _show_of_service(self, staff: StaffSession, service_id: str, *, is_evidence: bool) -> bool:
        """Show what the service reports about an order, or our order if it is one of ours."""
        if not is_service_id(service_id):
            return False
        await staff.toast("support.staff_ticket.reading")
        subject, show = (
            ("evidence", screens.show_evidence) if is_evidence else ("service_order", screens.show_service_order)
        )
        try:
            order = await self._service_orders.view(staff.user.id, service_id, subject)
        except SettlementFailure as failure:
            await self._show(staff, screens.explain_failure(staff.t, service_id, failure))
            return True
        if order is not None:
            await self._show(staff, show(replace(staff.reader, now=order.read_at or staff.now), order))
            return True
        reference = await self._service_orders.find_reference(service_id)
        return reference is not None and await self._show_order(staff, reference)

    async def _show_orders_of(self, staff: StaffSession, user: str, offset: int) -> bool:
        user_id = parse_user_id(user)
        if user_id is not None:
            page = await self._lookups.list_orders_of(user_id, offset)
            await self._show(staff, screens.list_orders_of(await staff.reader_who_knows(user_id), user_id, page))
        return user_id is not None

    async def _show_tickets_of(self, staff: StaffSession, user: str, offset: int) -> bool:
        user_id = parse_user_id(user)
        if user_id is not None:
            page = await self._lookups.list_tickets_of(user_id, offset)
            reader = await staff.reader_who_knows(user_id, *(ticket.claimed_by for ticket, _ in page.items))
            await self._show(staff, screens.list_tickets_of(reader, user_id, page))
        return user_id is not None

    async def _show_tickets(self, staff: StaffSession, which: str, offset: int = 0) -> bool:
        if which not in set(TicketFilter):
            return False
        listed = await self._lookups.list_tickets(TicketFilter(which), staff.user.id, offset)
        times = await self._lookups.measure_reply_times(Period.WEEK, staff.session.zone)
        users = (user_id for ticket, _ in listed.page.items for user_id in (ticket.user_id, ticket.claimed_by))
        await self._show(staff, screens.list_tickets(await staff.reader_who_knows(*users), listed, times))
        return True

    async def _show_by_name(self, staff: StaffSession, name: str) -> None:
        users = await self._lookups.find_users(name)
        if len(users) > 1:
            await self._show_results(staff, Found(query=ParsedQuery(text=name, wanted=OrderFilter()), users=users))
        elif users:
            await self._show_user_or_explain(staff, users[0])
        else:
            await self._show(staff, Screen(staff.t("support.lookup.nobody_called")))

    async def _show_author(self, staff: StaffSession, message: Message) -> None:
        origin = message.forward_origin
        if isinstance(origin, MessageOriginUser) and not origin.sender_user.is_bot:
            await self._show_user_or_explain(staff, origin.sender_user.id)
        else:
            is_hidden = isinstance(origin, MessageOriginHiddenUser)
            await self._show(
                staff, Screen(staff.t("support.lookup.hidden" if is_hidden else "support.lookup.by_no_person"))
            )

    async def _show_user_or_explain(self, staff: StaffSession, user_id: int) -> None:
        if not await self._show_user(staff, str(user_id)):
            await self._show(staff, Screen(staff.t("support.lookup.nobody", user=str(user_id))))

    async def _show_user(self, staff: StaffSession, user: str, _: int = 0) -> bool:
        user_id = parse_user_id(user)
        about = await self._lookups.view_user(staff.user.id, user_id) if user_id is not None else None
        if about is not None:
            reader = await staff.reader_who_knows(user_id, *(ticket.claimed_by for ticket in about.tickets))
            await self._show(staff, screens.show_user(reader, about))
        return about is not None

    async def _show(self, staff: StaffSession, screen: Screen) -> None:
        """Show a page in place of the pressed message, or as a new message after a command.

        A message of a ticket isn't replaced, because agents reply to it. A press under it gets a new message.
        """
        is_press = staff.session.message_id is not None
        await staff.session.acknowledge()
        if is_press and not await self._messages.is_of_ticket(staff):
            await staff.edit_message(screen)
        else:
            await staff.say(screen)

    async def _find_ticket(self, word: str) -> Ticket | None:
        """Return the ticket with this reference, typed with or without its hyphen."""
        name = word.upper()
        if not TICKET.fullmatch(name):
            return None
        async with self._database.reading() as tx:
            return await TicketRepository(tx).get(f"T-{name[1:].removeprefix('-')}")
