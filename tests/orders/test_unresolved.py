"""If an order isn't found in time, its user decides. No decision shows two invoices for one request."""

import asyncio

from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Phase
from bot.orders.repository import OrderRepository
from tests.orders.order_system import EMMA, OrderSystem, place_unresolved, rules, seconds
from tests.settlement.fake_settlement import FakeSettlement


async def test_a_user_who_was_asked_still_gets_an_order_that_is_found_later(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    service.listed = False
    order = await system.place()
    await system.find_lost_orders(after=61)
    service.listed = True
    await system.find_lost_orders(after=61)
    assert system.sender.kinds() == [
        OrderNotification.CHECKING,
        OrderNotification.UNRESOLVED,
        OrderNotification.INVOICE,
    ]
    assert await system.orders.try_again(order.reference) is None
    assert not await system.orders.drop(order.reference)
    assert service.times("place") == 1


async def test_trying_again_posts_once_however_often_it_is_tapped(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    lost = await place_unresolved(system, service)
    tries = await asyncio.gather(*(each.orders.try_again(lost.reference) for each in (system, other_system) * 5))
    await system.orders.submission.wait()
    await other_system.orders.submission.wait()
    again = [order for order in tries if order is not None]
    assert len(again) == 1
    assert (again[0].attempt, service.times("place")) == (2, 2)
    await system.deliver()
    assert len(system.sender.payment_requests()) == 1
    async with system.store.reading() as tx:
        events = await OrderRepository(tx).events(lost.reference)
    assert [event.note for event in events].count(EventNote.TRIED_AGAIN) == 1


async def test_the_answer_that_comes_after_the_user_tried_again_shows_no_second_invoice(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = held_back = asyncio.Event()
    first = await system.begin()
    service.listed = False
    await other_system.find_lost_orders(after=61)
    service.gate = None
    again = await other_system.orders.try_again(first.reference)
    assert again is not None
    await other_system.orders.submission.wait()
    held_back.set()
    await system.orders.submission.wait()
    await system.deliver()
    await other_system.deliver()
    assert system.sender.payment_requests() + other_system.sender.payment_requests() == [
        service.records["svc-2"].bolt11
    ]
    given_up = await system.order(first.reference)
    assert (given_up.phase, given_up.service_id) == (Phase.ABANDONED, "svc-1")


async def test_a_request_that_another_process_may_still_have_under_way_is_not_asked_about(
    file: str, service: FakeSettlement
) -> None:
    hasty = rules(ask_lost_after=seconds(1))
    posting, watching = OrderSystem(file, service, rules=hasty), OrderSystem(file, service, rules=hasty)
    service.gate, service.listed = asyncio.Event(), False
    order = await posting.begin()
    await watching.find_lost_orders(after=34.9)
    assert watching.sender.kinds() == []
    await watching.find_lost_orders(after=0.1)
    assert watching.sender.kinds() == [OrderNotification.UNRESOLVED]
    assert (await posting.order(order.reference)).phase is Phase.UNRESOLVED
    service.gate.set()
    await posting.close()
    await watching.close()


async def test_every_process_leaves_an_order_alone_until_its_request_has_surely_ended(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = asyncio.Event()
    order = await system.begin()
    await other_system.find_lost_orders(after=34.9)
    # The list has the order, and another process is about to show it.
    assert service.times("newest") == 0
    assert (await system.order(order.reference)).phase is Phase.INTENDED
    await other_system.find_lost_orders(after=0.1)
    assert (await system.order(order.reference)).phase is Phase.OPEN
    assert other_system.sender.kinds() == [OrderNotification.INVOICE]
    service.gate.set()
    await system.orders.submission.wait()
    await system.deliver()
    assert system.sender.kinds() == []


async def test_a_process_that_is_alone_looks_at_once_for_the_orders_of_the_process_before_it(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = asyncio.Event()
    order = await system.begin()
    system.clock.passes(seconds=1)
    alone = other_system.build_lost_orders(system.clock.now())
    await alone.run_once()
    assert (await system.order(order.reference)).phase is Phase.OPEN


async def test_a_question_that_nobody_answers_is_closed_after_a_day(
    system: OrderSystem, service: FakeSettlement
) -> None:
    lost = await place_unresolved(system, service)
    await system.find_lost_orders(after=86_400)
    assert (await system.order(lost.reference)).phase is Phase.ABANDONED
    assert await system.orders.try_again(lost.reference) is None
    async with system.store.reading() as tx:
        assert await OrderRepository(tx).open_of_user(EMMA) == ()
