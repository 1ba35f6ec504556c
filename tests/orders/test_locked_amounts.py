"""The amounts that the service has locked are checked against the limits before an invoice is shown."""

from dataclasses import replace
from decimal import Decimal

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, HoldReason, Order, Phase
from bot.orders.repository import OrderRepository
from bot.orders.rules import DestinationClosed
from bot.settlement.model import PayoutMethod
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, place_unresolved, rules
from tests.settlement.builders import BCA, BRI, GOPAY
from tests.settlement.fake_settlement import FakeSettlement

LOW, HIGH = Decimal(1_640_000_000), Decimal(1_700_000_000)


async def is_withheld(system: OrderSystem, order: Order, notice: OrderNotification, note: EventNote) -> None:
    order = await system.order(order.reference)
    assert (order.phase, order.bolt11, order.deposit) == (Phase.ABANDONED, None, None)
    assert system.sender.payment_requests() == []
    assert system.sender.kinds(EMMA)[-1] == notice
    assert system.sender.kinds(OSCAR) == [], "the market moved: there is nothing for staff to do"
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(order.reference))[-1].note == note


async def test_sats_that_the_service_locks_below_the_minimum_show_no_invoice(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.rate, service.locked_rate = Decimal(1_650_000_000), LOW
    order = await system.place(amount=Amount("SAT", 1_213))
    await system.deliver()
    assert (order.expected_idr, order.idr) == (20_014, 19_893)
    await is_withheld(system, order, OrderNotification.OUTSIDE_LIMITS, EventNote.OUTSIDE_LIMITS)


@pytest.mark.parametrize(("locked", "is_asked"), [(Decimal(1_785_000_000), False), (Decimal(1_790_000_000), True)])
async def test_a_price_far_better_than_reviewed_is_asked_about(
    system: OrderSystem,
    service: FakeSettlement,
    locked: Decimal,
    is_asked: bool,  # noqa: FBT001
) -> None:
    service.locked_rate = locked
    order = await system.place()
    await system.deliver()
    assert (order.phase, order.hold_reason) == (
        (Phase.NEEDS_CONFIRMATION, HoldReason.PRICE_CHANGED) if is_asked else (Phase.OPEN, None)
    )
    assert (system.sender.payment_requests() == []) is is_asked


@pytest.mark.parametrize("change", ["cap", "minimum"])
async def test_a_price_is_not_accepted_where_the_limits_have_changed_meanwhile(
    file: str, service: FakeSettlement, change: str
) -> None:
    system = OrderSystem(file, service)
    service.locked_rate = Decimal(1_600_000_000)
    held = await system.place()
    assert held.phase is Phase.NEEDS_CONFIRMATION
    if change == "cap":
        service.methods = (replace(BCA, cap=249_999), BRI, GOPAY)
        system.clock.passes(seconds=61)
    else:
        system.orders.rules = rules(min_order_idr=250_001)
    seen = await system.orders.accept(held.reference)
    await system.deliver()
    assert seen is not None
    await is_withheld(system, held, OrderNotification.OUTSIDE_LIMITS, EventNote.OUTSIDE_LIMITS)
    assert await system.orders.accept(held.reference) is None
    await system.close()


CLOSED = [
    (replace(BCA, cap=0, unread="maxAmountTransfer “50.000”"), "orders.closed.unreadable"),
    (replace(BCA, kind="qris", cap=0, unread="kind “qris”"), "orders.closed.unreadable"),
    (replace(BCA, cap=0), "orders.closed.nothing"),
    (replace(BCA, cap=19_999), "orders.closed.nothing"),  # below the smallest order
]


@pytest.mark.parametrize(("closed", "key"), CLOSED)
async def test_a_destination_that_takes_no_orders_gets_none_and_says_why(
    system: OrderSystem, service: FakeSettlement, closed: PayoutMethod, key: str
) -> None:
    draft, lost = await system.draft(), await place_unresolved(system, service)
    posts = service.times("place")
    service.methods = (closed, BRI, GOPAY)
    for step in (
        system.confirm(draft),
        system.orders.try_again(lost.reference),
        system.orders.estimate_order((), closed, Amount("IDR", 50_000)),
    ):
        with pytest.raises(DestinationClosed) as refused:
            await step
        assert (refused.value.key, refused.value.arguments) == (key, {"name": "BCA"})
    assert service.times("place") == posts
