"""Each deposit of ours has a sum of its own for as long as it can be paid, whether or not it was ever shown."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.checkout.draft import DraftStatus
from bot.checkout.service import place_order
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.db.user_rows import delete_rows
from bot.orders.notifications import OrderNotification
from bot.orders.order import HoldReason, Order, Phase
from bot.orders.repository import OrderRepository
from tests.harness.databases import on_postgresql
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA, NUMBER, SARI, OrderSystem, place_unresolved
from tests.settlement.builders import a_deposit
from tests.settlement.fake_settlement import FakeSettlement

SAT = Amount("SAT", 25_000)
RUPIAH = Amount("IDR", 250_000)
SAME: dict[str, Any] = {"amount": SAT, "channel": "cbbtc"}


def could_settle(service: FakeSettlement, order: Order) -> list[str]:
    """Return the service's open orders that the payment for this deposit could settle."""
    return [
        each.service_id
        for each in service.records.values()
        if (each.channel, each.sats, each.state) == (order.channel, order.sats, "ROUTE_SHOWN")
    ]


async def is_shown_alone(system: OrderSystem, order: Order) -> None:
    service = system.service
    order = await system.order(order.reference)
    assert order.phase is Phase.OPEN
    assert could_settle(service, order) == [order.service_id]


async def held(system: OrderSystem, who: int = SARI, **changes: Any) -> Order:
    """Place a deposit whose price is asked about."""
    system.service.locked_rate = system.service.rate * 9 / 10
    order = await system.place(who, **{**SAME, **changes})
    system.service.locked_rate = None
    assert order.phase is Phase.NEEDS_CONFIRMATION
    return order


async def dropped(system: OrderSystem) -> Order:
    order = await held(system)
    assert await system.orders.drop(order.reference)
    return order


async def not_answered_in_time(system: OrderSystem) -> Order:
    order = await held(system)
    system.clock.passes(days=1)
    await system.tracker.check_deadlines()
    return order


async def withheld(system: OrderSystem) -> Order:
    system.service.answers.append({"deposit": a_deposit("cbbtc", token_address="0x" + "12" * 20)})
    return await system.place(SARI, **SAME)


async def lost_for_good(system: OrderSystem) -> Order:
    system.service.places.append("lost_after")
    system.service.listed = False
    order = await system.place(SARI, **SAME)
    for hours in (0.1, 25):
        system.clock.passes(hours=hours)
        await system.lost_orders.run_once()
    system.service.listed = True
    return order


async def deleted(system: OrderSystem) -> Order:
    order = await dropped(system)
    async with system.store.transaction() as tx:
        await delete_rows(tx, SARI)
    return order


@pytest.mark.parametrize("end", [dropped, not_answered_in_time, withheld, lost_for_good, deleted])
async def test_a_deposit_that_is_never_shown_gets_no_payment_for_another_one(system: OrderSystem, end: Any) -> None:
    first = await end(system)
    first = await system.order(first.reference)
    assert first.phase is Phase.ABANDONED
    order = await system.place(**SAME)
    await is_shown_alone(system, order)
    assert (order.amount, order.requested_amount) == (SAT, Amount("SAT", 25_001))


async def test_equal_deposits_get_sums_that_differ_and_are_both_shown(system: OrderSystem) -> None:
    made = [await system.place(who, **SAME) for who in (EMMA, SARI, EMMA)]
    other = await system.place(amount=SAT, channel="btcb")
    for order in (*made, other):
        assert (await system.order(order.reference)).sats == order.requested_amount.value == order.expected_sats
    # Emma's first order was superseded by nothing: it was shown before she ordered the same again.
    assert [order.sats for order in (*made, other)] == [25_000, 25_001, 25_002, 25_000]
    for order in (*made, other):
        await is_shown_alone(system, order)


@pytest.mark.parametrize("end", ["paid", "failed", "refused"])
async def test_a_sum_is_free_again_when_its_order_is_known_to_be_paid_failed_or_not_created(
    system: OrderSystem, service: FakeSettlement, end: str
) -> None:
    if end == "refused":
        service.places.append("never_reached")
    first = await system.place(SARI, **SAME)
    if end != "refused":
        service.becomes(first.service_id or "", "USDT_RECEIVED" if end == "paid" else "FAILED")
        await system.poll()
    order = await system.place(**SAME)
    assert order.sats == 25_000
    await is_shown_alone(system, order)


# a sum in rupiah


@pytest.mark.parametrize("value", [20_000, 50_000, 250_000, 333_333, 999_999])
async def test_the_recipient_of_a_deposit_gets_at_least_the_rupiah_that_were_asked_for(
    system: OrderSystem, value: int
) -> None:
    order = await system.place(amount=Amount("IDR", value), channel="cbbtc")
    assert order.phase is Phase.OPEN
    assert order.requested_amount == Amount("SAT", order.sats or 0)
    assert order.amount == Amount("IDR", value)
    assert value <= (order.idr or 0) < value + 18, "at most one sat more"


