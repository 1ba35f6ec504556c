"""Look up orders, users and tickets for support agents. The audit log records who opened which."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final, TypeVar

from bot.checkout.repository import DraftRepository
from bot.core.clock import Clock
from bot.core.date_ranges import Period, get_recent_span
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.outbound.names import Names
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import PayoutMethod
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.cases import Case, order_of, read_case
from bot.support.lookup_model import (
    MIN_PART,
    PAGE_SIZE,
    OrderFilter,
    Page,
    ParsedQuery,
    TicketPage,
    UserOverview,
    parse_query,
    parse_user_id,
)
from bot.support.lookup_repository import LookupRepository
from bot.support.model import Ticket, TicketFilter, TicketStatistics, measure_tickets
from bot.support.repository import TicketRepository
from bot.users.repository import UserRepository

T = TypeVar("T")

SHOWN_ON_USER_PAGE: Final = 3
"""How many orders, and how many tickets, a user's page shows."""

ASKERS: Final = 50
"""How many customers of the newest tickets are searched for a first name, which only Telegram knows."""


class LookupService:
    """Find orders, users and tickets."""

    def __init__(self, database: Database, catalogue: ServiceCatalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def find_order(self, name: str) -> Order | None:
        """Return the order with this reference, in upper or lower case, or with this id at the service."""
        async with self._database.reading() as tx:
            found = await OrderRepository(tx).get(name.upper())
            return found or (await OrderRepository(tx).by_service_id([name])).get(name)

    async def parse_query(self, text: str, zone: tzinfo) -> ParsedQuery:
        """Return the meaning of `text`. It can name a listed destination, or one of an earlier order."""
        return parse_query(text, await self._methods(), self._clock.now().astimezone(zone).date(), zone)

    async def find_orders(self, wanted: OrderFilter, offset: int = 0) -> Page[Order]:
        """Return the matching orders, newest first. An empty filter finds none."""
        if wanted.is_empty:
            return Page(())
        async with self._database.reading() as tx:
            return _to_page(await LookupRepository(tx).find_orders(wanted, limit=PAGE_SIZE + 1, offset=offset), offset)

    async def find_users(self, name: str) -> tuple[int, ...]:
        """Return the ids of the users with this id, @username or link, the last seen first.

        Several can have had the same username, one after the other.
        """
        called = name.strip().removeprefix("https://").removeprefix("t.me/").removeprefix("@").lower()
        if called.isdecimal():
            user_id = parse_user_id(called)
            return (user_id,) if user_id else ()
        async with self._database.reading() as tx:
            return tuple(user.id for user in (await UserRepository(tx).find_by_username(called))[:PAGE_SIZE])

    async def find_users_like(self, word: str, names: Names) -> tuple[int, ...]:
        """Return the known user with this id, or those with it in their @username or as first name in a new ticket.

        Telegram alone knows first names, so only customers of the newest tickets are asked for theirs.
        """
        async with self._database.reading() as tx:
            if word.isdecimal():
                user_id = parse_user_id(word)
                return (user_id,) if user_id and await _is_known(tx, user_id) else ()
            if len(word) < MIN_PART:
                return ()
            newest = await TicketRepository(tx).newest_users(ASKERS)
            found = await LookupRepository(tx).find_users_by_part(word, PAGE_SIZE)
        known = await names.find(newest)
        called = (user_id for user_id, name in known.items() if word.casefold() in name.casefold().split())
        return tuple(dict.fromkeys((*called, *found)))[:PAGE_SIZE]

    async def list_orders_of(self, user_id: int, offset: int = 0) -> Page[Order]:
        """Return a user's orders, newest first."""
        async with self._database.reading() as tx:
            return _to_page(await OrderRepository(tx).of_user(user_id, limit=PAGE_SIZE + 1, offset=offset), offset)

    async def list_tickets_of(self, user_id: int, offset: int = 0) -> Page[tuple[Ticket, Order | None]]:
        """Return a user's tickets, the open ones first."""
        async with self._database.reading() as tx:
            found = await TicketRepository(tx).of_user(user_id, limit=PAGE_SIZE + 1, offset=offset)
            return _to_page([(ticket, await order_of(tx, ticket)) for ticket in found], offset)

    async def list_tickets(self, which: TicketFilter, staff_id: int, offset: int = 0) -> TicketPage:
        """Return a list of tickets, oldest first. Closed tickets: the last closed first."""
        async with self._database.reading() as tx:
            found = await TicketRepository(tx).listed(which, staff_id, limit=PAGE_SIZE + 1, offset=offset)
            entries = [(ticket, await order_of(tx, ticket)) for ticket in found]
            counts = {each: await TicketRepository(tx).count(each, staff_id) for each in TicketFilter}
        return TicketPage(which, _to_page(entries, offset), counts)

    async def measure_reply_times(self, period: Period, zone: tzinfo) -> TicketStatistics:
        """Return how long users have waited for support over the last day, week or month."""
        span = get_recent_span(period, self._clock.now(), zone)
        async with self._database.reading() as tx:
            return measure_tickets(await TicketRepository(tx).times(span.since, span.until))

    async def view_order(self, staff_id: int, reference: str) -> Case | None:
        """Return the case of an order, or None if there is no such order."""
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None:
                return None
            await self._record(tx, staff_id, f"order:{order.reference}", order.user_id)
            return await read_case(tx, order.user_id, order.reference)

    async def view_evidence(self, staff_id: int, reference: str) -> Order | None:
        """Return an order to show its evidence, or None if there is no such order, or it has none."""
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or not order.evidence:
                return None
            await self._record(tx, staff_id, f"evidence:{order.reference}", order.user_id)
            return order

    async def view_user(self, staff_id: int, user_id: int) -> UserOverview | None:
        """Return an overview of a user, or None if the bot doesn't know them."""
        async with self._database.transaction() as tx:
            user, counts = await UserRepository(tx).get(user_id), await LookupRepository(tx).count_orders(user_id)
            if not user_id or (user is None and not counts.orders):
                return None
            await self._record(tx, staff_id, "person:", user_id)
            return UserOverview(
                user_id=user_id,
                user=user,
                counts=counts,
                orders=await OrderRepository(tx).of_user(user_id, limit=SHOWN_ON_USER_PAGE),
                tickets=await TicketRepository(tx).of_user(user_id, limit=SHOWN_ON_USER_PAGE),
                draft=await DraftRepository(tx).unfinished_of(user_id),
            )

    async def _methods(self) -> tuple[PayoutMethod, ...]:
        """Return the listed destinations, if the service answers, and then those of earlier orders."""
        try:
            live = await self._catalogue.methods()
        except SettlementFailure:
            live = ()
        async with self._database.reading() as tx:
            used = await LookupRepository(tx).find_used_methods()
        codes = {method.code for method in live}
        return (*live, *(method for method in used if method.code not in codes))

    async def _record(self, tx: Transaction, staff_id: int, subject: str, user_id: int) -> None:
        await record_audit(tx, staff_id, AuditAction.LOOKED, subject, self._clock.now(), user_id=user_id)


async def _is_known(tx: Transaction, user_id: int) -> bool:
    """Return whether the bot knows this user, or has orders of theirs."""
    user = await UserRepository(tx).get_if_readable(user_id)
    return user is not None or (await LookupRepository(tx).count_orders(user_id)).orders > 0


def _to_page(found: Sequence[T], offset: int) -> Page[T]:
    """Return a page of the rows found. One row more than a page means that there are more."""
    return Page(tuple(found[:PAGE_SIZE]), offset, len(found) > PAGE_SIZE)
