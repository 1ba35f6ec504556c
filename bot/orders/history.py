"""A user's orders in pages, newest first.

A page begins at an order, not at a number. So a new order doesn't shift the pages of older orders, and no order is
skipped or shown twice. Only the newest page always begins at the newest order.
"""

from dataclasses import dataclass

from bot.infra.db.transaction import Transaction
from bot.orders.buttons import NEWEST
from bot.orders.order import Order
from bot.orders.repository import OrderRepository

PAGE = 6


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


async def read_page(tx: Transaction, user_id: int, first: str = NEWEST) -> HistoryPage:
    """Return the page that begins at the order `first`, or the newest page if that isn't an order of the user."""
    order = await OrderRepository(tx).get(first) if first else None
    if order is None or order.payer.user_id != user_id:
        return await _read_from(tx, user_id, 0)
    return await _read_from(tx, user_id, await OrderRepository(tx).count_newer(order))


async def read_page_with(tx: Transaction, order: Order) -> HistoryPage:
    """Return the page with `order`, counting pages from the newest one."""
    newer = await OrderRepository(tx).count_newer(order)
    return await _read_from(tx, order.user_id, newer - newer % PAGE)


async def _read_from(tx: Transaction, user_id: int, before: int) -> HistoryPage:
    repository = OrderRepository(tx)
    found = await repository.of_user(user_id, limit=PAGE + 1, offset=before)
    newer = await repository.of_user(user_id, limit=1, offset=before - PAGE) if before > PAGE else ()
    return HistoryPage(
        orders=found[:PAGE],
        first=found[0].reference if before and found else NEWEST,
        newer=(newer[0].reference if newer else NEWEST) if before else None,
        older=found[PAGE].reference if len(found) > PAGE else None,
        before=before,
        total=await repository.count_of_user(user_id),
    )
