"""A link is paid by anyone, each with an order of their own, and its asker hears only what became of the payments."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.limits import Limits, LinkLimits, TooManyFromLinks
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Payer, Phase, payer_in_chat, payer_on_page
from bot.orders.repository import OrderRepository
from bot.payment_requests.model import ClosedBy, PaymentRequest, RequestState, RequestStatus
from bot.payment_requests.paying.notifications import LinkListener, LinkNotification
from bot.payment_requests.paying.service import Confirmation, NotPayable, PayService, check_link
from bot.payment_requests.repository import PaymentRequestRepository
from bot.support.repository import TicketRepository
from bot.support.service import OrderTicketListener
from tests.orders.order_system import EMMA, RULES, SARI, OrderSystem, RecordingSender
from tests.payment_requests.builders import a_request
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.times import DAY, NOW

RINA = 3001
LINK_RULES = replace(RULES, check_link=partial(check_link, is_on=True))
REVIEWS = iter(f"{n:012x}" for n in range(10**6))


def connect(system: OrderSystem) -> PayService:
    """Let the askers of links hear of payments, and support of failures. Return what places orders from links."""
    system.orders.reports._listeners = (LinkListener(), OrderTicketListener(system.staff_chat))
    return PayService(system.infra, system.orders)


def a_system(
    database: str, service: FakeSettlement, *, sender: RecordingSender | None = None, **rules: Any
) -> OrderSystem:
    known = {"support_ids": frozenset({RINA}), "link_limits": LinkLimits()}
    return OrderSystem(database, service, rules=replace(LINK_RULES, **{**known, **rules}), sender=sender)


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    system = a_system(file, service)
    yield system
    await system.close()


@pytest.fixture
def paying(system: OrderSystem) -> PayService:
    return connect(system)


async def ask(system: OrderSystem, **changes: Any) -> PaymentRequest:
    """Save a request of Sari's for Rp150,000 that can be paid many times."""
    now = system.clock.now()
    request = a_request(**{"is_reusable": True, "created_at": now, "used_at": now, **changes})
    async with system.sql.transaction() as tx:
        assert await PaymentRequestRepository(tx).add(request)
    return request


