"""Read orders and users for lookups. Each query uses an index, so that it stays fast with many orders."""

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, Text, and_, bindparam, case, false, func, or_, select, true

from bot.infra.db import encryption
from bot.infra.db.columns import constant
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.orders.repository import NEWEST_FIRST, NOT_ENDED
from bot.orders.rows import COLUMNS, to_order_if_readable
from bot.orders.tables import IS_CLAIMED, orders
from bot.settlement import json_values as nested
from bot.settlement.model import PayoutMethod
from bot.settlement.steps import FAILED
from bot.support.lookup.model import OrderCounts, OrderFilter
from bot.users.model import User
from bot.users.repository import to_user
from bot.users.tables import HAS_USERNAME, users

MAX_MATCHES = 200
"""How many references, and how many ids, a fragment can match."""

LIKE_CHARACTERS = frozenset("%\\")
"""Characters with a special meaning in LIKE that no reference or id has. An id can have an underscore (`mem_…`)."""

MAX_SCANNED = 5_000
"""How many of the newest orders are searched for a number's last digits. Numbers are encrypted, so no index helps."""

LIMIT, OFFSET = bindparam("limit", type_=Integer()), bindparam("offset", type_=Integer())
ORDERS = select(*COLUMNS).order_by(*NEWEST_FIRST).limit(LIMIT).offset(OFFSET)
# These two search an index. The table is read only for the matches.
REFERENCES = (
    select(orders.c.reference)
    .where(orders.c.reference.contains(bindparam("capitals", type_=Text()), autoescape=False, escape="\\"))
    .order_by(*NEWEST_FIRST)
    .limit(MAX_MATCHES)
)
SERVICE_IDS = (
    select(orders.c.service_id)
    .where(
        IS_CLAIMED,
        func.lower(orders.c.service_id).contains(bindparam("small", type_=Text()), autoescape=False, escape="\\"),
    )
    .limit(MAX_MATCHES)
)
WITH_FRAGMENT = ORDERS.where(or_(orders.c.reference.in_(REFERENCES), orders.c.service_id.in_(SERVICE_IDS)))
NUMBERS = (
    select(orders.c.reference, orders.c.number).where(orders.c.number != "").order_by(*NEWEST_FIRST).limit(MAX_SCANNED)
)

FIRST_OF_CODES = select(func.min(orders.c.reference)).group_by(orders.c.method_code)
USED_METHODS = (
    select(orders.c.reference, orders.c.method)
    .where(orders.c.reference.in_(FIRST_OF_CODES))
    .order_by(orders.c.method_code)
)

BY_USERNAME = (
    select(users)
    .where(HAS_USERNAME, users.c.username == bindparam("called"))
    .order_by(users.c.last_seen_at.desc(), users.c.id)
)
BY_PART_OF_USERNAME = (
    select(users.c.id)
    .where(HAS_USERNAME, users.c.username.contains(bindparam("called", type_=Text()), autoescape=False, escape="\\"))
    .order_by(users.c.last_seen_at.desc(), users.c.id)
    .limit(LIMIT)
)
HAS_PAID = orders.c.is_paid.is_(true())
IS_IN_PROGRESS = orders.c.phase.in_([constant(phase) for phase in NOT_ENDED])
ORDER_COUNTS = select(
    func.count(),
    *(
        func.coalesce(func.sum(case((kind, 1), else_=0)), 0)
        for kind in (IS_IN_PROGRESS, HAS_PAID, HAS_PAID & (orders.c.state == constant(FAILED)))
    ),
).where(orders.c.user_id == bindparam("user"))


