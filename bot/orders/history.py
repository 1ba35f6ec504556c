"""A user's orders in pages, newest first.

A page begins at an order, not at a number. So a new order doesn't shift the pages of older orders, and no order is
skipped or shown twice. Only the newest page always begins at the newest order.
"""

from dataclasses import dataclass

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.orders.repository import OrderRepository

PAGE = 6
NEWEST = ""
"""Stands for the newest page, in place of an order's reference."""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of a user's orders.

    `first` is the order at which this page begins. `newer` and `older` are those of the neighbouring pages. Each is a
    reference, `NEWEST`, or None if there is no such page. `before` is the number of newer orders on other pages, and
    `total` that of all orders.
    """

    orders: tuple[Order, ...]
    first: str
    newer: str | None
    older: str | None
    before: int
    total: int


class OrderHistory:
    """Read orders in pages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_page(self, user_id: int, first: str = NEWEST) -> HistoryPage:
        """Return the page that begins at the order `first`, or the newest page if that isn't an order of the user."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(first) if first else None
            if order is None or order.payer.user_id != user_id:
                return await _newest(tx, user_id)
            return await _from(tx, order)

    async def get_page_with(self, order: Order) -> HistoryPage:
        """Return the page with `order`, counting pages from the newest one."""
        async with self._database.reading() as tx:
            over = await OrderRepository(tx).count_newer(order) % PAGE
            before = await OrderRepository(tx).of_user_before(order, over) if over else ()
            first = before[0] if before else order
            if await OrderRepository(tx).count_newer(first) == 0:
                return await _newest(tx, order.user_id)
            return await _from(tx, first)


async def _newest(tx: Transaction, user_id: int) -> HistoryPage:
    found = await OrderRepository(tx).of_user(user_id, limit=PAGE + 1)
    total = await OrderRepository(tx).count_of_user(user_id)
    return HistoryPage(found[:PAGE], NEWEST, None, _reference_after(found), 0, total)


async def _from(tx: Transaction, first: Order) -> HistoryPage:
    before = await OrderRepository(tx).count_newer(first)
    found = await OrderRepository(tx).of_user_from(first, PAGE + 1)
    total = await OrderRepository(tx).count_of_user(first.user_id)
    newer = await _first_of_newer(tx, first, before)
    return HistoryPage(found[:PAGE], first.reference, newer, _reference_after(found), before, total)


async def _first_of_newer(tx: Transaction, first: Order, before: int) -> str | None:
    if before <= PAGE:
        return NEWEST if before else None
    return (await OrderRepository(tx).of_user_before(first, PAGE))[0].reference


def _reference_after(found: tuple[Order, ...]) -> str | None:
    return found[PAGE].reference if len(found) > PAGE else None
