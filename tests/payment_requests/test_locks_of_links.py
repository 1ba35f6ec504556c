"""A payment of a link, its deletion and its closing by operators happen at the same moment, in two processes.

All of them lock a link before its orders, so no two wait for each other. Whoever comes second sees what the first did.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from bot.orders.order import Order, Phase, payer_in_chat
from bot.orders.repository import OrderRepository
from bot.payment_requests.model import ClosedBy, PaymentRequest, PaymentRequestRules, RequestState, new_token
from bot.payment_requests.paying.notifications import LinkListener
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.service import ReportService
from bot.payment_requests.user_data import PaidOrders
from bot.users.model import User
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from tests.harness.databases import on_postgresql
from tests.infra.builders import an_infra
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem
from tests.payment_requests.test_paying import a_system, ask, connect, pay, state_of
from tests.settlement.fake_settlement import FakeSettlement
from tests.users.stored_data import USER_DATA
from tests.waiting import until

pytestmark = on_postgresql
WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")


class PausedListener:
    """Keeps the transaction of a payment open after its order was saved, until `goes_on`."""

    def __init__(self) -> None:
        self.has_saved, self.goes_on = asyncio.Event(), asyncio.Event()

    async def order_changed(self, *_: object) -> None:
        self.has_saved.set()
        await self.goes_on.wait()

    async def order_needs_staff(self, *_: object) -> None:
        raise AssertionError


@pytest.fixture
async def systems(database: str, service: FakeSettlement) -> AsyncIterator[tuple[OrderSystem, OrderSystem]]:
    first, second = a_system(database, service), a_system(database, service)
    yield first, second
    await first.close()
    await second.close()


async def paying(system: OrderSystem, request: PaymentRequest) -> tuple[Order, PausedListener, "asyncio.Task[float]"]:
    """Let Emma pay. Return her order, and the transaction that has saved the payment and isn't committed yet."""
    order = await pay(system, connect(system), payer_in_chat(EMMA), request)
    paused = PausedListener()
    system.orders.reports._listeners = (paused, LinkListener())
    system.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    task = asyncio.create_task(system.poll())
    await paused.has_saved.wait()
    return order, paused, task


def privacy_of(system: OrderSystem) -> PrivacyService:
    return PrivacyService(an_infra(system.store, system.clock), USER_DATA, 30)


async def until_one_waits(system: OrderSystem) -> None:
    """Wait until a session waits for a lock of another one."""

    async def is_waiting() -> bool:
        async with system.store.reading() as tx:
            return bool((await tx.connection.execute(WAITING)).scalar_one())

    await until(is_waiting, what="a lock")


async def save_sari(system: OrderSystem, **changes: Any) -> User:
    sari = User(id=SARI, created_at=system.clock.now(), **changes)
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(sari)
    return sari


@pytest.mark.parametrize("is_reusable", [True, False])
async def test_a_deletion_sees_the_payment_that_came_before_it(
    systems: tuple[OrderSystem, OrderSystem],
    is_reusable: bool,  # noqa: FBT001
) -> None:
    first, second = systems
    request = await ask(first, is_reusable=is_reusable)
    sari = await save_sari(first)
    order, paused, payment = await paying(first, request)
    deletion = asyncio.create_task(privacy_of(second).delete(sari))
    await until_one_waits(second)
    paused.goes_on.set()
    await payment
    assert PaidOrders(1) in (await deletion).blockers
    kept = await first.order(order.reference)
    assert (kept.is_paid, kept.number) == (True, request.number)
    assert await state_of(first, request) is (RequestState.CLOSED if is_reusable else RequestState.PAID)


@pytest.mark.parametrize("why", ["deletion_requested_at", "blocked_at"])
async def test_a_deletion_that_was_due_sees_the_payment_that_came_before_it(
    systems: tuple[OrderSystem, OrderSystem], why: str
) -> None:
    first, second = systems
    request = await ask(first)
    await save_sari(first, **{why: first.clock.now()})
    order, paused, payment = await paying(first, request)
    privacy = privacy_of(second)
    delete = privacy.delete_long_blocked if why == "blocked_at" else privacy.delete_as_requested
    deletion = asyncio.create_task(delete(SARI))
    await until_one_waits(second)
    paused.goes_on.set()
    await payment
    assert not await deletion
    kept = await first.order(order.reference)
    assert (kept.is_paid, kept.number) == (True, request.number)


async def test_payments_of_several_links_in_one_list_never_hold_two_links(
    systems: tuple[OrderSystem, OrderSystem],
) -> None:
    first, second = systems
    request = await ask(first)
    other = await ask(first, request_id="f" * 16, token=new_token(), draft_id="another")
    placing = connect(first)
    orders = [await pay(first, placing, payer_in_chat(EMMA), each) for each in (request, other)]
    for order in orders:
        first.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    free, locked = orders

    async def is_paid() -> bool:
        return (await second.order(free.reference)).is_paid

    async with second.store.transaction() as tx:
        assert await second.orders.rules.check_link(tx, other.id, second.clock.now()) is None
        payments = asyncio.create_task(first.poll())
        await until(is_paid, what="the payment of the free link")
    await payments
    assert (await first.order(locked.reference)).is_paid


async def test_a_payment_after_a_deletion_waits_for_its_end_and_is_followed(
    systems: tuple[OrderSystem, OrderSystem],
) -> None:
    first, second = systems
    request = await ask(first)
    order = await pay(first, connect(first), payer_in_chat(EMMA), request)
    first.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    async with second.store.transaction() as tx:
        await PaymentRequestRepository(tx).close_all(SARI, ClosedBy.DELETION, second.clock.now())
        payment = asyncio.create_task(first.poll())
        await until_one_waits(first)
        assert not (await second.order(order.reference)).is_paid
    await payment
    assert (await first.order(order.reference)).is_paid


async def test_operators_who_close_a_link_see_the_payment_that_came_before(
    systems: tuple[OrderSystem, OrderSystem],
) -> None:
    first, second = systems
    request = await ask(first, is_reusable=False)
    order, paused, payment = await paying(first, request)
    reports = ReportService(second.infra, PaymentRequestRules(operator_ids=frozenset({OSCAR})))
    closing = asyncio.create_task(reports.close(OSCAR, request.id))
    await until_one_waits(second)
    paused.goes_on.set()
    await payment
    assert await closing == 0
    kept = await first.order(order.reference)
    assert (kept.is_paid, kept.expiry_notified) == (True, False)
    assert await state_of(first, request) is RequestState.PAID


async def test_a_confirmation_locks_the_link_before_its_payer_as_another_try_does(
    systems: tuple[OrderSystem, OrderSystem],
) -> None:
    first, second = systems
    request = await ask(first)
    async with second.store.transaction() as tx:
        assert await second.orders.rules.check_link(tx, request.id, second.clock.now()) is None
        placing = asyncio.create_task(pay(first, connect(first), payer_in_chat(EMMA), request))
        await until_one_waits(first)
        await OrderRepository(tx).lock_payer(payer_in_chat(EMMA))
    assert (await placing).phase is Phase.OPEN
