"""Handle lookups of support agents: `/find`, `/order`, `/tickets`, `/customer`, and the buttons of their pages."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from telegram import Message, MessageOriginHiddenUser, MessageOriginUser, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.core.date_ranges import Period
from bot.infra.db.database import Database
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.router import PRIVATE, Context, Handler, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.settlement.model import SettlementFailure
from bot.support.buttons import LookupButton, LookupPage
from bot.support.lookup.model import PAGE_SIZE, OrderFilter, Page, parse_user_id
from bot.support.lookup.query import ParsedQuery, format_page, format_search, parse_page, parse_search
from bot.support.lookup.screens import evidence as evidence_screens
from bot.support.lookup.screens import orders as order_screens
from bot.support.lookup.screens import service_orders as service_screens
from bot.support.lookup.screens import tickets as ticket_screens
from bot.support.lookup.screens import user as user_screens
from bot.support.lookup.service import MIN_FRAGMENT, LookupService
from bot.support.model import TicketFilter
from bot.support.service_orders import ServiceOrder, ServiceOrders, is_service_id
from bot.support.staff.messages import TicketMessages
from bot.support.staff.session import StaffSession, StaffSessions
from bot.support.staff.ticket_pages import TicketPages
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository

TICKET: Final = re.compile(r"T-?[0-9A-Z]{5}")
FRAGMENT: Final = re.compile(rf"[0-9A-Za-z_-]{{{MIN_FRAGMENT},40}}")
_USER_LINK: Final = re.compile(r"@|https://t\.me/|t\.me/", re.IGNORECASE)
AROUND_IDS: Final = "#<>"
"""What people put around a reference or an id."""

PICTURES: Final = filters.PHOTO | filters.Document.ALL
"""A forwarded picture may be a receipt. The bot checks receipts for everyone."""

_ShowPage = Callable[[StaffSession, str], Awaitable[bool]]
"""Shows a page. It returns False if the page's subject doesn't exist."""


class LookupHandlers:
    """Show orders, tickets and users to support agents. The audit log records who opened which."""

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
            LookupPage.EVIDENCE: self._show_evidence,
            LookupPage.SERVICE_ORDER: self._show_service_order,
            LookupPage.SERVICE_EVIDENCE: self._show_service_evidence,
            LookupPage.ORDERS_BY_FRAGMENT: self._show_by_fragment,
            LookupPage.ORDERS_FOUND: self._show_found_page,
            LookupPage.USER: self._show_user,
            LookupPage.ORDERS_OF_USER: self._show_orders_of,
            LookupPage.TICKETS_OF_USER: self._show_tickets_of,
            LookupPage.TICKETS: self._show_tickets,
        }

    def routes(self) -> Routes[StaffSession]:
        """Return the commands and the buttons."""
        routes = self._sessions.routes()
        routes.add_command("order", self.order, menu={Menu.SUPPORT: 30})
        routes.add_command("find", self.find, menu={Menu.SUPPORT: 20})
        routes.add_command("tickets", self.list_tickets, menu={Menu.SUPPORT: 10})
        routes.add_command("customer", self.user, menu={Menu.SUPPORT: 40})
        routes.add_button(LookupButton, self.lookup_button)
        return routes

    def forwarded_handler(self) -> Handler:
        """Return the handler of messages that agents forward to the bot."""
        return MessageHandler(PRIVATE & filters.FORWARDED & ~filters.COMMAND & ~PICTURES, self._forwarded)

    async def order(self, staff: StaffSession, typed: str) -> None:
        """Show the order with this reference or id, or with a part of them. The service is asked about unknown ids.

        Without an argument, show the order of the ticket that the command replies to.
        """
        wanted = "".join(typed.split()).strip(AROUND_IDS)
        name = wanted.upper()
        ticket = await self._find_ticket(name) if wanted else await self._messages.ticket_of(staff, staff.message)
        if ticket is not None and ticket.order_reference:
            await self._show_order(staff, ticket.order_reference)
        elif ticket is not None:
            await self._ticket_pages.show(staff, ticket)
        elif not wanted:
            await self._show(staff, Screen(staff.t("support.lookup.how_order")))
        elif (found := await self._lookups.find_order(wanted)) is not None:
            await self._show_order(staff, found.reference)
        elif _read_service_id(typed) and not (await self._lookups.find_orders_by_fragment(wanted)).items:
            await self._show_service_order(staff, wanted)
        else:
            await self._show_by_fragment(staff, format_page(wanted))

    async def find(self, staff: StaffSession, typed: str) -> None:
        """Show what the typed text names: an order, a ticket, a user, or orders by destination, sum and day."""
        text = " ".join(typed.split())
        word = _read_one_word(typed)
        if not text:
            await self._show(staff, Screen(staff.t("support.lookup.how_find")))
        elif not word:
            await self._find_orders(staff, text)
        elif (ticket := await self._find_ticket(word.upper())) is not None:
            await self._ticket_pages.show(staff, ticket)
        elif (order := await self._lookups.find_order(word)) is not None:
            await self._show_order(staff, order.reference)
        elif _USER_LINK.match(word):
            await self._show_by_name(staff, word)
        else:
            await self._find_anything(staff, word)

    async def _find_anything(self, staff: StaffSession, word: str) -> None:
        """Show what has this word in its name. If that is one order or one user, show its page."""
        parsed = await self._lookups.parse_query(word, staff.session.zone)
        users = await self._find_users(staff, word)
        page = Page[Order](()) if parsed.wanted.is_empty else await self._lookups.find_orders(parsed.wanted)
        if not users and parsed.wanted.is_name and len(page.items) == 1:
            await self._show_order(staff, page.items[0].reference)
        elif len(users) == 1 and not page.items:
            await self._show_user_or_explain(staff, users[0])
        elif users or page.items:
            await self._show_results(staff, parsed.wanted, page, users)
        elif parsed.candidates and not is_service_id(word):
            destinations = order_screens.destination_rows(parsed.candidates, _search_data(parsed))
            await self._show(staff, user_screens.offer_destinations(staff.t, word, destinations))
        elif is_service_id(word):
            await self._show_service_order(staff, word)
        elif parsed.wanted.is_empty or parsed.wanted.is_name:
            await self._show(staff, Screen(staff.t("support.lookup.nothing_called", what=quote_input(word))))
        else:
            await self._show_found(staff, parsed.wanted, 0)

    async def _find_orders(self, staff: StaffSession, text: str) -> None:
        """Show the orders with the typed destination, sum and day."""
        parsed = await self._lookups.parse_query(text, staff.session.zone)
        if parsed.unread:
            await self._show(staff, Screen(staff.t("support.lookup.unread", what=" ".join(parsed.unread))))
        elif parsed.candidates:
            await self._show(staff, order_screens.ask_destination(staff.t, parsed.candidates, _search_data(parsed)))
        else:
            await self._show_found(staff, parsed.wanted, 0)

    async def _find_users(self, staff: StaffSession, word: str) -> tuple[int, ...]:
        """Return the users with this id, with it in their @username, or with this first name in a newest ticket."""
        if word.isdecimal():
            user_id = parse_user_id(word)
            return (user_id,) if user_id and await self._lookups.find_known_user(user_id) else ()
        if len(word) < MIN_FRAGMENT:
            return ()
        names = await staff.messenger.names.find(await self._lookups.list_askers())
        called = (user_id for user_id, name in names.items() if word.casefold() in name.casefold().split())
        found = await self._lookups.find_users_by_part(word)
        return tuple(dict.fromkeys((*called, *found)))[:PAGE_SIZE]

    async def _show_results(
        self, staff: StaffSession, wanted: OrderFilter, page: Page[Order], users: Sequence[int]
    ) -> None:
        method = await self._lookups.find_method(wanted.code) if wanted.code else None
        reader = await staff.reader_who_knows(*users, *(order.user_id for order in page.items))
        title = order_screens.format_search(reader, wanted, method)
        listed = order_screens.list_orders(reader, title, page, _search_pages(wanted))
        await self._show(staff, user_screens.add_users(reader, listed, users) if users else listed)

    async def list_tickets(self, staff: StaffSession, _: str) -> None:
        """Show the open tickets, oldest first, with buttons to the other lists."""
        await self._show_tickets(staff, format_page(TicketFilter.OPEN))

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
        if not await self._pages[button.page](staff, button.query):
            await staff.toast("support.staff.gone", alert=True)

    async def _forwarded(self, update: Update, _: Context) -> None:
        """Show the author of a message that an agent forwards to the bot, unless it answers an open question."""
        staff, message = await self._sessions.open(update), update.effective_message
        if staff is None or message is None or staff.session.is_in_conversation or staff.user.open_question:
            return
        await self._show_author(staff, message)
        raise ApplicationHandlerStop

    async def _show_order(self, staff: StaffSession, reference: str) -> bool:
        case = await self._lookups.view_order(staff.user.id, reference)
        if case is None:
            return False
        screen = order_screens.show_order(await staff.reader_who_knows(*case.people), case)
        await self._show(staff, screen)
        return True

    async def _show_evidence(self, staff: StaffSession, reference: str) -> bool:
        order = await self._lookups.view_evidence(staff.user.id, reference)
        if order is None:
            return False
        await self._show(staff, evidence_screens.show_evidence(staff.reader, order))
        return True

    async def _show_service_order(self, staff: StaffSession, service_id: str) -> bool:
        """Show what the service reports about an order, or our order if it is one of ours."""
        return await self._show_of_service(staff, service_id, "service_order", service_screens.show_service_order)

    async def _show_service_evidence(self, staff: StaffSession, service_id: str) -> bool:
        return await self._show_of_service(staff, service_id, "evidence", evidence_screens.show_service_evidence)

    async def _show_of_service(
        self, staff: StaffSession, service_id: str, subject: str, show: Callable[[Reader, ServiceOrder], Screen]
    ) -> bool:
        if not is_service_id(service_id):
            return False
        await staff.toast("support.staff_ticket.reading")
        try:
            order = await self._service_orders.view(staff.user.id, service_id, subject)
        except SettlementFailure as failure:
            await self._show(staff, service_screens.explain_failure(staff.t, service_id, failure))
            return True
        if order is not None:
            await self._show(staff, show(replace(staff.reader, now=order.read_at or staff.now), order))
            return True
        reference = await self._service_orders.find_reference(service_id)
        return reference is not None and await self._show_order(staff, reference)

    async def _show_by_fragment(self, staff: StaffSession, query: str) -> bool:
        """List the orders whose reference or id contains a fragment. If there is only one, show its page."""
        fragment, offset = parse_page(query)
        if not FRAGMENT.fullmatch(fragment):
            await self._show(staff, Screen(staff.t("support.lookup.no_such_name", shortest=MIN_FRAGMENT)))
            return True
        page = await self._lookups.find_orders_by_fragment(fragment, offset)
        if len(page.items) == 1 and not offset:
            return await self._show_order(staff, page.items[0].reference)
        title = staff.t("support.lookup.orders_like", fragment=fragment)
        turn = partial(_page_data, LookupPage.ORDERS_BY_FRAGMENT, fragment)
        reader = await staff.reader_who_knows(*(order.user_id for order in page.items))
        await self._show(staff, order_screens.list_orders(reader, title, page, turn))
        return True

    async def _show_found_page(self, staff: StaffSession, query: str) -> bool:
        wanted = parse_search(query)
        if wanted is None or wanted[0].is_empty:
            return False
        await self._show_found(staff, *wanted)
        return True

    async def _show_found(self, staff: StaffSession, wanted: OrderFilter, offset: int) -> None:
        page = await self._lookups.find_orders(wanted, offset)
        await self._show_results(staff, wanted, page, ())

    async def _show_orders_of(self, staff: StaffSession, query: str) -> bool:
        whom = _parse_user_page(query, LookupPage.ORDERS_OF_USER)
        if whom is None:
            return False
        user_id, offset, turn = whom
        page = await self._lookups.list_orders_of(user_id, offset)
        reader = await staff.reader_who_knows(user_id)
        await self._show(staff, order_screens.list_orders_of(reader, user_id, page, turn))
        return True

    async def _show_tickets_of(self, staff: StaffSession, query: str) -> bool:
        whom = _parse_user_page(query, LookupPage.TICKETS_OF_USER)
        if whom is None:
            return False
        user_id, offset, turn = whom
        page = await self._lookups.list_tickets_of(user_id, offset)
        reader = await staff.reader_who_knows(user_id, *(ticket.claimed_by for ticket, _ in page.items))
        await self._show(staff, ticket_screens.list_tickets_of(reader, user_id, page, turn))
        return True

    async def _show_tickets(self, staff: StaffSession, query: str) -> bool:
        which, offset = parse_page(query)
        if which not in set(TicketFilter):
            return False
        listed = await self._lookups.list_tickets(TicketFilter(which), staff.user.id, offset)
        times = await self._lookups.measure_reply_times(Period.WEEK, staff.session.zone)
        reader = await staff.reader_who_knows(
            *(user_id for ticket, _ in listed.page.items for user_id in (ticket.user_id, ticket.claimed_by))
        )
        await self._show(staff, ticket_screens.list_tickets(reader, listed, times))
        return True

    async def _show_user(self, staff: StaffSession, user_id: str) -> bool:
        known = parse_user_id(user_id)
        return known is not None and await self._show_user_page(staff, known)

    async def _show_by_name(self, staff: StaffSession, name: str) -> None:
        ids = await self._lookups.find_users(name)
        if len(ids) > 1:
            await self._show(staff, user_screens.ask_which_user(await staff.reader_who_knows(*ids), ids))
        elif ids:
            await self._show_user_or_explain(staff, ids[0])
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
        if not await self._show_user_page(staff, user_id):
            await self._show(staff, Screen(staff.t("support.lookup.nobody", user=str(user_id))))

    async def _show_user_page(self, staff: StaffSession, user_id: int) -> bool:
        about = await self._lookups.view_user(staff.user.id, user_id)
        if about is None:
            return False
        reader = await staff.reader_who_knows(user_id, *(ticket.claimed_by for ticket in about.tickets))
        screen = user_screens.show_user(reader, about)
        await self._show(staff, screen)
        return True

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

    async def _find_ticket(self, name: str) -> Ticket | None:
        """Return the ticket with this reference, typed with or without its hyphen."""
        if not TICKET.fullmatch(name):
            return None
        async with self._database.reading() as tx:
            return await TicketRepository(tx).get(f"T-{name[1:].removeprefix('-')}")


def _read_service_id(typed: str) -> str:
    """Return the one typed word if it looks like an id of the service, or nothing. Several words can be a name."""
    word = _read_one_word(typed)
    return word if is_service_id(word) else ""


def _read_one_word(typed: str) -> str:
    """Return the typed text without what people put around a reference, if it is one word, or nothing."""
    words = typed.split()
    return words[0].strip(AROUND_IDS) if len(words) == 1 else ""


def _search_pages(wanted: OrderFilter) -> Callable[[int], str | None]:
    """Return what gives the button data of the pages of a search."""

    def turn(to: int) -> str | None:
        query = format_search(wanted, to)
        return query and LookupButton(LookupPage.ORDERS_FOUND, query).pack()

    return turn


def _search_data(parsed: ParsedQuery) -> Callable[[str], str | None]:
    """Return what gives the button data of a search with a destination. A word that was its name is no part then."""
    without = replace(parsed.wanted, parts=tuple(part for part in parsed.wanted.parts if part.isdecimal()))

    def find(code: str) -> str | None:
        return _search_pages(replace(without, code=code))(0)

    return find


def _parse_user_page(query: str, page: LookupPage) -> tuple[int, int, Callable[[int], str]] | None:
    """Return the user, the offset, and what gives the button data of other pages. Return None for a bad query."""
    subject, offset = parse_page(query)
    user_id = parse_user_id(subject)
    return None if user_id is None else (user_id, offset, partial(_page_data, page, str(user_id)))


def _page_data(page: LookupPage, subject: str, offset: int) -> str:
    return LookupButton(page, format_page(subject, offset)).pack()
