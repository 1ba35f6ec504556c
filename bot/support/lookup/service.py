"""Looking up, for support: orders, persons and tickets, in pages. A page of one of them is written down: who looked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, Generic, TypeVar

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.settlement.catalogue import Market
from bot.settlement.model import PayoutMethod, SettlementFailure
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from bot.support.cases import Case, case_of
from bot.support.lookup.model import PersonTally
from bot.support.lookup.query import Question, Sought, read
from bot.support.lookup.repository import LookupRepository
from bot.support.model import TicketFilter
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person
from bot.users.repository import UserRepository

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

PAGE: Final = 6
LATEST: Final = 3
"""Orders, and tickets, on a person's page."""

SHORTEST_FRAGMENT: Final = 3
LARGEST_ID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Some of many, from `offset` on."""

    items: tuple[T_co, ...]
    offset: int = 0
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class TicketPage:
    """A page of tickets, each with the order it is about, if any; and how many every list holds."""

    which: TicketFilter
    page: Page[tuple[Ticket, Order | None]]
    counts: dict[TicketFilter, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """All that support sees of a person at a glance; `person` is None where only their orders are left."""

    person_id: int
    person: Person | None
    tally: PersonTally
    orders: tuple[Order, ...]
    tickets: tuple[Ticket, ...]


class LookupService:
    """Finds, and writes down what was looked at."""

    def __init__(self, store: Database, market: Market, clock: Clock) -> None:
        self._store = store
        self._market = market
        self._clock = clock

    async def order_called(self, name: str) -> Order | None:
        """The order of exactly this reference, in small or capital letters, or id of the service."""
        async with self._store.reading() as tx:
            found = await OrderRepository(tx).get(name.upper())
            return found or (await OrderRepository(tx).by_service_id([name])).get(name)

    async def orders_named_like(self, fragment: str, offset: int = 0) -> Page[Order]:
        """Those that have this fragment in one of their names; a shorter one than three names none."""
        if len(fragment) < SHORTEST_FRAGMENT:
            return Page(())
        async with self._store.reading() as tx:
            found = await LookupRepository(tx).orders_named_like(fragment, limit=PAGE + 1, offset=offset)
        return _page(found, offset)

    async def understood(self, text: str, zone: tzinfo) -> Question:
        """What `text` asks for, among the live list's destinations and those of orders so far."""
        return read(text, await self._methods(), self._clock.now().astimezone(zone).date(), zone)

    async def method(self, code: str) -> PayoutMethod | None:
        """The destination of this code."""
        return next((method for method in await self._methods() if method.code == code), None)

    async def found(self, sought: Sought, offset: int = 0) -> Page[Order]:
        """The orders that fit."""
        async with self._store.reading() as tx:
            return _page(await LookupRepository(tx).orders_like(sought, limit=PAGE + 1, offset=offset), offset)

    async def people_called(self, name: str) -> tuple[int, ...]:
        """The ids of those of this id, @name or link; a name may have been several people's, the last seen first."""
        called = name.strip().removeprefix("https://").removeprefix("t.me/").removeprefix("@").lower()
        if called.isdecimal():
            person_id = read_person_id(called)
            return (person_id,) if person_id else ()
        async with self._store.reading() as tx:
            return tuple(person.id for person in (await LookupRepository(tx).people_called(called))[:PAGE])

    async def orders_of(self, person_id: int, offset: int = 0) -> Page[Order]:
        """A person's orders, newest first."""
        async with self._store.reading() as tx:
            return _page(await OrderRepository(tx).of_person(person_id, limit=PAGE + 1, offset=offset), offset)

    async def tickets_of(self, person_id: int, offset: int = 0) -> Page[tuple[Ticket, Order | None]]:
        """A person's tickets, the open ones first."""
        async with self._store.reading() as tx:
            found = await TicketRepository(tx).of_person(person_id, limit=PAGE + 1, offset=offset)
            return _page([(ticket, await _order_of(tx, ticket)) for ticket in found], offset)

    async def tickets(self, which: TicketFilter, staff_id: int, offset: int = 0) -> TicketPage:
        """A list of tickets, old first (closed ones: the last closed first)."""
        async with self._store.reading() as tx:
            found = await TicketRepository(tx).listed(which, staff_id, limit=PAGE + 1, offset=offset)
            entries = [(ticket, await _order_of(tx, ticket)) for ticket in found]
            counts = {each: await TicketRepository(tx).count(each, staff_id) for each in TicketFilter}
        return TicketPage(which, _page(entries, offset), counts)

    async def look_at_order(self, staff_id: int, reference: str) -> Case | None:
        """The case of an order; None where there is no such order."""
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None:
                return None
            await self._note(tx, staff_id, f"order:{order.reference}", order.person_id)
            return await case_of(tx, order.person_id, order.reference)

    async def look_at_ticket(self, staff_id: int, ticket: Ticket) -> Case:
        """The case that a ticket is about."""
        async with self._store.transaction() as tx:
            await self._note(tx, staff_id, f"ticket:{ticket.reference}", ticket.person_id)
            return await case_of(tx, ticket.person_id, ticket.order_reference)

    async def look_at_person(self, staff_id: int, person_id: int) -> About | None:
        """A person at a glance; None where the bot has never met them, or has forgotten them."""
        async with self._store.transaction() as tx:
            person, tally = await UserRepository(tx).get(person_id), await LookupRepository(tx).tally(person_id)
            if not person_id or (person is None and not tally.orders):
                return None
            await self._note(tx, staff_id, "person:", person_id)
            return About(
                person_id=person_id,
                person=person,
                tally=tally,
                orders=await OrderRepository(tx).of_person(person_id, limit=LATEST),
                tickets=await TicketRepository(tx).of_person(person_id, limit=LATEST),
            )

    async def _methods(self) -> tuple[PayoutMethod, ...]:
        """The live list first; also what it doesn't have any more, and what is known where it can't be had."""
        try:
            live = await self._market.methods()
        except SettlementFailure:
            live = ()
        async with self._store.reading() as tx:
            used = await LookupRepository(tx).methods()
        codes = {method.code for method in live}
        return (*live, *(method for method in used if method.code not in codes))

    async def _note(self, tx: Transaction, staff_id: int, subject: str, person_id: int) -> None:
        await AuditRepository(tx).add(
            AuditEntry(
                at=self._clock.now(),
                actor_id=staff_id,
                action=AuditAction.LOOKED,
                subject=subject,
                person_id=person_id,
            )
        )


def read_person_id(text: str) -> int | None:
    """The id that `text` is, if it can be anybody's."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(LARGEST_ID)) else 0
    return number if 0 < number <= LARGEST_ID else None


def _page(found: Sequence[T], offset: int) -> Page[T]:
    """A page of what was found with one more than it holds."""
    return Page(tuple(found[:PAGE]), offset, len(found) > PAGE)


async def _order_of(tx: Transaction, ticket: Ticket) -> Order | None:
    return await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
