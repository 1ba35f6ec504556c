"""Read and write tickets."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import ColumnElement, bindparam, select, update

from bot.infra.db import encryption
from bot.infra.db.repository import Repository
from bot.infra.db.statements import once
from bot.support.model import TicketFilter
from bot.support.ticket import Cause, CloseReason, Rating, Ticket, TicketStatus
from bot.support.ticket_statistics import TicketTimes
from bot.support.tickets.tables import IS_OPEN_TICKET, IS_WAITING_TICKET, tickets

log = structlog.get_logger(__name__)


class TicketRepository(Repository[Ticket]):
    """Read and write tickets. A user can have one open ticket about each order, and one about none."""

    table = tickets

    async def add(self, ticket: Ticket) -> bool:
        """Insert a ticket. Return False if one about the same is open, or the reference is taken."""
        is_added = await self._insert(ticket)
        if is_added:
            self._tx.on_commit.append(partial(_log_opened, ticket))
        return is_added

    async def get(self, reference: str) -> Ticket | None:
        """Return the ticket with this reference."""
        return await self._get(select(tickets).where(tickets.c.reference == reference))

    async def save(self, ticket: Ticket) -> Ticket | None:
        """Save a ticket, and return it with its next version. Return None if it has changed since it was read."""
        saved = replace(ticket, version=ticket.version + 1)
        seen = update(tickets).where(tickets.c.reference == ticket.reference, tickets.c.version == ticket.version)
        return saved if await self._change(seen, self._seal(saved)) == 1 else None

    async def open_of(self, user_id: int, order_reference: str = "") -> Ticket | None:
        """Return the open ticket of a user about this order, or about none."""
        open_of_user = select(tickets).where(IS_OPEN_TICKET, tickets.c.user_id == user_id)
        return await self._find_first(open_of_user.where(tickets.c.order_reference == order_reference))

    async def of_user(self, user_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Ticket, ...]:
        """Return a user's tickets: open ones first, then the newest."""
        of_user = select(tickets).where(tickets.c.user_id == user_id)
        open_first = of_user.order_by(IS_OPEN_TICKET.desc(), tickets.c.created_at.desc(), tickets.c.reference)
        return await self._find(open_first.limit(limit).offset(offset))

    async def of_order(self, order_reference: str) -> tuple[Ticket, ...]:
        """Return the tickets about an order, newest first."""
        about = once(
            lambda: (
                select(tickets)
                .where(tickets.c.order_reference == bindparam("about"))
                .order_by(tickets.c.created_at.desc(), tickets.c.reference)
            )
        )
        return await self._find(about, {"about": order_reference})

    async def listed(self, which: TicketFilter, staff_id: int, *, limit: int, offset: int) -> tuple[Ticket, ...]:
        """Return a list of tickets, oldest first. Closed tickets: the last closed first. `staff_id` is for `MINE`."""
        first = tickets.c.closed_at.desc() if which is TicketFilter.CLOSED else tickets.c.created_at
        listed = select(tickets).where(_is_listed(which, staff_id)).order_by(first, tickets.c.reference)
        return await self._find(listed.limit(limit).offset(offset))

    async def count(self, which: TicketFilter, staff_id: int) -> int:
        """Return how many tickets a list has."""
        return await self._count(_is_listed(which, staff_id))

    async def waiting(self, since: datetime) -> tuple[Ticket, ...]:
        """Return the open tickets that have waited since `since` or longer, the longest first."""
        waiting = select(tickets).where(IS_WAITING_TICKET, IS_OPEN_TICKET, tickets.c.waiting_since <= since)
        return await self._find(waiting.order_by(tickets.c.waiting_since, tickets.c.reference))

    async def newest_users(self, limit: int) -> tuple[int, ...]:
        """Return the users of the newest tickets, each once."""
        newest = select(tickets.c.user_id).order_by(tickets.c.created_at.desc()).limit(limit)
        found = (await self._connection.execute(newest)).scalars()
        return tuple(dict.fromkeys(int(user_id) for user_id in found))

    async def times(self, since: datetime, until: datetime) -> tuple[TicketTimes, ...]:
        """Return the times of the tickets that were opened from `since` to before `until`."""
        columns = (tickets.c[name] for name in ("reference", "created_at", "first_reply_at", "closed_at", "rating"))
        opened = select(*columns).where(tickets.c.created_at >= since, tickets.c.created_at < until)
        found = await self._connection.execute(opened)
        return encryption.read_rows(self._vault, tickets, found.mappings(), _to_times)

    def _to_value(self, known: dict[str, Any]) -> Ticket:
        known["cause"], known["status"] = Cause(known["cause"]), TicketStatus(known["status"])
        known["close_reason"] = CloseReason(known["close_reason"]) if known["close_reason"] else None
        known["rating"] = Rating(known["rating"]) if known["rating"] else None
        return Ticket(**known)


def _to_times(known: dict[str, Any]) -> TicketTimes:
    rating = known["rating"]
    return TicketTimes(
        known["created_at"], known["first_reply_at"], known["closed_at"], Rating(rating) if rating else None
    )


def _is_listed(which: TicketFilter, staff_id: int) -> ColumnElement[bool]:
    match which:
        case TicketFilter.OPEN:
            return IS_OPEN_TICKET
        case TicketFilter.MINE:
            return IS_OPEN_TICKET & (tickets.c.claimed_by == staff_id)
        case TicketFilter.UNCLAIMED:
            return IS_OPEN_TICKET & tickets.c.claimed_by.is_(None)
        case TicketFilter.CLOSED:
            return tickets.c.closed_at.is_not(None)


def _log_opened(ticket: Ticket) -> None:
    log.info("ticket_opened", cause=str(ticket.cause), **ticket.log_fields)
