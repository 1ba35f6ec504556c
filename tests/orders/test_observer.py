"""What the service says and what the clock says become notifications once, whoever sees it and however often."""

import asyncio
from collections import deque
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import Order, Phase
from bot.settlement.model import OrderReport, ServiceDown
from bot.settlement.steps import OrderStep
from tests.orders.order_world import House
from tests.settlement.fake_settlement import FakeSettlement, failing

MONEY = (
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.EXPIRED,
    OrderNotification.TAKE_DOWN,
)


async def placed(house: House, **changes: Any) -> Order:
    order = await house.place(**changes)
    await house.tells()
    house.ears.heard.clear()
    return order


async def says(house: House, order: Order, state: str, **more: Any) -> None:
    """The service reports, and it is sent."""
    report = OrderReport(service_id=order.service_id or "", state=state, **more)
    await house.observes(order.reference, report)
    await house.tells()


def money(house: House) -> list[str]:
    return [kind for kind in house.ears.kinds() if kind in MONEY]


async def test_a_payment_is_told_from_its_coming_in_to_its_end(house: House) -> None:
    order = await placed(house)
    for state in ("ROUTE_SHOWN", "LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED"):
        await says(house, order, state)
    assert house.ears.kinds() == [
        OrderNotification.TAKE_DOWN,
        OrderNotification.CARD_EDIT,
        OrderNotification.PAID,
        OrderNotification.CARD_EDIT,
        OrderNotification.CARD_EDIT,
        OrderNotification.CARD_EDIT,
        OrderNotification.SENT,
        OrderNotification.RECEIPT,
    ]
    ended = await house.order(order.reference)
    assert (ended.phase, ended.step, ended.next_poll_at) == (Phase.DONE, OrderStep.SENT, None)


async def test_two_observers_of_one_change_tell_it_once(house: House, other_house: House) -> None:
    order = await placed(house)
    report = OrderReport(service_id="svc-1", state="LN_INVOICE_PAID")
    houses = [house, other_house] * 5
    await asyncio.gather(*(each.observes(order.reference, report) for each in houses))
    await house.tells()
    await other_house.tells()
    assert money(house) + money(other_house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_stale_and_unknown_states_take_nothing_back(house: House) -> None:
    order = await placed(house)
    for state in ("USDT_RECEIVED", "ROUTE_SHOWN", "LN_INVOICE_PAID", "SOMETHING_NEW", "USDT_RECEIVED"):
        await says(house, order, state)
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]
    assert (await house.order(order.reference)).step is OrderStep.CONVERTING


async def test_an_ended_order_hears_nothing_more(house: House) -> None:
    order = await placed(house)
    await says(house, order, "COMPLETED")
    await says(house, order, "FAILED")
    await says(house, order, "LN_INVOICE_PAID")
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.SENT]


async def test_a_report_of_another_order_changes_nothing(house: House) -> None:
    order = await placed(house)
    await house.observes(order.reference, OrderReport(service_id="svc-9", state="COMPLETED"))
    assert await house.observes("NOBODYS", OrderReport(service_id="svc-1", state="COMPLETED")) is None
    assert (await house.order(order.reference)).phase is Phase.OPEN


async def test_an_expiry_is_told_once_by_the_first_look_after_it(house: House) -> None:
    order = await placed(house)
    await house.polls(after=59 * 60 + 59)
    assert house.ears.kinds() == []
    await house.polls(after=1)
    await house.polls(after=1)
    await house.polls(after=60)
    assert house.ears.kinds() == [OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT, OrderNotification.EXPIRED]
    assert (await house.order(order.reference)).phase is Phase.OPEN


async def test_an_order_that_was_paid_at_the_last_moment_is_not_told_as_expired(
    house: House, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await placed(house)
    look_up, asked = service.look_up, asyncio.Event()

    async def slow_look(service_id: str) -> OrderReport:
        report = await look_up(service_id)
        house.clock.passes(seconds=3)  # the answer arrives after the expiry, and says what was true before it
        asked.set()
        return report

    house.clock.passes(minutes=59, seconds=58)
    with monkeypatch.context() as patched:
        patched.setattr(service, "look_up", slow_look)
        await house.polls(after=0)
    assert asked.is_set()
    assert (await house.order(order.reference)).is_expired(house.clock.now())
    await house.observer.close_offers()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await house.polls(after=5)
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_while_the_service_is_away_no_expiry_is_told_and_the_order_is_followed(
    house: House, service: FakeSettlement
) -> None:
    await placed(house)
    service.reads.extend(failing(ServiceDown, 30))
    for _ in range(30):
        await house.polls(after=3600)
    assert service.reads == deque()
    assert house.ears.kinds() == []
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await house.polls(after=3600)
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_of_an_order_that_the_service_does_not_know_the_expiry_is_told_when_it_is_given_up(
    house: House, service: FakeSettlement
) -> None:
    order = await placed(house)
    service.records.clear()
    await house.polls(after=2 * 3600)
    assert house.ears.kinds() == []
    await house.polls(after=24 * 3600)
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.EXPIRED]
    assert (await house.order(order.reference)).phase is Phase.DONE


