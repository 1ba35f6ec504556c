"""Before an accepted order is shown, the service is asked whether it can still be paid."""

from decimal import Decimal
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Failure, Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SettlementFailure, SlowDown
from bot.staff.notifications import AlarmNotification
from tests.orders.order_system import OSCAR, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

LIGHTNING: dict[str, Any] = {}
DEPOSIT: dict[str, Any] = {"amount": Amount("SAT", 25_000), "channel": "cbbtc"}


async def asked(system: OrderSystem, **changes: Any) -> Order:
    """Place an order whose price has changed, so that its user is asked."""
    system.service.locked_rate = Decimal(1_600_000_000)
    order = await system.place(**changes)
    system.service.locked_rate = None
    await system.deliver()
    assert system.sender.kinds() == [OrderNotification.PRICE_MOVED]
    system.clock.passes(seconds=2)
    return order


async def accept(system: OrderSystem, order: Order) -> Order:
    accepted = await system.orders.accept(order.reference)
    assert accepted is not None
    await system.deliver()
    return accepted


@pytest.mark.parametrize("changes", [LIGHTNING, DEPOSIT], ids=["invoice", "deposit"])
async def test_an_order_that_the_service_has_failed_is_reported_and_not_shown(
    system: OrderSystem, service: FakeSettlement, changes: dict[str, Any]
) -> None:
    order = await asked(system, **changes)
    service.becomes("svc-1", "FAILED")
    accepted = await accept(system, order)
    assert (accepted.phase, accepted.state) == (Phase.DONE, "FAILED")
    assert system.sender.payment_requests() == []
    assert system.sender.kinds() == [OrderNotification.PRICE_MOVED, OrderNotification.FAILED]
    warned = [AlarmNotification.RAISED] if accepted.failure is Failure.UNKNOWN else []
    assert system.sender.kinds(OSCAR) == warned
    assert service.times("look_up") == (not changes), "the list of deposits has the order"
    async with system.store.reading() as tx:
        events = await OrderRepository(tx).events(order.reference)
    assert [(event.note, event.state) for event in events[-2:]] == [(EventNote.PRICE_ACCEPTED, ""), ("", "FAILED")]


@pytest.mark.parametrize("changes", [LIGHTNING, DEPOSIT], ids=["invoice", "deposit"])
async def test_an_order_that_was_paid_already_is_reported_and_followed_to_its_end(
    system: OrderSystem, service: FakeSettlement, changes: dict[str, Any]
) -> None:
    order = await asked(system, **changes)
    service.becomes("svc-1", "USDT_RECEIVED")
    accepted = await accept(system, order)
    assert accepted.phase is Phase.OPEN
    assert accepted.is_paid
    assert not accepted.awaits_payment(system.clock.now())
    assert system.sender.payment_requests() == []
    kinds = system.sender.kinds()
    assert kinds == [OrderNotification.PRICE_MOVED, OrderNotification.PAID]
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    assert system.sender.kinds()[2:] == [OrderNotification.SENT, OrderNotification.EDIT_STATUS]


@pytest.mark.parametrize("failure", [NoAnswer(), SlowDown(retry_after=3), KeyRefused(), OrderNotFound()])
async def test_while_the_order_cannot_be_read_the_question_stays_open(
    system: OrderSystem, service: FakeSettlement, failure: SettlementFailure
) -> None:
    order = await asked(system)
    # After a limit of requests, the list is read as well.
    service.reads.extend([failure] * (2 if isinstance(failure, SlowDown) else 1))
    with pytest.raises(SettlementFailure):
        await system.orders.accept(order.reference)
    assert (await system.order(order.reference)).phase is Phase.NEEDS_CONFIRMATION
    assert (await accept(system, order)).awaits_payment(system.clock.now())
    assert len(system.sender.payment_requests()) == 1
