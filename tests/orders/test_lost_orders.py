"""A lost order is found if it is certainly ours. Otherwise its user decides."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.settlement.model import OrderRequest
from tests.orders.order_system import EMMA, NUMBER, SARI, OrderSystem, place_unresolved
from tests.settlement.builders import BCA, GOPAY
from tests.settlement.fake_settlement import BEGINNING, FakeSettlement


def last_digits(number: str) -> str:
    return f"******{number[-4:]}"


def request_of(order: Order) -> OrderRequest:
    return OrderRequest(
        method=order.method, number=order.number, holder=None, amount=order.requested_amount, channel=order.channel
    )


async def test_an_unanswered_order_is_found_and_shown(system: OrderSystem, service: FakeSettlement) -> None:
    service.places.append("lost_after")
    order = await system.place()
    await system.deliver()
    assert order.phase is Phase.UNKNOWN
    await system.find_lost_orders()
    assert system.sender.kinds() == [OrderNotification.CHECKING, OrderNotification.INVOICE]
    assert system.sender.payment_requests() == [service.records["svc-1"].bolt11]
    assert (await system.order(order.reference)).service_id == "svc-1"


async def test_no_answer_is_never_posted_again_by_itself(system: OrderSystem, service: FakeSettlement) -> None:
    service.places.append("lost_before")
    await system.place()
    for _ in range(200):
        await system.find_lost_orders(after=30)
    assert service.times("place") == 1
    assert system.sender.kinds() == [OrderNotification.CHECKING, OrderNotification.UNRESOLVED]


async def test_the_time_to_look_begins_when_the_request_has_ended(system: OrderSystem, service: FakeSettlement) -> None:
    service.gate = asyncio.Event()
    service.places.append("lost_after")
    service.listed = False
    order = await system.begin()
    await system.find_lost_orders(after=30)
    service.gate.set()
    await system.orders.submission.wait()
    await system.find_lost_orders(after=59)
    assert (await system.order(order.reference)).phase is Phase.UNKNOWN
    await system.find_lost_orders(after=1)
    assert (await system.order(order.reference)).phase is Phase.UNRESOLVED


async def test_an_empty_list_proves_nothing(system: OrderSystem, service: FakeSettlement) -> None:
    service.places.append("lost_after")
    order = await system.place()
    service.listed = False
    await system.find_lost_orders(after=10)
    assert (await system.order(order.reference)).phase is Phase.UNKNOWN
    service.listed = True
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.OPEN


@pytest.mark.parametrize("minutes", [-10, 10])
async def test_a_service_clock_ten_minutes_off_changes_no_match(
    system: OrderSystem, service: FakeSettlement, minutes: int
) -> None:
    service.skew = timedelta(minutes=minutes)
    service.places.append("lost_after")
    order = await system.place()
    await system.find_lost_orders(after=20)
    assert (await system.order(order.reference)).phase is Phase.OPEN


@pytest.mark.parametrize("minutes", [-10, 10])
async def test_a_like_order_of_another_time_is_not_ours_whatever_the_service_clock_says(
    system: OrderSystem, service: FakeSettlement, minutes: int
) -> None:
    service.skew = timedelta(minutes=minutes)
    service.make(
        OrderRequest(method=BCA, number=NUMBER, holder=None, amount=Amount("IDR", 250_000), channel="lightning")
    )
    system.clock.passes(minutes=2)
    service.places.append("lost_before")
    order = await system.place()
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.UNKNOWN


@pytest.mark.parametrize(
    "different",
    [
        {"bank_code": "002"},
        {"bank_name": "BANK CENTRAL ASIA"},
        {"bank_code": None},
        {"bank_name": None},
        {"idr": 250_001},
        {"idr": None},
        {"channel": "btcb"},
        {"recipient": "8620123457"},
        {"recipient": "******3457"},
        {"recipient": "**********"},
        {"recipient": None},
        {"created_at": None},
        {"state": "LN_INVOICE_PAID"},
        {"paid_at": BEGINNING},
        {"state": "COMPLETED"},
    ],
)
async def test_what_is_not_surely_ours_is_not_adopted(
    system: OrderSystem, service: FakeSettlement, different: dict[str, object]
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    service.records["svc-1"] = replace(service.records["svc-1"], **different)  # type: ignore[arg-type]
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.UNKNOWN


@pytest.mark.parametrize("same", [{"channel": None}, {"recipient": "86-2012-3456"}])
async def test_what_the_live_service_leaves_out_or_writes_otherwise_is_still_ours(
    system: OrderSystem, service: FakeSettlement, same: dict[str, object]
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    service.records["svc-1"] = replace(service.records["svc-1"], **same)  # type: ignore[arg-type]
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.OPEN


async def test_an_e_wallet_number_is_known_in_every_spelling(system: OrderSystem, service: FakeSettlement) -> None:
    service.masks = lambda number: number.replace("0812", "+62812")
    service.places.append("lost_after")
    order = await system.place(method=GOPAY, number="081234567890")
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.OPEN


async def test_an_order_that_another_intent_has_claimed_is_not_adopted_again(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await system.place(EMMA)
    service.places.append("lost_before")
    sari = await system.place(SARI)
    await system.find_lost_orders()
    assert (await system.order(sari.reference)).phase is Phase.UNKNOWN


async def test_an_order_with_a_masked_recipient_that_two_intents_fit_is_adopted_by_neither(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.masks = last_digits
    service.places.extend(["lost_after", "lost_before"])
    emma = await system.place(EMMA, number="8620123456")
    sari = await system.place(SARI, number="1110123456")
    for _ in range(60):
        await system.find_lost_orders()
    assert {(await system.order(each.reference)).phase for each in (emma, sari)} == {Phase.UNRESOLVED}
    assert system.sender.payment_requests() == []


async def test_two_orders_that_one_intent_fits_are_not_chosen_between(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    order = await system.place()
    service.make(request_of(order))
    await system.find_lost_orders()
    assert (await system.order(order.reference)).phase is Phase.UNKNOWN


async def test_an_intent_whose_request_is_under_way_is_a_rival_too(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_before")
    emma = await system.place(EMMA)
    service.gate = asyncio.Event()
    sari = await system.begin(SARI)
    await system.find_lost_orders()
    assert (await system.order(emma.reference)).phase is Phase.UNKNOWN
    service.gate.set()
    await system.orders.submission.wait()
    assert (await system.order(sari.reference)).service_id == "svc-1"


async def test_an_order_found_after_its_invoice_ran_out_is_not_shown(
    system: OrderSystem, service: FakeSettlement
) -> None:
    lost = await place_unresolved(system, service, "lost_after")
    await system.find_lost_orders(after=3600)
    assert (await system.order(lost.reference)).phase is Phase.ABANDONED
    assert system.sender.payment_requests() == []