class LookupRepository:
    """Read orders and users for support, newest first, in pages of `limit` from `offset` on."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def find_orders_by_fragment(self, fragment: str, *, limit: int, offset: int) -> tuple[Order, ...]:
        """Return the orders with `fragment` in their reference or their id at the service, in any case."""
        if not fragment or set(fragment) & LIKE_CHARACTERS:
            return ()
        return await self._orders(WITH_FRAGMENT, {**_format_fragment(fragment), "limit": limit, "offset": offset})

    async def find_orders(self, wanted: OrderFilter, *, limit: int, offset: int) -> tuple[Order, ...]:
        """Return the matching orders."""
        named = [reference for part in wanted.parts for reference in await self._find_by_part(part, wanted)]
        return await self._orders(_matching(wanted, named), {"limit": limit, "offset": offset})

    async def _find_by_part(self, part: str, wanted: OrderFilter) -> list[str]:
        """Return the references of orders with this part in their reference or id, or at the end of their number."""
        by_fragment = select(orders.c.reference).where(
            or_(orders.c.reference.in_(REFERENCES), orders.c.service_id.in_(SERVICE_IDS))
        )
        found = list((await self._connection.execute(by_fragment, _format_fragment(part))).scalars())
        if part.isdecimal():
            numbers = (await self._connection.execute(NUMBERS.where(*_narrow(wanted)))).all()
            found += await asyncio.to_thread(self._list_ending_with, part, [(row[0], row[1]) for row in numbers])
        return found

    def _list_ending_with(self, digits: str, numbers: Sequence[tuple[str, str]]) -> list[str]:
        """Return the references of the numbers that end with `digits`, of `MAX_MATCHES` at most."""
        found = list[str]()
        for reference, sealed in numbers:
            try:
                number = self._vault.open(sealed, encryption.get_place(orders.name, orders.c.number.key, reference))
            except RowUnreadable:
                continue  # the list of orders records rows that can't be read
            if number.endswith(digits):
                found.append(reference)
        return found[:MAX_MATCHES]

    async def find_used_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the destinations of all orders, each code once. The service may no longer list some of them."""
        found = (await self._connection.execute(USED_METHODS)).mappings()
        read = (encryption.read_sealed_row(self._vault, orders, dict(row), _to_method) for row in found)
        return tuple(filter(None, read))

    async def find_users_by_name(self, username: str) -> tuple[User, ...]:
        """Return the users who had this username when we last saw them, the last seen first."""
        found = (await self._connection.execute(BY_USERNAME, {"called": username})).mappings()
        return encryption.read_rows(self._vault, users, found, to_user)

    async def find_users_by_part(self, username: str, limit: int) -> tuple[int, ...]:
        """Return the ids of users with this in their username, the last seen first."""
        if not username or set(username) & LIKE_CHARACTERS:
            return ()
        known = {"called": username.lower().replace("_", r"\_"), "limit": limit}
        return tuple((await self._connection.execute(BY_PART_OF_USERNAME, known)).scalars())

    async def count_orders(self, user_id: int) -> OrderCounts:
        """Return how many orders the user has."""
        counted = (await self._connection.execute(ORDER_COUNTS, {"user": user_id})).one()
        placed, in_progress, paid, failed = map(int, counted)
        return OrderCounts(orders=placed, in_progress=in_progress, paid=paid, failed=failed)

    async def _orders(self, statement: Select[Any], known: dict[str, Any]) -> tuple[Order, ...]:
        found = await self._connection.execute(statement, known)
        return tuple(filter(None, (to_order_if_readable(row, self._vault) for row in found)))


def _to_method(known: dict[str, Any]) -> PayoutMethod:
    return nested.to_method(known["method"])


def _format_fragment(fragment: str) -> dict[str, Any]:
    quoted = fragment.replace("_", r"\_")
    return {"capitals": quoted.upper(), "small": quoted.lower()}


def _narrow(wanted: OrderFilter) -> list[ColumnElement[bool]]:
    """Return the conditions that every order has to meet."""
    return [
        *([orders.c.method_code == wanted.code] if wanted.code else []),
        *([orders.c.created_at >= wanted.since] if wanted.since else []),
        *([orders.c.created_at < wanted.until] if wanted.until else []),
    ]


def _matching(wanted: OrderFilter, named: Sequence[str]) -> Select[Any]:
    """Return the query of the matching orders. `named` are the references that the filter's parts have found."""
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
    return ORDERS.where(and_(true(), *_narrow(wanted), *([or_(false(), *either)] if either else [])))
