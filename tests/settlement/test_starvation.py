"""A small budget and many paid orders that don't move: whoever pays another order is told in time all the same."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.budget import AdaptiveBudget, Budget
from bot.settlement.model import OrderReport, SlowDown
from bot.settlement.monitored import MonitoredSettlement
from bot.settlement.steps import OrderStep
from tests.builders import an_order
from tests.orders.order_world import House
from tests.settlement.fake_settlement import FakeSettlement

PER_SECOND = 10.0
FIVE_PEOPLE = tuple(range(3001, 3006))


def with_budget(house: House, per_second: float = PER_SECOND) -> None:
    """Let each request take its turn, by the clock of the test."""

    async def sleep(seconds: float) -> None:
        house.clock.passes(seconds=seconds)

    house.poller._budget = Budget(per_second, clock=lambda: house.clock.now().timestamp(), sleep=sleep)


async def polls_for(house: House, seconds: float) -> None:
    until = house.clock.now().timestamp() + seconds
    while house.clock.now().timestamp() < until:
        house.clock.passes(seconds=await house.poller.tick())


async def placed(house: House, people: Iterable[int], *, paid: bool = False) -> list[Order]:
    """Orders that have been placed a while ago, without all that placing one takes."""
    made, now = [], house.clock.now()
    async with house.store.transaction() as tx:
        for user in people:
            service_id, state = f"svc-{len(house.service.records) + 1}", "LN_INVOICE_PAID" if paid else "ROUTE_SHOWN"
            house.service.records[service_id] = OrderReport(service_id=service_id, state=state)
            order = an_order(
                f"R{user}",
                user_id=user,
                chat_id=user,
                phase=Phase.OPEN,
                service_id=service_id,
                state=state,
                step=OrderStep.PAID if paid else OrderStep.CREATED,
                paid_at=now if paid else None,
                created_at=now,
                expires_at=now + timedelta(hours=1),
                next_poll_at=now,
            )
            assert await OrderRepository(tx).add(order)
            made.append(order)
    return made


async def test_five_who_pay_older_invoices_are_told_though_120_paid_orders_do_not_move(
    house: House, service: FakeSettlement
) -> None:
    older = await placed(house, FIVE_PEOPLE)
    await placed(house, range(4001, 4121), paid=True)
    await placed(house, range(5001, 5101))
    with_budget(house)
    await polls_for(house, 10)
    for order in older:
        service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    await polls_for(house, 15)
    await house.tells()
    assert [user for user in FIVE_PEOPLE if OrderNotification.PAID in house.ears.kinds(user)] == [*FIVE_PEOPLE]


@pytest.mark.parametrize("how", ["page", "message"])
async def test_an_order_that_somebody_looks_at_is_polled_before_all_others(
    house: House, service: FakeSettlement, how: str
) -> None:
    (order,) = await placed(house, (3001,))
    await placed(house, range(4001, 4061))
    service.listed = False
    with_budget(house, per_second=2)
    await polls_for(house, 10)
    service.calls.clear()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    if how == "page":
        house.viewed.page_viewed(order.reference)
    else:
        house.viewed.user_active(3001)
    house.clock.passes(seconds=5)
    await house.poller.tick()
    assert [about for call, about in service.calls if call == "look_up"][0] == "svc-1"  # noqa: RUF015  all is shown
    assert (await house.order(order.reference)).is_paid


async def test_an_order_that_has_just_expired_is_polled_before_all_others(
    house: House, service: FakeSettlement
) -> None:
    await placed(house, range(4001, 4061))
    (order,) = await placed(house, (3001,))
    async with house.store.transaction() as tx:
        now = house.clock.now()
        assert await OrderRepository(tx).save(replace(order, expires_at=now, next_poll_at=now + timedelta(seconds=1)))
    service.listed = False
    with_budget(house, per_second=2)
    house.clock.passes(seconds=1)
    await house.poller.tick()
    assert [about for call, about in service.calls if call == "look_up"][0] == order.service_id  # noqa: RUF015
    assert (await house.order(order.reference)).expiry_notified


async def test_a_hundred_paid_orders_are_polled_half_as_often_until_the_list_shows_them(
    house: House, service: FakeSettlement
) -> None:
    await placed(house, range(4001, 4101), paid=True)
    with_budget(house)
    await house.polls(after=4.9)
    assert service.calls == []
    await house.polls(after=0.2)
    assert service.calls == [("newest", "")]
    await house.polls(after=5)
    assert service.calls == [("newest", "")] * 2


async def test_a_viewed_order_is_polled_at_the_usual_interval_though_its_own_is_stretched(
    house: House, service: FakeSettlement
) -> None:
    (order,) = await placed(house, (3001,))
    await house.polls(after=3600 * 5)
    assert (await house.order(order.reference)).next_poll_at is not None
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await house.polls(after=5)
    assert not (await house.order(order.reference)).is_paid
    house.viewed.page_viewed(order.reference)
    await house.polls(after=1)
    assert (await house.order(order.reference)).is_paid


async def test_a_rejection_of_any_request_halves_the_budget_of_the_poller(
    service: FakeSettlement, house: House
) -> None:
    budget = AdaptiveBudget(10, clock=lambda: house.clock.now().timestamp())
    watched = MonitoredSettlement(service, house.health, on_slow_down=budget.halve)
    service.reads.append(SlowDown(1))
    with pytest.raises(SlowDown):
        await watched.newest()
    assert budget.per_second == 5
    house.clock.passes(seconds=10)
    await watched.newest()
    assert budget.per_second == 6
