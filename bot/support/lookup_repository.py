"""Find orders and users for support, and our orders that an order of the service is or may be."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, false, func, or_, select, true

from bot.infra.db import encryption
from bot.infra.db.columns import constant
from bot.infra.db.errors import RowUnreadable
from bot.orders.order import NOT_ENDED, UNCERTAIN_PHASES, Order, Phase
from bot.orders.repository import NEWEST_FIRST
from bot.orders.rows import OrderRows
from bot.orders.tables import IS_CLAIMED, IS_UNCLAIMED, orders
from bot.settlement import json_values as nested
from bot.settlement.model import FAILED, PayoutMethod
from bot.support.lookup_model import OrderCounts, OrderFilter
from bot.users.tables import HAS_USERNAME, users

MAX_UNCLAIMED = 20
"""How many orders are read that an order of the service may be."""

MAY_BE_LOST = (*UNCERTAIN_PHASES, Phase.ABANDONED)


MAX_MATCHES = 200
"""How many references, and how many ids, a fragment can match."""

LIKE_CHARACTERS = frozenset("%\\")
"""Characters with a special meaning in LIKE that no reference or id has. An id can have an underscore (`mem_…`)."""

MAX_SCANNED = 5_000
"""How many of the newest orders are searched for a number's last digits. Numbers are encrypted, so no index helps."""


class LookupRepository(OrderRows):
    """Read orders and users for support, newest first, in pages of `limit` from `offset` on."""

    async def find_orders(self, wanted: OrderFilter, *, limit: int, offset: int) -> tuple[Order, ...]:
        """Return the matching orders."""
        named = [reference for part in wanted.parts for reference in await self._find_by_part(part, wanted)]
        return await self._orders(_matches(wanted, named), limit, offset)

    async def _find_by_part(self, part: str, wanted: OrderFilter) -> list[str]:
        """Return the references of orders with this part in their reference or id, or at the end of their number."""
        if set(part) & LIKE_CHARACTERS:
            return []
        found = [name for like in _select_like(part) for name in (await self._connection.execute(like)).scalars()]
        if part.isdecimal():
            sealed = select(orders.c.reference, orders.c.number).where(orders.c.number != "", *_narrow(wanted))
            numbers = (await self._connection.execute(sealed.order_by(*NEWEST_FIRST).limit(MAX_SCANNED))).all()
            found += await asyncio.to_thread(self._list_ending_with, part, [(row[0], row[1]) for row in numbers])
        return found

    def _list_ending_with(self, digits: str, numbers: Sequence[tuple[str, str]]) -> list[str]:
        """Return the references of the numbers that end with `digits`, of `MAX_MATCHES` at most."""
        found = list[str]()
        for reference, sealed in numbers:
            try:
                number = encryption.open_text(self._vault, orders.c.number, reference, sealed)
            except RowUnreadable:
                continue  # the list of orders records rows that can't be read
            if number.endswith(digits):
                found.append(reference)
        return found[:MAX_MATCHES]

    async def find_used_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the destinations of all orders, each code once. The service may no longer list some of them."""
        first_of_codes = select(func.min(orders.c.reference)).group_by(orders.c.method_code)
        used = select(orders.c.reference, orders.c.method).where(orders.c.reference.in_(first_of_codes))
        found = (await self._connection.execute(used.order_by(orders.c.method_code))).mappings()
        return encryption.read_rows(self._vault, orders, found, _to_method, are_opened=False)

    async def find_users_by_part(self, username: str, limit: int) -> tuple[int, ...]:
        """Return the ids of users with this in their username, the last seen first."""
        if not username or set(username) & LIKE_CHARACTERS:
            return ()
        part = username.lower().replace("_", r"\_")
        named = select(users.c.id).where(HAS_USERNAME, users.c.username.contains(part, escape="\\"))
        last_seen_first = named.order_by(users.c.last_seen_at.desc(), users.c.id)
        return tuple((await self._connection.execute(last_seen_first.limit(limit))).scalars())

    async def count_orders(self, user_id: int) -> OrderCounts:
        """Return how many orders the user has."""
        is_in_progress = orders.c.phase.in_([constant(phase) for phase in NOT_ENDED])
        has_failed = orders.c.is_paid.is_(true()) & (orders.c.state == constant(FAILED))
        counts = (
            func.coalesce(func.sum(case((kind, 1), else_=0)), 0)
            for kind in (is_in_progress, orders.c.is_paid.is_(true()), has_failed)
        )
        counted = select(func.count(), *counts).where(orders.c.user_id == user_id)
        placed, in_progress, paid, failed = map(int, (await self._connection.execute(counted)).one())
        return OrderCounts(orders=placed, in_progress=in_progress, paid=paid, failed=failed)

    async def find_reference(self, service_id: str) -> str | None:
        """Return our reference of the service's order, even if the row can't be read."""
        claimed = select(orders.c.reference).where(IS_CLAIMED, orders.c.service_id == service_id)
        found: str | None = await self._connection.scalar(claimed)
        return found

    async def find_unclaimed(self, code: str, since: datetime, until: datetime) -> tuple[Order, ...]:
        """Return orders to a destination that the service may have created, while we have no id of them."""
        unclaimed = select(orders).where(
            IS_UNCLAIMED,
            orders.c.method_code == code,
            orders.c.created_at.between(since, until),
            orders.c.phase.in_([constant(phase) for phase in sorted(MAY_BE_LOST)]),
        )
        oldest_first = unclaimed.order_by(orders.c.created_at, orders.c.reference)
        return await self._find(oldest_first.limit(MAX_UNCLAIMED))

    async def _orders(self, condition: ColumnElement[bool], limit: int, offset: int) -> tuple[Order, ...]:
        return await self._find(select(orders).where(condition).order_by(*NEWEST_FIRST).limit(limit).offset(offset))


def _to_method(known: dict[str, Any]) -> PayoutMethod:
    return nested.to_method(known["method"])


def _select_like(part: str) -> Iterator[Select[Any]]:
    """Yield the queries for the orders with this part in their reference, and in their id at the service.

    Each is searched in an index. The table is read only for the matches.
    """
    quoted = part.replace("_", r"\_")
    references = select(orders.c.reference).where(orders.c.reference.contains(quoted.upper(), escape="\\"))
    yield references.order_by(*NEWEST_FIRST).limit(MAX_MATCHES)
    has_part = func.lower(orders.c.service_id).contains(quoted.lower(), escape="\\")
    service_ids = select(orders.c.service_id).where(IS_CLAIMED, has_part).limit(MAX_MATCHES)
    yield select(orders.c.reference).where(orders.c.service_id.in_(service_ids))


def _narrow(wanted: OrderFilter) -> list[ColumnElement[bool]]:
    """Return the conditions that every order has to meet."""
    return [
        *([orders.c.method_code == wanted.code] if wanted.code else []),
        *([orders.c.created_at >= wanted.since] if wanted.since else []),
        *([orders.c.created_at < wanted.until] if wanted.until else []),
    ]


def _matches(wanted: OrderFilter, named: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition of matching orders. `named` are the references that the filter's parts have found."""
    either = [
        column.in_(values)
        for columns, values in (
            ((orders.c.idr, orders.c.expected_idr), wanted.idr),
            ((orders.c.sats, orders.c.expected_sats), wanted.sats),
        )
        for column in columns
        if values
    ]
    if wanted.parts:
        either.append(orders.c.reference.in_(list(dict.fromkeys(named))))
    return and_(true(), *_narrow(wanted), *([or_(false(), *either)] if either else []))