async def test_a_price_that_brings_less_rupiah_than_asked_for_is_asked_about(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.locked_rate = service.rate * Decimal("0.9995")
    order = await system.place(amount=RUPIAH, channel="cbbtc")
    assert (order.phase, order.hold_reason) == (Phase.NEEDS_CONFIRMATION, HoldReason.PRICE_CHANGED)
    opened = await system.orders.accept(order.reference)
    assert opened is not None
    assert opened.phase is Phase.OPEN
    in_sats = await system.place(SARI, amount=Amount("SAT", 30_000), channel="cbbtc")
    assert in_sats.phase is Phase.OPEN, "nobody was promised a number of rupiah"


# the review and its sum


@pytest.mark.parametrize("change", ["price", "sums"])
async def test_a_sum_that_would_be_much_larger_than_the_reviewed_one_is_not_ordered(
    system: OrderSystem, service: FakeSettlement, change: str
) -> None:
    draft = await system.draft(amount=RUPIAH, channel="cbbtc")
    if change == "price":
        service.rate *= Decimal("0.98")
    else:
        async with system.store.transaction() as tx:
            for sats in range(14_706, 14_860):
                other = an_order(f"NEW{sats}", channel="cbbtc", expected_sats=sats, created_at=service.now())
                await OrderRepository(tx).add(replace(other, page_token=None))
    with pytest.raises(Rejection, match=r"orders\.deposit\.sum_changed"):
        await place_order(system.orders, draft, reviewed_sats=14_706)
    kept = await system.drafts.get(draft.id)
    assert kept is not None
    assert kept.status is DraftStatus.OPEN
    assert service.times("place") == 0
    reviewed, estimated = await system.review(draft)
    reviewed_draft = await system.drafts.save(reviewed, 3)
    assert reviewed_draft is not None
    system.clock.passes(seconds=16)
    order = await place_order(system.orders, reviewed_draft, reviewed_sats=estimated.sats)
    assert estimated.sats > 14_853
    assert order.expected_sats >= estimated.sats


# other ways to an order


@pytest.mark.parametrize("amount", [SAT, RUPIAH])
async def test_another_attempt_asks_for_another_sum_because_the_lost_order_may_exist(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch, amount: Amount
) -> None:
    typed = {"amount": amount, "channel": "cbbtc"}
    monkeypatch.setattr(system, "draft", lambda chat_id=EMMA, **_: OrderSystem.draft(system, chat_id, **typed))
    lost = await place_unresolved(system, service, "lost_after")
    again = await system.orders.try_again(lost.reference)
    assert again is not None
    await system.orders.submission.wait()
    assert again.amount == lost.amount == amount
    assert again.requested_amount.value == lost.requested_amount.value + 1
    await is_shown_alone(system, again)


async def test_a_lost_deposit_is_found_by_its_sats(system: OrderSystem, service: FakeSettlement) -> None:
    service.places.append("lost_after")
    order = await system.place(amount=RUPIAH, channel="cbbtc")
    await system.find_lost_orders()
    await is_shown_alone(system, order)


# orders for which the service named another sum


async def add_other(system: OrderSystem) -> Order:
    """Add an order for which the service named 25,000 sats instead of 30,000. It was withheld."""
    made = system.service.make(an_order(channel="cbbtc", requested_amount=SAT).request)
    other = an_order(
        "OTHER22",
        channel="cbbtc",
        number=NUMBER,
        holder=None,
        requested_amount=Amount("SAT", 30_000),
        expected_sats=30_000,
        phase=Phase.ABANDONED,
        service_id=made.service_id,
        sats=made.sats,
        idr=made.idr,
        created_at=system.clock.now(),
    )
    async with system.store.transaction() as tx:
        assert await OrderRepository(tx).add(other)
    return other


async def place_beside_other(system: OrderSystem, add: Any) -> Order:
    """Place a deposit while another replica adds an order that has its sum."""
    system.service.gate = asyncio.Event()
    order = await system.begin(**SAME)
    await add(system)
    system.service.gate.set()
    await system.orders.submission.wait()
    await system.deliver()
    return await system.order(order.reference)


async def test_a_deposit_whose_sum_another_order_got_meanwhile_is_not_shown(system: OrderSystem) -> None:
    order = await place_beside_other(system, add_other)
    assert (order.phase, order.deposit) == (Phase.ABANDONED, None)
    assert system.sender.kinds() == [OrderNotification.DEPOSIT_TAKEN]
    await is_shown_alone(system, await system.place(**SAME))


async def test_a_price_is_not_accepted_beside_an_order_that_got_its_sum(system: OrderSystem) -> None:
    order = await held(system, EMMA)
    await add_other(system)
    accepted = await system.orders.accept(order.reference)
    assert accepted is not None
    assert accepted.phase is Phase.ABANDONED
    await system.deliver()
    assert system.sender.kinds()[-1] == OrderNotification.DEPOSIT_TAKEN


# several processes


async def reserve_together(url: str, service: FakeSettlement) -> None:
    systems = [OrderSystem(url, service), OrderSystem(url, service)]
    drafts = [await system.draft(chat, **SAME) for chat, system in enumerate(systems * 6, start=5000)]
    placed = await asyncio.gather(*(system.confirm(draft) for system, draft in zip(systems * 6, drafts, strict=True)))
    assert sorted(order.expected_sats for order in placed) == list(range(25_000, 25_012))
    for system in systems:
        await system.orders.submission.wait()
    for order in placed:
        await is_shown_alone(systems[0], order)
    for system in systems:
        await system.close()


@on_postgresql
async def test_two_processes_on_postgresql_never_reserve_the_same_sum(database: str, service: FakeSettlement) -> None:
    await reserve_together(database, service)


async def test_the_review_shows_the_sum_that_is_ordered(system: OrderSystem) -> None:
    await system.place(SARI, **SAME)
    draft = await system.draft(**SAME)
    _, estimated = await system.review(draft)
    order = await place_order(system.orders, draft, reviewed_sats=estimated.sats)
    await system.orders.submission.wait()
    assert (estimated.sats, estimated.idr) == (25_001, order.expected_idr) == (order.expected_sats, 425_017)
