"""No order is made or shown for a link that is over. Operators who close a link have its unpaid invoices removed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, OrderStatus, Phase, payer_in_chat
from bot.orders.repository import OrderRepository
from bot.payment_requests.model import PaymentRequest, PaymentRequestRules, RequestState, new_token
from bot.payment_requests.paying.notifications import LinkNotification
from bot.payment_requests.paying.service import NotPayable, PayService, check_link
from bot.payment_requests.service import PaymentRequestService, ReportService
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem
from tests.payment_requests.test_paying import a_system, ask, connect, heard, pay, state_of
from tests.payment_requests.test_reports import audited
from tests.settlement.fake_settlement import FakeSettlement

OTHER_PAYER = 9_000
WORSE = Decimal(1_600_000_000)


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    system = a_system(file, service)
    yield system
    await system.close()


@pytest.fixture
def paying(system: OrderSystem) -> PayService:
    return connect(system)


def reports_of(system: OrderSystem) -> ReportService:
    return ReportService(system.infra, PaymentRequestRules(operator_ids=frozenset({OSCAR})))


async def is_paid(system: OrderSystem, request: PaymentRequest) -> None:
    """Let another payer pay the link, which can be paid once."""
    other = await pay(system, connect(system), payer_in_chat(OTHER_PAYER), request)
    system.service.becomes(other.service_id or "", "LN_INVOICE_PAID")
    await system.poll()


async def is_closed_by_its_asker(system: OrderSystem, request: PaymentRequest) -> None:
    await PaymentRequestService(system.infra, PaymentRequestRules()).close(SARI, request.id)


async def is_closed_by_an_operator(system: OrderSystem, request: PaymentRequest) -> None:
    assert await reports_of(system).close(OSCAR, request.id) == 1


async def is_paused(system: OrderSystem, request: PaymentRequest) -> None:
    await PaymentRequestService(system.infra, PaymentRequestRules()).pause(SARI, request.id)


async def has_ended(system: OrderSystem, request: PaymentRequest) -> None:
    assert request.ends_at is not None
    system.clock.passes(seconds=(request.ends_at - system.clock.now()).total_seconds())


async def was_changed_by_hand(system: OrderSystem, _: PaymentRequest) -> None:
    async with system.store.transaction() as tx:
        await tx.connection.execute(text("UPDATE payment_requests SET idr = 999000"))


async def is_switched_off(_: OrderSystem, __: PaymentRequest) -> None:
    """Nothing changes in the database: the setting has changed at a new start."""


ENDS: list[tuple[Callable[[OrderSystem, PaymentRequest], Awaitable[None]], OrderNotification]] = [
    (is_paid, OrderNotification.LINK_PAID),
    (is_closed_by_its_asker, OrderNotification.LINK_CLOSED),
    (is_closed_by_an_operator, OrderNotification.LINK_CLOSED),
    (has_ended, OrderNotification.LINK_ENDED),
    (is_paused, OrderNotification.LINK_PAUSED),
    (was_changed_by_hand, OrderNotification.LINK_PAUSED),
    (is_switched_off, OrderNotification.LINK_PAUSED),
]
each_end = pytest.mark.parametrize(("end", "told"), ENDS, ids=[end.__name__ for end, _ in ENDS])
End = Callable[[OrderSystem, PaymentRequest], Awaitable[None]]


After = Callable[[End, OrderSystem, PaymentRequest], Awaitable[OrderSystem]]


@pytest.fixture
async def after() -> AsyncIterator[After]:
    """What ends a link, and returns the bot as it is then. It shows nothing that it showed before."""
    opened = list[OrderSystem]()

    async def end_and_restart(end: End, system: OrderSystem, request: PaymentRequest) -> OrderSystem:
        await end(system, request)
        await system.deliver()
        system.sender.sent.clear()
        rules = {"check_link": partial(check_link, is_on=False)} if end is is_switched_off else {}
        later = a_system(system.database, system.service, sender=system.sender, **rules)
        opened.append(later)
        connect(later)
        return later

    yield end_and_restart
    for each in opened:
        await each.close()


async def shows_only(system: OrderSystem, order: Order, told: OrderNotification) -> None:
    """Check that the payer of the order has read why there is nothing to pay, and has seen no invoice."""
    assert await heard(system, EMMA) == [told]
    left = await system.order(order.reference)
    assert (left.phase, left.bolt11) == (Phase.ABANDONED, None)
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(order.reference))[-1].note == EventNote.LINK_OVER


async def make_link(system: OrderSystem) -> PaymentRequest:
    return await ask(system, is_reusable=False, ends_at=system.clock.now() + timedelta(minutes=10))


@each_end
async def test_an_accepted_price_of_a_link_that_is_over_shows_no_invoice(
    system: OrderSystem, paying: PayService, after: After, end: End, told: OrderNotification
) -> None:
    request = await make_link(system)
    system.service.locked_rate = WORSE
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    system.service.locked_rate = None
    assert order.phase is Phase.NEEDS_CONFIRMATION
    later = await after(end, system, request)
    accepted = await later.orders.accept(order.reference)
    assert accepted is not None
    await shows_only(later, order, told)


@each_end
async def test_a_lost_order_of_a_link_that_is_over_is_not_placed_again(
    system: OrderSystem, paying: PayService, after: After, end: End, told: OrderNotification
) -> None:
    request = await make_link(system)
    system.service.places.append("lost_before")
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await system.find_lost_orders(after=61)
    assert (await system.order(order.reference)).phase is Phase.UNRESOLVED
    later = await after(end, system, request)
    placed = system.service.times("place")
    ended = await later.orders.try_again(order.reference, 7)
    await later.orders.submission.wait()
    assert ended is not None
    assert (ended.reference, system.service.times("place")) == (order.reference, placed)
    await shows_only(later, order, told)
    assert await later.orders.try_again(order.reference, 7) is None, "a second tap"


@each_end
async def test_a_lost_order_that_is_found_after_its_link_was_over_shows_no_invoice(
    system: OrderSystem, paying: PayService, after: After, end: End, told: OrderNotification
) -> None:
    request = await make_link(system)
    system.service.places.append("lost_after")
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    later = await after(end, system, request)
    await later.find_lost_orders(after=10)
    await shows_only(later, order, told)
    assert (await later.order(order.reference)).service_id is not None, "it is nobody else's"


async def test_a_link_that_is_closed_while_the_service_is_asked_shows_no_invoice(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await make_link(system)
    service.places.append("lost_after")
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await is_closed_by_its_asker(system, request)
    await system.find_lost_orders(after=10)
    assert OrderNotification.INVOICE not in await heard(system, EMMA)
    with pytest.raises(NotPayable):
        await pay(system, paying, payer_in_chat(OTHER_PAYER), request)
    assert (await system.order(order.reference)).phase is Phase.ABANDONED


async def test_a_link_that_is_still_open_lets_a_lost_order_be_placed_again(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await make_link(system)
    service.places.append("lost_before")
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await system.find_lost_orders(after=61)
    again = await system.orders.try_again(order.reference)
    await system.orders.submission.wait()
    assert again is not None
    assert (await system.order(again.reference)).phase is Phase.OPEN


async def test_no_order_is_made_while_links_are_switched_off(file: str, service: FakeSettlement) -> None:
    system = a_system(file, service, check_link=partial(check_link, is_on=False))
    request = await ask(system)
    with pytest.raises(NotPayable):
        await pay(system, connect(system), payer_in_chat(EMMA), request)
    assert service.times("place") == 0
    await system.close()


@pytest.mark.parametrize("closes_all", [False, True])
async def test_the_invoices_of_a_link_that_operators_close_are_removed_and_payers_told(
    system: OrderSystem,
    paying: PayService,
    closes_all: bool,  # noqa: FBT001
) -> None:
    request = await ask(system)
    other_link = await ask(system, request_id="f" * 16, token=new_token(), draft_id="another")
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    others = await pay(system, paying, payer_in_chat(OTHER_PAYER), other_link)
    await system.deliver()
    system.sender.sent.clear()
    for _ in range(2):
        await reports_of(system).close(OSCAR, request.id, is_all=closes_all)
    removed = [OrderNotification.REMOVE_INVOICE, OrderNotification.WITHDRAWN]
    assert await heard(system, EMMA) == removed
    assert await heard(system, OTHER_PAYER) == (removed if closes_all else [])
    left = await system.order(order.reference)
    assert not left.awaits_payment(system.clock.now())
    assert left.status(system.clock.now()) is OrderStatus.EXPIRED
    assert (await system.order(others.reference)).awaits_payment(system.clock.now()) is not closes_all
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(order.reference))[-1].note == EventNote.WITHDRAWN


async def test_operators_who_remove_invoices_of_a_link_that_its_asker_closed_are_in_the_audit_log(
    system: OrderSystem, paying: PayService
) -> None:
    request = await ask(system)
    await pay(system, paying, payer_in_chat(EMMA), request)
    await PaymentRequestService(system.infra, PaymentRequestRules()).close(SARI, request.id)
    for _ in range(2):
        assert await reports_of(system).close(OSCAR, request.id) == 0
    assert OrderNotification.WITHDRAWN in await heard(system, EMMA)
    assert await audited(system.store) == [(OSCAR, "closed", f"payment_request:{request.id}", SARI, "")]


async def test_a_payment_of_an_invoice_that_was_removed_is_followed_as_ever(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await reports_of(system).close(OSCAR, request.id)
    assert (await system.order(order.reference)).expires_at == order.expires_at
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    kinds = await heard(system, EMMA)
    assert [each for each in kinds if each in {OrderNotification.PAID_LATE, OrderNotification.SENT}] == [
        OrderNotification.PAID_LATE,
        OrderNotification.SENT,
    ]
    assert (await heard(system, SARI))[-2:] == [LinkNotification.PAID, LinkNotification.SENT]
    assert await state_of(system, request) is RequestState.CLOSED


async def test_a_paid_order_keeps_its_messages_when_operators_close_its_link(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    await reports_of(system).close(OSCAR, request.id)
    assert OrderNotification.WITHDRAWN not in await heard(system, EMMA)
    assert not (await system.order(order.reference)).expiry_notified


async def test_the_removal_comes_after_an_invoice_that_is_being_sent(system: OrderSystem, paying: PayService) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    await reports_of(system).close(OSCAR, request.id)
    async with system.store.reading() as tx:
        rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    assert len({row.queue for row in rows}) == 1
    assert await heard(system, EMMA) == [OrderNotification.REMOVE_INVOICE, OrderNotification.WITHDRAWN]


async def test_a_link_is_closed_without_its_key_and_by_the_payment_too(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request, single = (
        await ask(system),
        await ask(system, request_id="f" * 16, token=new_token(), draft_id="another", is_reusable=False),
    )
    await pay(system, paying, payer_in_chat(EMMA), request)
    await pay(system, paying, payer_in_chat(EMMA), single)
    await damage(system)
    assert await reports_of(system).close(OSCAR, request.id) == 1
    service.becomes("svc-2", "LN_INVOICE_PAID")
    await system.poll()
    async with system.store.reading() as tx:
        rows = await tx.connection.execute(text("SELECT closed_by FROM payment_requests ORDER BY id"))
        assert list(rows.scalars()) == ["operator", "payment"]
    assert OrderNotification.WITHDRAWN in await heard(system, EMMA)


async def damage(system: OrderSystem) -> None:
    """Let no key open the sealed texts of the links."""
    async with system.store.transaction() as tx:
        values: dict[str, Any] = {"number": "s1.no.key"}
        await tx.connection.execute(text("UPDATE payment_requests SET number = :number"), values)
