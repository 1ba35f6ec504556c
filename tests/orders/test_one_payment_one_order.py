"""Each payment belongs to one order: no two orders share a payment hash, an open deposit, or a request of a sender."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, HoldReason, Phase
from bot.orders.repository import OrderRepository
from bot.payments import bolt11
from bot.staff.notifications import AlarmNotification
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

SAT = Amount("SAT", 25_000)


@pytest.mark.parametrize("spelling", ["lightning:{}", "LIGHTNING:{}", "  {}\n"])
async def test_an_invoice_is_kept_as_the_decoder_reads_it(
    system: OrderSystem, service: FakeSettlement, spelling: str
) -> None:
    invoice = service.invoice(14_706)
    service.answers.append({"bolt11": spelling.format(invoice.upper())})
    order = await system.place()
    await system.deliver()
    assert order.bolt11 == invoice
    assert order.payment_hash == bolt11.decode(invoice).payment_hash
    assert system.sender.payment_requests() == [invoice]


async def test_an_invoice_that_another_order_has_is_not_shown_and_staff_are_alarmed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    first = await system.place(SARI)
    service.answers.append({"bolt11": first.bolt11})
    second = await system.place()
    await system.deliver()
    assert (second.phase, second.bolt11, second.payment_hash) == (Phase.ABANDONED, None, None)
    assert system.sender.kinds(EMMA) == [OrderNotification.NOT_SHOWN]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]


async def place_twice_after_loss(system: OrderSystem, service: FakeSettlement) -> tuple[Any, Any]:
    service.places.append("lost_after")
    service.listed = False
    first = await system.place()
    await system.find_lost_orders(after=61)
    system.clock.passes(seconds=50)
    second = await system.place()
    service.listed = True
    return await system.order(first.reference), second


async def test_an_order_that_its_sender_has_typed_again_is_never_shown_when_it_is_found(
    system: OrderSystem, service: FakeSettlement
) -> None:
    first, second = await place_twice_after_loss(system, service)
    assert (first.phase, second.phase) == (Phase.UNRESOLVED, Phase.OPEN)
    for _ in range(5):
        await system.find_lost_orders(after=60)
    first = await system.order(first.reference)
    assert (first.phase, first.service_id, first.bolt11) == (Phase.ABANDONED, "svc-1", None)
    assert system.sender.payment_requests() == [second.bolt11]
    assert system.sender.kinds()[-1] == OrderNotification.SUPERSEDED
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(first.reference))[-1].note == EventNote.SUPERSEDED


async def test_the_answer_that_arrives_after_the_same_was_ordered_again_shows_no_second_invoice(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = asyncio.Event()
    first = await system.begin()
    system.clock.passes(seconds=3)
    second = await system.confirm(await system.draft())
    service.gate.set()
    await system.orders.submission.wait()
    await system.deliver()
    assert (await system.order(first.reference)).phase is Phase.ABANDONED
    assert system.sender.payment_requests() == [(await system.order(second.reference)).bolt11]


@pytest.mark.parametrize(
    "change", [{"number": "8620123457"}, {"amount": Amount("IDR", 250_001)}, {"channel": "cbbtc"}, {"chat_id": SARI}]
)
async def test_another_order_supersedes_nothing(
    system: OrderSystem, service: FakeSettlement, change: dict[str, Any]
) -> None:
    service.gate = asyncio.Event()
    first = await system.begin()
    system.clock.passes(seconds=3)
    await system.confirm(await system.draft(**change))
    service.gate.set()
    await system.orders.submission.wait()
    assert (await system.order(first.reference)).phase is Phase.OPEN


@pytest.mark.parametrize(
    ("ours", "theirs", "phase"),
    [
        (None, ("******3456", None), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("86****3456", "Budi  Santoso."), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("******3456", None), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("******3456", "SITI RAHAYU"), Phase.UNKNOWN),
        (None, ("*******456", None), Phase.UNKNOWN),
        (None, ("86*******6", None), Phase.UNKNOWN),
        (None, ("8620123456", "SITI RAHAYU"), Phase.OPEN),
    ],
)
async def test_an_order_found_by_a_masked_recipient_is_asked_about_and_shown_only_after_a_yes(
    system: OrderSystem, service: FakeSettlement, ours: str | None, theirs: tuple[str, str | None], phase: Phase
) -> None:
    service.places.append("lost_after")
    order = await system.place(holder=ours)
    service.records["svc-1"] = replace(service.records["svc-1"], recipient=theirs[0], holder=theirs[1])
    await system.find_lost_orders()
    await system.find_lost_orders()
    order = await system.order(order.reference)
    assert order.phase is phase
    if phase is not Phase.NEEDS_CONFIRMATION:
        return
    assert order.hold_reason is HoldReason.RECIPIENT_MASKED
    assert system.sender.kinds()[-1] == OrderNotification.RECIPIENT_MASKED
    assert system.sender.payment_requests() == []
    await system.orders.accept(order.reference)
    await system.deliver()
    assert system.sender.payment_requests() == [service.records["svc-1"].bolt11]
