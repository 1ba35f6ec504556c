"""Read and write tickets."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Integer, Select, bindparam, func, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.support.model import TicketFilter
from bot.support.ticket import Cause, CloseReason, Rating, Ticket, TicketStatus
from bot.support.ticket_statistics import TicketTimes
from bot.support.tickets.tables import IS_OPEN_TICKET, IS_WAITING_TICKET, tickets

log = structlog.get_logger(__name__)

ONE = select(tickets).where(tickets.c.reference == bindparam("reference"))
SAVE = update(tickets).where(
    tickets.c.reference == bindparam("key"), tickets.c.version == bindparam("seen", type_=Integer())
)
OPEN_OF = select(tickets).where(
    IS_OPEN_TICKET,
    tickets.c.user_id == bindparam("user"),
    tickets.c.order_reference == bindparam("about"),
)
PAGE = {"limit": bindparam("limit", type_=Integer()), "offset": bindparam("offset", type_=Integer())}
OF_USER = (
    select(tickets)
    .where(tickets.c.user_id == bindparam("user"))
    .order_by(IS_OPEN_TICKET.desc(), tickets.c.created_at.desc(), tickets.c.reference)
    .limit(PAGE["limit"])
    .offset(PAGE["offset"])
)
OF_ORDER = (
    select(tickets)
    .where(tickets.c.order_reference == bindparam("about"))
    .order_by(tickets.c.created_at.desc(), tickets.c.reference)
)
STAFF = bindparam("staff", type_=tickets.c.claimed_by.type)
WHICH: Mapping[TicketFilter, ColumnElement[bool]] = {
    TicketFilter.OPEN: IS_OPEN_TICKET,
    TicketFilter.MINE: IS_OPEN_TICKET & (tickets.c.claimed_by == STAFF),
    TicketFilter.UNCLAIMED: IS_OPEN_TICKET & tickets.c.claimed_by.is_(None),
    TicketFilter.CLOSED: tickets.c.closed_at.is_not(None),
}


def _list(which: TicketFilter) -> Select[Any]:
    first = tickets.c.closed_at.desc() if which is TicketFilter.CLOSED else tickets.c.created_at
    found = select(tickets).where(WHICH[which]).order_by(first, tickets.c.reference)
    return found.limit(PAGE["limit"]).offset(PAGE["offset"])


LISTED = {which: _list(which) for which in TicketFilter}
COUNTED = {which: select(func.count()).select_from(tickets).where(WHICH[which]) for which in TicketFilter}
WAITING = (
    select(tickets)
    .where(IS_WAITING_TICKET, IS_OPEN_TICKET)
    .where(tickets.c.waiting_since <= bindparam("since", type_=tickets.c.waiting_since.type))
    .order_by(tickets.c.waiting_since, tickets.c.reference)
)
NEWEST_USERS = select(tickets.c.user_id).order_by(tickets.c.created_at.desc()).limit(PAGE["limit"])
TIMES = select(
    tickets.c.reference, tickets.c.created_at, tickets.c.first_reply_at, tickets.c.closed_at, tickets.c.rating
).where(
    tickets.c.created_at >= bindparam("since", type_=tickets.c.created_at.type),
    tickets.c.created_at < bindparam("until", type_=tickets.c.created_at.type),
)


class TicketRepository:
    """Read and write tickets. A user can have one open ticket about each order, and one about none."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault
        self._on_commit = tx.on_commit

    async def add(self, ticket: Ticket) -> bool:
        """Insert a ticket. Return False if one about the same is open, or the reference is taken."""
        is_added = await upsert.insert_new(self._connection, tickets, asdict(ticket))
        if is_added:
            self._on_commit.append(partial(_log_opened, ticket))
        return is_added

    async def get(self, reference: str) -> Ticket | None:
        """Return the ticket with this reference."""
        return await self._one(ONE, {"reference": reference})

    async def save(self, ticket: Ticket) -> Ticket | None:
        """Save a ticket, and return it with its next version. Return None if it has changed since it was read."""
        saved = replace(ticket, version=ticket.version + 1)
        values = {name: value for name, value in asdict(saved).items() if name != "reference"}
        result = await self._connection.execute(SAVE.values(values), {"key": ticket.reference, "seen": ticket.version})
        return saved if result.rowcount == 1 else None

    async def open_of(self, user_id: int, order_reference: str = "") -> Ticket | None:
        """Return the open ticket of a user about this order, or about none."""
        return next(iter(await self._all(OPEN_OF, {"user": user_id, "about": order_reference})), None)

    async def of_user(self, user_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Ticket, ...]:
        """Return a user's tickets: open ones first, then the newest."""
        return await self._all(OF_USER, {"user": user_id, "limit": limit, "offset": offset})

    async def of_order(self, order_reference: str) -> tuple[Ticket, ...]:
        """Return the tickets about an order, newest first."""
        return await self._all(OF_ORDER, {"about": order_reference})

    async def listed(self, which: TicketFilter, staff_id: int, *, limit: int, offset: int) -> tuple[Ticket, ...]:
        """Return a list of tickets, oldest first. Closed tickets: the last closed first. `staff_id` is for `MINE`."""
        return await self._all(LISTED[which], {"limit": limit, "offset": offset, **_staff_parameter(which, staff_id)})

    async def count(self, which: TicketFilter, staff_id: int) -> int:
        """Return how many tickets a list has."""
        return int((await self._connection.execute(COUNTED[which], _staff_parameter(which, staff_id))).scalar_one())

    async def waiting(self, since: datetime) -> tuple[Ticket, ...]:
        """Return the open tickets that have waited since `since` or longer, the longest first."""
        return await self._all(WAITING, {"since": since})

    async def newest_users(self, limit: int) -> tuple[int, ...]:
        """Return the users of the newest tickets, each once."""
        found = (await self._connection.execute(NEWEST_USERS, {"limit": limit})).scalars()
        return tuple(dict.fromkeys(int(user_id) for user_id in found))

    async def times(self, since: datetime, until: datetime) -> tuple[TicketTimes, ...]:
        """Return the times of the tickets that were opened from `since` to before `until`."""
        found = await self._connection.execute(TIMES, {"since": since, "until": until})
        return encryption.read_rows(self._vault, tickets, found.mappings(), _to_times)

    async def _one(self, statement: Select[Any], parameters: Mapping[str, object]) -> Ticket | None:
        row = (await self._connection.execute(statement, parameters)).mappings().first()
        return encryption.read_row(self._vault, tickets, dict(row), _to_ticket) if row else None

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[Ticket, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return encryption.read_rows(self._vault, tickets, found, _to_ticket)


def _to_times(known: dict[str, Any]) -> TicketTimes:
    rating = known["rating"]
    return TicketTimes(
        known["created_at"], known["first_reply_at"], known["closed_at"], Rating(rating) if rating else None
    )


def _staff_parameter(which: TicketFilter, staff_id: int) -> dict[str, object]:
    return {"staff": staff_id} if which is TicketFilter.MINE else {}


def _to_ticket(row: Mapping[Any, Any]) -> Ticket:
    known: dict[str, Any] = dict(row)
    known["cause"], known["status"] = Cause(known["cause"]), TicketStatus(known["status"])
    known["close_reason"] = CloseReason(known["close_reason"]) if known["close_reason"] else None
    known["rating"] = Rating(known["rating"]) if known["rating"] else None
    return Ticket(**known)


def _log_opened(ticket: Ticket) -> None:
    log.info("ticket_opened", cause=str(ticket.cause), **ticket.log_fields)
