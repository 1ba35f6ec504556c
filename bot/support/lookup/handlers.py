"""Support looks up: `/order`, `/find`, `/tickets`, and the buttons that turn pages. `/person` has a file of its own."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from bot.core.date_ranges import Period
from bot.infra.telegram.ui.screen import Screen
from bot.support.lookup import user_handlers as lookup_people
from bot.support.lookup.buttons import LookupButton, LookupPage, finding, place, read_finding, read_place
from bot.support.lookup.pages import show, ticket_at
from bot.support.lookup.query import Sought
from bot.support.lookup.screens import orders as screens
from bot.support.lookup.screens import tickets as staff_lookup_tickets
from bot.support.lookup.service import SHORTEST_FRAGMENT, read_person_id
from bot.support.model import TicketFilter
from bot.support.staff.links import link_to
from bot.support.staff.questions import say_of
from bot.support.staff.session import StaffSession, staff_routes
from bot.support.ticket import Ticket
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository

TICKET: Final = re.compile(r"T-?[0-9A-Z]{5}")
FRAGMENT: Final = re.compile(rf"[0-9A-Za-z-]{{{SHORTEST_FRAGMENT},40}}")

routes = staff_routes()


async def show_ticket(staff: StaffSession, ticket: Ticket, argument: str = "") -> None:
    """A ticket's page as a message of its own, to be replied to as all of the ticket's are; or in its own place."""
    desk, now = staff.desk, staff.desk.clock.now()
    case = await desk.lookups.look_at_ticket(staff.person.id, ticket)
    async with desk.store.reading() as tx:
        heads = await TicketPostRepository(tx).heads(ticket.reference)
    link = next((found for head in heads if (found := link_to(head))), None)
    screen = staff_lookup_tickets.one(
        staff.t, ticket, case, now, staff.session.zone, default_locale=desk.default_locale, link=link
    )
    await staff.session.acknowledge()
    if argument == staff_lookup_tickets.HERE:
        await staff.update(screen)
    else:
        await say_of(staff, ticket, screen)


@routes.command("order")
async def order(staff: StaffSession, typed: str) -> None:
    """Show one order by its reference, its id or a piece of them; without any, that of the ticket that is answered."""
    wish = "".join(typed.split()).strip("#<>")
    name = wish.upper()
    ticket = await _ticket_called(staff, name) if wish else await ticket_at(staff, staff.message)
    if ticket is not None and ticket.order_reference:
        await _show_order(staff, ticket.order_reference)
    elif ticket is not None:
        await show_ticket(staff, ticket)
    elif not wish:
        await show(staff, Screen(staff.t("lookup.how_order")))
    elif (found := await staff.desk.lookups.order_called(wish)) is not None:
        await _show_order(staff, found.reference)
    else:
        await _show_like(staff, place(wish))


@routes.command("find")
async def find_orders(staff: StaffSession, typed: str) -> None:
    """Show orders by destination, sum and day, as they are typed."""
    question = await staff.desk.lookups.understood(" ".join(typed.split()), staff.session.zone)
    if question.unread:
        await show(staff, Screen(staff.t("lookup.unread", what=" ".join(question.unread))))
    elif question.candidates:

        def narrowed(code: str) -> str | None:
            query = finding(replace(question.sought, code=code))
            return query and LookupButton(LookupPage.ORDERS_FOUND, query).pack()

        await show(staff, screens.choose(staff.t, question.candidates, narrowed))
    elif question.sought.is_empty:
        await show(staff, Screen(staff.t("lookup.how_find")))
    else:
        await _show_found(staff, question.sought, 0)


@routes.command("tickets")
async def tickets(staff: StaffSession, _: str) -> None:
    """Show the open tickets, old first, and the other lists one tap away."""
    await _show_tickets(staff, place(TicketFilter.OPEN))


@routes.button(LookupButton)
async def lookup_button(staff: StaffSession, button: LookupButton) -> None:
    """Show the page that a button names."""
    if not await PAGES[button.page](staff, button.query):
        await staff.toast("staff.gone", alert=True)


async def _show_order(staff: StaffSession, reference: str) -> bool:
    desk = staff.desk
    case = await desk.lookups.look_at_order(staff.person.id, reference)
    if case is None:
        return False
    await show(staff, screens.order(staff.t, case, desk.clock.now(), staff.session.zone, desk.default_locale))
    return True


async def _show_like(staff: StaffSession, query: str) -> bool:
    """Orders that a fragment names; a single one at once."""
    fragment, offset = read_place(query)
    if not FRAGMENT.fullmatch(fragment):
        await show(staff, Screen(staff.t("lookup.no_such_name", shortest=SHORTEST_FRAGMENT)))
        return True
    page = await staff.desk.lookups.orders_named_like(fragment, offset)
    if len(page.items) == 1 and not offset:
        return await _show_order(staff, page.items[0].reference)
    title = staff.t("lookup.orders_like", fragment=fragment)
    turn = partial(_turn, LookupPage.ORDERS_LIKE, fragment)
    await show(staff, screens.orders(staff.t, title, page, turn, now=staff.desk.clock.now(), zone=staff.session.zone))
    return True


async def _turn_found(staff: StaffSession, query: str) -> bool:
    wanted = read_finding(query)
    if wanted is None or wanted[0].is_empty:
        return False
    await _show_found(staff, *wanted)
    return True


async def _show_found(staff: StaffSession, sought: Sought, offset: int) -> None:
    lookups, now, zone = staff.desk.lookups, staff.desk.clock.now(), staff.session.zone
    page = await lookups.found(sought, offset)
    method = await lookups.method(sought.code) if sought.code else None

    def turn(to: int) -> str | None:
        query = finding(sought, to)
        return query and LookupButton(LookupPage.ORDERS_FOUND, query).pack()

    title = screens.sought(staff.t, sought, method, zone)
    await show(staff, screens.orders(staff.t, title, page, turn, now=now, zone=zone))


async def _show_orders_of(staff: StaffSession, query: str) -> bool:
    whom = _read_person(query, LookupPage.ORDERS_OF_USER)
    if whom is None:
        return False
    person_id, offset, turn = whom
    page = await staff.desk.lookups.orders_of(person_id, offset)
    now, zone = staff.desk.clock.now(), staff.session.zone
    await show(staff, screens.orders_of(staff.t, person_id, page, turn, now=now, zone=zone))
    return True


async def _show_tickets_of(staff: StaffSession, query: str) -> bool:
    whom = _read_person(query, LookupPage.TICKETS_OF_USER)
    if whom is None:
        return False
    person_id, offset, turn = whom
    page = await staff.desk.lookups.tickets_of(person_id, offset)
    now, zone = staff.desk.clock.now(), staff.session.zone
    await show(staff, staff_lookup_tickets.of_person(staff.t, person_id, page, turn, now=now, zone=zone))
    return True


def _read_person(query: str, page: LookupPage) -> tuple[int, int, Callable[[int], str]] | None:
    """Whose, after how many, and what turns the pages of `page`."""
    of, offset = read_place(query)
    person_id = read_person_id(of)
    return None if person_id is None else (person_id, offset, partial(_turn, page, str(person_id)))


async def _show_tickets(staff: StaffSession, query: str) -> bool:
    which, offset = read_place(query)
    if which not in set(TicketFilter):
        return False
    desk, zone = staff.desk, staff.session.zone
    listed = await desk.lookups.tickets(TicketFilter(which), staff.person.id, offset)
    times = await desk.figures.tickets(Period.WEEK, zone)
    await show(staff, staff_lookup_tickets.screen(staff.t, listed, times, desk.clock.now(), zone))
    return True


def _turn(page: LookupPage, of: str, offset: int) -> str:
    return LookupButton(page, place(of, offset)).pack()


async def _ticket_called(staff: StaffSession, name: str) -> Ticket | None:
    """The ticket of this reference, its stroke left out or not; an order's own reference is longer."""
    if not TICKET.fullmatch(name):
        return None
    async with staff.desk.store.reading() as tx:
        return await TicketRepository(tx).get(f"T-{name[1:].removeprefix('-')}")


PAGES: Mapping[LookupPage, Callable[[StaffSession, str], Awaitable[bool]]] = {
    LookupPage.ORDER: _show_order,
    LookupPage.ORDERS_LIKE: _show_like,
    LookupPage.ORDERS_FOUND: _turn_found,
    LookupPage.USER: lookup_people.show_person,
    LookupPage.ORDERS_OF_USER: _show_orders_of,
    LookupPage.TICKETS_OF_USER: _show_tickets_of,
    LookupPage.TICKETS: _show_tickets,
}
"""What a button shows; whether there was such a thing."""
