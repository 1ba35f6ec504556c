"""Two answers to one question, or a deletion during an order: one counts, and nothing is shown twice."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.user_data import OpenOrders
from bot.users.model import User
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.orders.order_system import EMMA, OrderSystem, place_unresolved
from tests.settlement.fake_settlement import FakeSettlement
from tests.users.stored_data import USER_DATA

WORSE = Decimal(1_600_000_000)
SAT = Amount("SAT", 25_000)


async def held(system: OrderSystem, service: FakeSettlement, **changes: Any) -> Order:
    service.locked_rate = WORSE
    order = await system.place(**changes)
    service.locked_rate = None
    assert order.phase is Phase.NEEDS_CONFIRMATION
    return order


async def all_told(*systems: OrderSystem) -> list[str]:
    for system in systems:
        await system.deliver()
    return [paying for system in systems for paying in system.sender.payment_requests()]


@pytest.mark.parametrize("first", ["accept", "drop", "close"])
@pytest.mark.parametrize("second", ["accept", "drop", "close"])
async def test_of_two_answers_to_a_moved_price_one_counts(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement, first: str, second: str
) -> None:
    order = await held(system, service)
    answers: dict[str, Any] = {
        "accept": lambda at: at.orders.accept(order.reference),
        "drop": lambda at: at.orders.drop(order.reference),
        "close": lambda at: at.tracker._close_offer(order.reference, at.clock.now()),
    }
    results = await asyncio.gather(answers[first](system), answers[second](other_system))
    phase = (await system.order(order.reference)).phase
    assert phase in {Phase.OPEN, Phase.ABANDONED}
    assert sum(isinstance(result, Order) or result is True for result in results) <= 1
    shown = await all_told(system, other_system)
    assert len(shown) == (phase is Phase.OPEN)
    assert phase is Phase.OPEN or {first, second} != {"accept"}
    assert service.times("place") == 1


@pytest.mark.parametrize("tries_first", [True, False])
async def test_an_order_that_is_found_while_its_sender_tries_again_shows_one_invoice(
    system: OrderSystem,
    other_system: OrderSystem,
    service: FakeSettlement,
    tries_first: bool,  # noqa: FBT001
) -> None:
    lost = await place_unresolved(system, service, "lost_after")
    system.clock.passes(seconds=60)
    both = [system.orders.try_again(lost.reference), other_system.lost_orders.run_once()]
    await asyncio.gather(*(both if tries_first else reversed(both)))
    await system.orders.submission.wait()
    shown = await all_told(system, other_system)
    assert len(shown) == 1
    payable = [order for order in await system.all_orders() if order.phase is Phase.OPEN]
    assert [order.bolt11 for order in payable] == shown
    assert service.times("place") <= 2


async def emma(system: OrderSystem) -> User:
    user = User(id=EMMA, created_at=system.clock.now())
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(user)
    return user


async def in_phase(system: OrderSystem, service: FakeSettlement, phase: str) -> Order:
    match phase:
        case "held":
            return await held(system, service)
        case "unresolved":
            return await place_unresolved(system, service)
        case "unknown":
            service.places.append("lost_after")
            service.listed = False
    order = await system.place()
    if phase == "paid":
        service.becomes(order.service_id or "", "LN_INVOICE_PAID", paid_at=system.clock.now())
        await system.poll()
    return order


@pytest.mark.parametrize("phase", ["unknown", "unresolved", "held", "open", "paid"])
async def test_nobody_is_deleted_in_the_middle_of_an_order(
    system: OrderSystem, service: FakeSettlement, phase: str
) -> None:
    order = await in_phase(system, service, phase)
    await system.deliver()
    privacy = PrivacyService(an_infra(system.store, system.clock), USER_DATA, 0)
    user = await emma(system)
    waits = await privacy.delete(user)
    (open_orders,) = waits.blockers
    assert isinstance(open_orders, OpenOrders)
    assert [each.reference for each in open_orders.orders] == [order.reference]
    assert not await privacy.delete_as_requested(EMMA)
    assert (await system.order(order.reference)).number == order.number
    service.listed = True
    if phase == "paid":
        service.becomes(order.service_id or "", "COMPLETED")
    for _ in range(40):
        await system.find_lost_orders(after=3_600)
        await system.tracker.check_deadlines()
        await system.poll(after=0)
    assert await privacy.delete_as_requested(EMMA)
    left = await system.order(order.reference)
    assert not left.has_recipient
    if phase == "paid":
        assert OrderNotification.SENT in system.sender.kinds()
