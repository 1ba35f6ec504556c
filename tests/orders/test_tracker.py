"""Reports of the service and the passing of time become notifications once, in whichever process they are seen."""

import asyncio
from collections import deque
from typing import Any

import pytest

from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.receipts.service import ReceiptService, find_receipt
from bot.settlement.errors import NoAnswer
from bot.settlement.model import OrderReport, OrderStep
from tests.orders.order_system import OrderSystem
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement, failing

MONEY = (
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.EXPIRED,
    OrderNotification.REMOVE_INVOICE,
)


async def placed(system: OrderSystem, **changes: Any) -> Order:
    order = await system.place(**changes)
    await system.deliver()
    system.sender.sent.clear()
    return order


async def says(system: OrderSystem, order: Order, state: str, **more: Any) -> None:
    """Apply a report of the service, and send the notifications."""
    report = a_report(service_id=order.service_id or "", state=state, **more)
    await system.apply_report(order.reference, report)
    await system.deliver()


def money(system: OrderSystem) -> list[str]:
    return [kind for kind in system.sender.edits_and_messages() if kind in MONEY]


async def test_a_payment_is_told_from_its_coming_in_to_its_end(system: OrderSystem) -> None:
    order = await placed(system)
    for state in ("ROUTE_SHOWN", "LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED"):
        await says(system, order, state)
    assert system.sender.edits_and_messages() == [
        OrderNotification.REMOVE_INVOICE,
        *[OrderNotification.EDIT_STATUS] * 3,
        OrderNotification.PAID,
        OrderNotification.SENT,
    ]
    ended = await system.order(order.reference)
    assert (ended.phase, ended.step, ended.next_poll_at) == (Phase.DONE, OrderStep.SENT, None)


async def test_two_trackers_of_one_change_tell_it_once(system: OrderSystem, other_system: OrderSystem) -> None:
    order = await placed(system)
    report = a_report(service_id="svc-1", state="LN_INVOICE_PAID")
    systems = [system, other_system] * 5
    await asyncio.gather(*(each.apply_report(order.reference, report) for each in systems))
    await system.deliver()
    await other_system.deliver()
    assert money(system) + money(other_system) == [OrderNotification.REMOVE_INVOICE, OrderNotification.PAID]


async def test_an_expiry_is_told_once_by_the_first_look_after_it(system: OrderSystem) -> None:
    order = await placed(system)
    await system.poll(after=59 * 60 + 59)
    assert system.sender.kinds() == []
    await system.poll(after=1)
    await system.poll(after=1)
    await system.poll(after=60)
    assert system.sender.edits_and_messages() == [
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.EXPIRED,
    ]
    assert (await system.order(order.reference)).phase is Phase.OPEN


async def test_an_order_that_was_paid_at_the_last_moment_is_not_told_as_expired(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await placed(system)
    look_up, asked = service.look_up, asyncio.Event()

    async def slow_look(service_id: str) -> OrderReport:
        report = await look_up(service_id)
        system.clock.passes(seconds=3)  # the answer arrives after the expiry, but shows the state before it
        asked.set()
        return report

    system.clock.passes(minutes=59, seconds=58)
    with monkeypatch.context() as patched:
        patched.setattr(service, "look_up", slow_look)
        await system.poll(after=0)
    assert asked.is_set()
    assert (await system.order(order.reference)).is_expired(system.clock.now())
    await system.tracker.check_deadlines()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll(after=5)
    assert money(system) == [OrderNotification.REMOVE_INVOICE, OrderNotification.PAID]


async def test_while_the_service_is_away_no_expiry_is_told_and_the_order_is_followed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await placed(system)
    service.reads.extend(failing(NoAnswer, 30))
    for _ in range(30):
        await system.poll(after=3600)
    assert service.reads == deque()
    assert system.sender.kinds() == []
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll(after=3600)
    assert money(system) == [OrderNotification.REMOVE_INVOICE, OrderNotification.PAID]


async def test_of_an_order_that_the_service_does_not_know_the_expiry_is_told_when_it_is_given_up(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await placed(system)
    service.records.clear()
    await system.poll(after=2 * 3600)
    assert system.sender.kinds() == []
    await system.poll(after=24 * 3600)
    assert money(system) == [OrderNotification.REMOVE_INVOICE, OrderNotification.EXPIRED]
    assert (await system.order(order.reference)).phase is Phase.DONE


@pytest.mark.parametrize("is_answered", [True, False])
async def test_a_deposit_that_is_followed_no_longer_cannot_be_paid_in_the_chat(
    system: OrderSystem, *, is_answered: bool
) -> None:
    order = await placed(system, channel="cbbtc")
    system.clock.passes(days=8)
    if is_answered:
        await says(system, order, "ROUTE_SHOWN")
    else:
        await system.tracker.postpone(order.reference, is_known=False)
        await system.deliver()
    assert system.sender.kinds() == [OrderNotification.REMOVE_INVOICE]
    assert (await system.order(order.reference)).phase is Phase.DONE


async def test_the_receipt_is_saved_with_the_report_that_the_order_was_sent(system: OrderSystem) -> None:
    order = await placed(system)
    report = a_report(service_id="svc-1", state="COMPLETED")
    seen = await system.apply_report(order.reference, report)
    assert seen is not None
    async with system.sql.reading() as tx:
        receipt = await find_receipt(tx, seen)
    assert receipt is not None
    assert await ReceiptService(system.sql, system.clock).get_or_create(seen) == receipt


async def test_nothing_is_saved_without_its_notification(system: OrderSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    order = await placed(system)

    class Lost(Exception):
        pass

    def lost(*_: object) -> None:
        raise Lost

    with monkeypatch.context() as patched:
        patched.setattr("bot.orders.tracking.tracker.queue_order_notifications", lost)
        with pytest.raises(Lost):
            await says(system, order, "LN_INVOICE_PAID")
    assert await system.order(order.reference) == order
    await says(system, order, "LN_INVOICE_PAID")
    assert money(system) == [OrderNotification.REMOVE_INVOICE, OrderNotification.PAID]