def confirmation(system: OrderSystem, payer: Payer, request: PaymentRequest, **changes: Any) -> Confirmation:
    """Return what a payer confirms of a new review at the price of now."""
    idr = changes.pop("idr", request.idr or 150_000)
    sats = changes.pop("sats", int(-(-(request.idr or idr) * 10**8 // int(system.service.rate))))
    known = {"payer": payer, "request_id": request.id, "idr": idr, "sats": sats, "review": next(REVIEWS)}
    return Confirmation(**{**known, **changes})


async def pay(system: OrderSystem, paying: PayService, payer: Payer, request: PaymentRequest, **changes: Any) -> Order:
    order = await paying.place(confirmation(system, payer, request, **changes))
    await system.orders.submission.wait()
    return await system.order(order.reference)


async def heard(system: OrderSystem, chat_id: int) -> list[str]:
    await system.deliver()
    return [each.kind for each in system.sender.sent if each.chat_id == chat_id]


async def state_of(system: OrderSystem, request: PaymentRequest) -> RequestState:
    async with system.sql.reading() as tx:
        kept = await PaymentRequestRepository(tx).get(request.id)
    assert kept is not None
    return kept.state_at(system.clock.now())


async def test_an_order_from_a_link_is_the_payers_and_sends_the_askers_sum_to_the_askers_account(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request, idr=999_999)
    assert (order.payer, order.origin, order.number) == (payer_in_chat(EMMA), request.id, request.number)
    assert order.amount == Amount("IDR", 150_000), "not what the button says"
    assert order.channel == "lightning"
    assert await heard(system, EMMA) == [OrderNotification.INVOICE]
    assert await heard(system, SARI) == []
    assert service.records["svc-1"].recipient == request.number


async def test_the_payer_gets_the_messages_of_an_order_and_the_asker_that_it_was_paid_and_sent(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    await pay(system, paying, payer_in_chat(EMMA), request)
    await system.deliver()
    for state, last in (("LN_INVOICE_PAID", LinkNotification.PAID), ("COMPLETED", LinkNotification.SENT)):
        service.becomes("svc-1", state)
        await system.poll()
        await system.poll()
        assert (await heard(system, SARI))[-1] == last
    assert await heard(system, SARI) == [LinkNotification.PAID, LinkNotification.SENT]
    assert OrderNotification.SENT in await heard(system, EMMA)
    assert not any(kind.startswith("payment_request") for kind in await heard(system, EMMA))


async def test_after_a_failure_the_payer_has_the_ticket_and_the_asker_hears_only_that_it_failed(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    service.becomes("svc-1", "FAILED")
    await system.poll()
    assert await heard(system, SARI) == [LinkNotification.PAID, LinkNotification.FAILED]
    assert OrderNotification.FAILED in await heard(system, EMMA)
    async with system.store.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(order.reference)
        assert (ticket.user_id, await TicketRepository(tx).of_user(SARI)) == (EMMA, ())
        rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    assert SARI not in {row.chat_id for row in rows}


async def test_an_unpaid_or_late_order_is_none_of_the_askers_business(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    await pay(system, paying, payer_in_chat(EMMA), request)
    await system.poll(after=service.expiry.total_seconds() + 1)
    assert OrderNotification.EXPIRED in await heard(system, EMMA)
    await pay(system, paying, payer_in_chat(EMMA), request)
    service.becomes("svc-2", "LN_INVOICE_PAID")
    await system.poll()
    system.clock.passes(minutes=31)
    await system.poller.tick()
    await system.tracker.check_deadlines()
    assert OrderNotification.OVERDUE in await heard(system, EMMA)
    assert await heard(system, SARI) == [LinkNotification.PAID]


async def test_a_payment_without_a_chat_is_heard_by_its_asker(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system, in_browsers=True)
    await pay(system, paying, payer_on_page("a secret"), request)
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    assert {(each.chat_id, each.kind) for each in system.sender.sent} == {(SARI, LinkNotification.SENT)}


async def test_a_link_that_can_be_paid_once_is_closed_by_its_payment(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system, is_reusable=False)
    await pay(system, paying, payer_in_chat(EMMA), request)
    assert await state_of(system, request) is RequestState.OPEN, "an unpaid order doesn't hold up others"
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    assert await state_of(system, request) is RequestState.PAID
    with pytest.raises(NotPayable):
        await pay(system, paying, payer_in_chat(9_000), request)
    assert service.times("place") == 1


@pytest.mark.parametrize(
    "changes",
    [{"status": RequestStatus.PAUSED}, {"status": RequestStatus.CLOSED, "closed_by": ClosedBy.ASKER}, {"ended": True}],
    ids=["paused", "closed", "ended"],
)
async def test_a_link_that_cannot_be_paid_creates_nothing(
    system: OrderSystem, paying: PayService, service: FakeSettlement, changes: dict[str, Any]
) -> None:
    if changes.pop("ended", False):
        changes["ends_at"] = system.clock.now()
    request = await ask(system, **changes)
    with pytest.raises(NotPayable):
        await pay(system, paying, payer_in_chat(EMMA), request)
    with pytest.raises(NotPayable):
        await pay(system, paying, payer_in_chat(EMMA), replace(request, id="f" * 16))
    assert service.times("place") == 0
    assert await system.all_orders() == ()


async def test_a_hundred_different_payers_in_one_moment_each_have_an_invoice_of_their_own(
    database: str, service: FakeSettlement
) -> None:
    systems = [a_system(database, service) for _ in range(2)]
    both = [(system, connect(system)) for system in systems]
    request = await ask(systems[0])
    orders = await asyncio.gather(*(pay(*both[n % 2], payer_in_chat(9_000 + n), request) for n in range(100)))
    assert {order.phase for order in orders} == {Phase.OPEN}
    assert len({order.bolt11 for order in orders}) == len({order.reference for order in orders}) == 100
    assert [order.payer.user_id for order in orders] == [9_000 + n for n in range(100)]
    assert service.times("place") == 100
    for system in systems:
        await system.close()


async def test_one_payer_a_hundred_times_in_one_moment_has_one_invoice(database: str, service: FakeSettlement) -> None:
    systems = [a_system(database, service) for _ in range(2)]
    both = [(system, connect(system)) for system in systems]
    request = await ask(systems[0])
    orders = await asyncio.gather(*(pay(*both[n % 2], payer_in_chat(EMMA), request) for n in range(100)))
    for system in systems:
        await system.orders.submission.wait()
    assert len({order.reference for order in orders}) == service.times("place") == 1
    assert len(await systems[0].all_orders()) == 1
    for system in systems:
        await system.close()


async def test_an_unpaid_order_is_shown_again_only_while_its_price_holds_and_to_its_payer(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system, idr=None)
    first = await pay(system, paying, payer_in_chat(EMMA), request)
    assert (await pay(system, paying, payer_in_chat(EMMA), request)).reference == first.reference
    another_sum = await pay(system, paying, payer_in_chat(EMMA), request, idr=160_000)
    others = await pay(system, paying, payer_in_chat(9_000), request)
    service.rate = service.rate * 98 // 100
    moved = await pay(system, paying, payer_in_chat(EMMA), request)
    system.clock.passes(hours=2)
    after_expiry = await pay(system, paying, payer_in_chat(EMMA), request)
    assert len({each.reference for each in (first, another_sum, others, moved, after_expiry)}) == 5


@pytest.mark.parametrize("loss", ["lost_before", "lost_after"])
async def test_while_it_is_unknown_whether_an_order_exists_no_other_is_created(
    system: OrderSystem, paying: PayService, service: FakeSettlement, loss: str
) -> None:
    request = await ask(system)
    service.places.append(loss)
    lost = await pay(system, paying, payer_in_chat(EMMA), request)
    service.rate = service.rate * 90 // 100
    assert (await pay(system, paying, payer_in_chat(EMMA), request)).reference == lost.reference
    assert service.times("place") == 1


async def test_a_review_is_confirmed_once_and_nobody_elses_confirmation_leads_to_an_order(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    confirmed = confirmation(system, payer_in_chat(EMMA), request)
    first = await paying.place(confirmed)
    await system.orders.submission.wait()
    system.clock.passes(hours=2)
    assert (await paying.place(confirmed)).reference == first.reference, "a replay after a crash"
    with pytest.raises(NotPayable):
        await paying.place(replace(confirmed, payer=payer_in_chat(9_000)))
    assert service.times("place") == 1


async def test_links_have_limits_and_so_has_each_payer(file: str, service: FakeSettlement) -> None:
    system = a_system(file, service, link_limits=LinkLimits(from_one=3), limits=Limits(open_orders=2))
    paying = connect(system)
    request = await ask(system, idr=None)
    for idr in (150_000, 160_000):
        await pay(system, paying, payer_in_chat(EMMA), request, idr=idr)
    with pytest.raises(Rejection, match=r"orders\.limits\.open"):
        await pay(system, paying, payer_in_chat(EMMA), request, idr=170_000)
    await pay(system, paying, payer_in_chat(9_000), request)
    with pytest.raises(TooManyFromLinks):
        await pay(system, paying, payer_in_chat(9_001), request)
    assert service.times("place") == 3
    await system.close()


async def test_the_price_that_was_reviewed_is_the_one_that_is_compared(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    confirmed = confirmation(system, payer_in_chat(EMMA), request)
    service.rate = service.rate * 97 // 100
    order = await paying.place(confirmed)
    await system.orders.submission.wait()
    held = await system.order(order.reference)
    assert (held.phase, held.expected_sats) == (Phase.NEEDS_CONFIRMATION, confirmed.sats)


async def test_what_became_of_a_payment_is_saved_with_its_notification_or_not_at_all(
    system: OrderSystem, paying: PayService, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await ask(system, is_reusable=False)
    order = await pay(system, paying, payer_in_chat(EMMA), request)

    async def fails(*_: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr(LinkListener, "order_changed", fails)
        service.becomes("svc-1", "LN_INVOICE_PAID")
        with pytest.raises(ConnectionError):
            await system.poll()
    assert not (await system.order(order.reference)).is_paid
    assert await heard(system, SARI) == []
    await system.poll()
    assert (await system.order(order.reference)).is_paid
    assert await heard(system, SARI) == [LinkNotification.PAID]


async def test_a_request_that_cannot_be_read_holds_up_no_payer(
    system: OrderSystem, paying: PayService, service: FakeSettlement
) -> None:
    request = await ask(system)
    order = await pay(system, paying, payer_in_chat(EMMA), request)
    async with system.sql._writer.begin() as connection:
        await connection.execute(text("UPDATE payment_requests SET number = 's1.no.key'"))
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    assert (await system.order(order.reference)).state == "COMPLETED"
    assert OrderNotification.SENT in await heard(system, EMMA)


async def placed_of(store: Database, payer: Payer) -> Sequence[Order]:
    async with store.reading() as tx:
        return await OrderRepository(tx).placed_after(payer, NOW - DAY)


async def test_closing_and_paying_in_one_moment_leaves_no_order_behind_a_closed_link(
    database: str, service: FakeSettlement
) -> None:
    systems = [a_system(database, service) for _ in range(2)]
    both = [(system, connect(system)) for system in systems]
    request = await ask(systems[0])

    async def close() -> None:
        async with systems[1].store.transaction() as tx:
            await PaymentRequestRepository(tx).close(request.id, ClosedBy.ASKER, MovedClock().now())

    results = await asyncio.gather(
        *(pay(*both[n % 2], payer_in_chat(9_000 + n), request) for n in range(10)), close(), return_exceptions=True
    )
    assert {type(each) for each in results} <= {Order, NotPayable, type(None)}
    with pytest.raises(NotPayable):
        await pay(*both[0], payer_in_chat(EMMA), request)
    assert await placed_of(systems[0].store, payer_in_chat(EMMA)) == ()
    for system in systems:
        await system.close()
