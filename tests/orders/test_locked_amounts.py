"""The amounts that the service has locked are checked against the limits before an invoice is shown."""

import re
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from typing import Any

import pytest

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, HoldReason, Order, Phase
from bot.orders.placement.service import MethodVanished
from bot.orders.repository import OrderRepository
from bot.orders.rules import DestinationClosed
from bot.orders.screens import order_messages
from bot.settlement.errors import NoAnswer
from bot.settlement.model import PayoutMethod
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, place_unresolved, rules
from tests.settlement.builders import BCA, BRI, GOPAY
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import TRANSLATIONS, like, readable

LOW, HIGH = Decimal(1_640_000_000), Decimal(1_700_000_000)
SMALL = BCA.__class__(BCA.code, BCA.name, BCA.kind, 300_000)


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


async def test_sats_that_the_service_locks_over_the_cap_show_no_invoice(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.methods = (SMALL, BRI, GOPAY)
    service.rate, service.locked_rate = LOW, HIGH
    order = await system.place(amount=Amount("SAT", 18_000), method=SMALL)
    await system.deliver()
    assert order.expected_idr <= 300_000 < (order.idr or 0)
    await is_withheld(system, order, OrderNotification.OUTSIDE_LIMITS, EventNote.OUTSIDE_LIMITS)


async def test_the_cap_that_counts_is_the_one_of_the_list_at_the_confirmation(
    system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft(amount=Amount("SAT", 18_000))
    service.methods = (SMALL, BRI, GOPAY)
    service.locked_rate = service.rate
    with pytest.raises(Rejection):
        await system.confirm(draft)
    service.methods = (replace(SMALL, cap=306_000), BRI, GOPAY)
    order = await system.confirm(draft)
    await system.orders.submission.wait()
    assert (await system.order(order.reference)).method.cap == 306_000


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


async def fail_to_list() -> Any:
    raise NoAnswer


async def test_a_price_is_accepted_by_what_the_order_knows_while_the_list_cannot_be_read(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.locked_rate = Decimal(1_600_000_000)
    held = await system.place()
    system.clock.passes(seconds=61)
    monkeypatch.setattr(service, "payout_methods", fail_to_list)
    opened = await system.orders.accept(held.reference)
    assert opened is not None
    assert (opened.phase, opened.hold_reason) == (Phase.OPEN, None)


async def test_trying_again_checks_what_placing_checks_and_leaves_the_question_open(
    system: OrderSystem, service: FakeSettlement
) -> None:
    lost = await place_unresolved(system, service)
    posts = service.times("place")
    service.methods = (BRI, GOPAY)
    with pytest.raises(MethodVanished):
        await system.orders.try_again(lost.reference)
    service.methods = (replace(BCA, cap=249_999), BRI, GOPAY)
    with pytest.raises(Rejection) as refused:
        await system.orders.try_again(lost.reference)
    assert refused.value.arguments["cap"] == 249_999
    service.methods = (BCA, BRI, GOPAY)
    system.orders.rules = rules(min_order_idr=250_001)
    with pytest.raises(Rejection):
        await system.orders.try_again(lost.reference)
    system.orders.rules = rules()
    service.reads.append(NoAnswer())
    with pytest.raises(NoAnswer):
        await system.orders.try_again(lost.reference)
    assert (await system.order(lost.reference)).phase is Phase.UNRESOLVED
    assert service.times("place") == posts
    again = await system.orders.try_again(lost.reference)
    await system.orders.submission.wait()
    assert again is not None
    assert service.times("place") == posts + 1


async def test_an_order_with_limits_of_its_own_keeps_the_newest_cap_when_it_is_tried_again(
    system: OrderSystem, service: FakeSettlement
) -> None:
    lost = await place_unresolved(system, service)
    service.methods = (replace(BCA, cap=400_000), BRI, GOPAY)
    again: Any = await system.orders.try_again(lost.reference)
    await system.orders.submission.wait()
    assert again.method.cap == 400_000


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


async def test_a_price_is_not_accepted_for_a_destination_that_takes_no_orders_now(
    system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    service.rate *= 2
    order = await system.confirm(draft)
    await system.orders.submission.wait()
    service.methods = (CLOSED[0][0], BRI, GOPAY)
    system.clock.passes(minutes=2)
    await system.orders.accept(order.reference)
    order = await system.order(order.reference)
    await system.deliver()
    await is_withheld(system, order, OrderNotification.OUTSIDE_LIMITS, EventNote.OUTSIDE_LIMITS)
    reader = Reader(TRANSLATIONS.get("en"), UTC, system.clock.now())
    said = order_messages.show_notification(OrderNotification.OUTSIDE_LIMITS, reader, order, help_offered=False)
    assert re.search(like("orders.notification.destination_closed", name="BCA"), readable(said.text))
