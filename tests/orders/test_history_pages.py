"""A user's orders in pages: newest first, each order once, even if new orders arrive in between."""

from datetime import timedelta

import pytest

from bot.orders.buttons import NEWEST
from bot.orders.history import PAGE, HistoryPage, read_page, read_page_with
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.times import NOW, SECOND


async def save_orders(system: OrderSystem, *places: int, user_id: int = EMMA, apart: timedelta = SECOND) -> None:
    """Save the orders R000, R001 and so on with these numbers, each a while after the one before."""
    async with system.store.transaction() as tx:
        for place in places:
            order = an_order(f"R{place:03}", user_id=user_id, chat_id=user_id, created_at=NOW + place * apart)
            assert await OrderRepository(tx).add(order)


async def page_from(system: OrderSystem, user_id: int, first: str = NEWEST) -> HistoryPage:
    async with system.store.reading() as tx:
        return await read_page(tx, user_id, first)


async def page_with(system: OrderSystem, order: Order) -> HistoryPage:
    async with system.store.reading() as tx:
        return await read_page_with(tx, order)


def numbers_on(page: HistoryPage) -> list[int]:
    """Return the numbers of the orders on a page."""
    return [int(order.reference[1:]) for order in page.orders]


@pytest.mark.parametrize("apart", [SECOND, timedelta(0)], ids=["one after another", "all in one moment"])
@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 20])
async def test_leafing_to_the_end_and_back_meets_each_order_once(
    system: OrderSystem, count: int, apart: timedelta
) -> None:
    await save_orders(system, *range(count), apart=apart)
    page = await page_from(system, EMMA)
    met, ways = numbers_on(page), [(page.first, page.before, page.total)]
    while page.older is not None:
        page = await page_from(system, EMMA, page.older)
        met += numbers_on(page)
        ways.append((page.first, page.before, page.total))
    assert met == list(reversed(range(count)))
    assert [(before, total) for _, before, total in ways] == [(n * PAGE, count) for n in range(len(ways))]
    back = [(page.first, page.before, page.total)]
    while page.newer is not None:
        page = await page_from(system, EMMA, page.newer)
        back.append((page.first, page.before, page.total))
    assert back == ways[::-1]


async def test_orders_that_arrive_while_somebody_leafs_move_no_page(system: OrderSystem) -> None:
    await save_orders(system, *range(20))
    first = await page_from(system, EMMA)
    assert numbers_on(first) == [19, 18, 17, 16, 15, 14]
    await save_orders(system, 20, 21)
    second = await page_from(system, EMMA, str(first.older))
    assert numbers_on(second) == [13, 12, 11, 10, 9, 8]
    assert (second.before, second.total) == (8, 22)
    back = await page_from(system, EMMA, str(second.newer))
    assert numbers_on(back) == numbers_on(first)
    assert back.newer == NEWEST
    assert numbers_on(await page_from(system, EMMA, NEWEST)) == [21, 20, 19, 18, 17, 16]


async def test_a_page_of_nobody_or_of_somebody_else_is_ones_own_newest(system: OrderSystem) -> None:
    await save_orders(system, *range(8))
    await save_orders(system, *range(100, 120), user_id=SARI)
    newest = await page_from(system, EMMA)
    assert numbers_on(newest) == [7, 6, 5, 4, 3, 2]
    for first in ("R110", "NOBODYS", "1", "99999"):
        assert await page_from(system, EMMA, first) == newest
    assert (await page_from(system, 4711, "R110")).orders == ()


async def test_the_way_back_leads_to_the_page_on_which_the_order_stands(system: OrderSystem) -> None:
    await save_orders(system, *range(20))
    pages = [await page_from(system, EMMA)]
    while pages[-1].older is not None:
        pages.append(await page_from(system, EMMA, pages[-1].older))
    for page in pages:
        for order in page.orders:
            assert await page_with(system, order) == page


async def test_an_order_that_its_user_has_deleted_is_on_no_page(system: OrderSystem) -> None:
    await save_orders(system, 0)
    await save_orders(system, 1, user_id=0)
    assert numbers_on(await page_from(system, EMMA, "R001")) == [0]