async def test_two_processes_tell_an_expiry_once(house: House, other_house: House) -> None:
    order = await placed(house)
    house.clock.passes(hours=1)
    report = house.service.records[order.service_id or ""]
    await asyncio.gather(*(each.observes(order.reference, report) for each in [house, other_house] * 3))
    await house.tells()
    await other_house.tells()
    assert money(house) + money(other_house) == [OrderNotification.TAKE_DOWN, OrderNotification.EXPIRED]


async def test_a_late_payment_is_still_seen_and_said(house: House) -> None:
    order = await placed(house)
    await house.polls(after=5 * 3600)
    await says(house, order, "LN_INVOICE_PAID")
    await says(house, order, "COMPLETED")
    assert money(house) == [
        OrderNotification.TAKE_DOWN,
        OrderNotification.EXPIRED,
        OrderNotification.PAID_LATE,
        OrderNotification.SENT,
    ]


async def test_a_failure_that_is_an_expiry_is_told_as_that_and_once(house: House) -> None:
    order = await placed(house)
    await house.polls(after=3600)
    await says(house, order, "FAILED")
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.EXPIRED]
    assert (await house.order(order.reference)).phase is Phase.DONE


async def test_a_service_that_expires_an_order_a_little_before_we_do_is_understood(house: House) -> None:
    order = await placed(house)
    house.clock.passes(minutes=59)
    await says(house, order, "FAILED")
    await house.polls(after=300)
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.EXPIRED]


async def test_a_deposit_order_never_expires(house: House) -> None:
    order = await placed(house, channel="cbbtc")
    await house.polls(after=6 * 24 * 3600)
    assert house.ears.kinds() == []
    await says(house, order, "USDT_RECEIVED")
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_a_failure_of_a_paid_order_is_a_failure(house: House) -> None:
    order = await placed(house)
    await says(house, order, "FAILED", paid_at=house.clock.now())
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.FAILED]
    assert (await house.order(order.reference)).is_paid


async def test_an_unpaid_order_is_no_longer_followed_a_day_after_its_expiry(
    house: House, service: FakeSettlement
) -> None:
    order = await placed(house)
    looks = 0
    for after in [60] * 120 + [600] * 276:  # a minute at a time while it matters; two days in all
        before = service.times("look_up")
        await house.polls(after=after)
        looks += service.times("look_up") - before
    assert (await house.order(order.reference)).phase is Phase.DONE
    assert 60 + 100 < looks < 60 + 300


async def test_a_look_that_brought_nothing_is_put_off_like_one_that_did(house: House) -> None:
    order = await placed(house)
    await house.observer.postpone(order.reference)
    assert (await house.order(order.reference)).next_poll_at == house.clock.now() + timedelta(seconds=5)
    house.clock.passes(days=1, hours=2)
    await house.observer.postpone(order.reference)
    kept = await house.order(order.reference)
    assert (kept.phase, kept.next_poll_at) == (Phase.OPEN, house.clock.now() + timedelta(minutes=10))
    await house.observer.postpone(order.reference, is_known=False)
    closed = await house.order(order.reference)
    assert (closed.phase, closed.next_poll_at) == (Phase.DONE, None)


@pytest.mark.parametrize("is_answered", [True, False])
async def test_a_deposit_that_is_followed_no_longer_cannot_be_paid_in_the_chat(
    house: House, *, is_answered: bool
) -> None:
    order = await placed(house, channel="cbbtc")
    house.clock.passes(days=8)
    if is_answered:
        await says(house, order, "ROUTE_SHOWN")
    else:
        await house.observer.postpone(order.reference, is_known=False)
        await house.tells()
    assert house.ears.kinds() == [OrderNotification.TAKE_DOWN, OrderNotification.CARD_EDIT]
    assert (await house.order(order.reference)).phase is Phase.DONE


async def test_nothing_is_saved_without_its_notification(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    order = await placed(house)

    class Lost(Exception):
        pass

    def lost(*_: object) -> None:
        raise Lost

    with monkeypatch.context() as patched:
        patched.setattr("bot.orders.tracking.observer.order_notifications", lost)
        with pytest.raises(Lost):
            await says(house, order, "LN_INVOICE_PAID")
    assert await house.order(order.reference) == order
    await says(house, order, "LN_INVOICE_PAID")
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_an_order_that_changes_all_the_time_under_us_is_left_to_the_next_look(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await placed(house)
    stale = replace(order, version=order.version + 5)

    async def always_stale(*_: object) -> Order:
        return stale

    with monkeypatch.context() as patched:
        patched.setattr("bot.orders.repository.OrderRepository.get", always_stale)
        report = OrderReport(service_id="svc-1", state="LN_INVOICE_PAID")
        assert await house.observes(order.reference, report) is None
    await says(house, order, "LN_INVOICE_PAID")
    assert money(house) == [OrderNotification.TAKE_DOWN, OrderNotification.PAID]


async def test_a_reply_about_another_order_changes_nothing_and_is_not_asked_for_at_once_again(house: House) -> None:
    order = await house.place()
    house.clock.passes(seconds=5)
    other = OrderReport(service_id="svc-999", state="LN_INVOICE_PAID")
    seen = await house.observes(order.reference, other)
    assert seen is not None
    assert (seen.state, seen.is_paid) == (order.state, False)
    assert seen.next_poll_at is not None
    assert seen.next_poll_at > house.clock.now()
