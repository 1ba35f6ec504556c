"""The figures of `/status`: the times of the last hour's answers, and how late the last payment was seen."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.infra.db.database import Database
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.operations.gauges import HOUR, LiveFigureReader, LiveFigures
from bot.operations.model import RequestFigures
from bot.operations.repository import StatisticsRepository
from bot.settlement.budget import Budget
from tests.infra.builders import an_infra, an_update
from tests.orders.order_system import OrderSystem
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.times import NOW, SECOND


class Limits:
    """The limits of this process, in place of its limiter."""

    bulk_per_second, slow_downs = 14.8, 3


async def read(store: Database) -> LiveFigures:
    clock, limits = MovedClock(), Limits()
    clock.at = NOW
    return await LiveFigureReader(an_infra(store, clock), limits, Budget(9.5)).read()  # type: ignore[arg-type]


async def answer(store: Database, first: int, *lengths: timedelta, ago: timedelta = SECOND) -> None:
    """Save updates that were finished so long after they were received."""
    ended = NOW - ago
    async with store.transaction() as tx:
        inbox = InboxRepository(tx)
        updates = [an_update(first + number, received_at=ended - each) for number, each in enumerate(lengths)]
        await inbox.add(updates)
        await inbox.finish([update.id for update in updates], ended)


async def test_the_times_of_the_last_hours_answers_are_shown(store: Database) -> None:
    assert await read(store) == LiveFigures(
        last_payment_noticed=None,
        answer_median=None,
        answer_p99=None,
        slow_downs=3,
        bulk_limit=14.8,
        requests=RequestFigures(),
        has_shared_requests=False,
        service_budget=9.5,
    )
    await answer(store, 1, *(number * SECOND / 4 for number in reversed(range(1, 201))))
    await answer(store, 1_001, HOUR, ago=HOUR)
    async with store.transaction() as tx:
        await InboxRepository(tx).add([an_update(2_001, received_at=NOW - HOUR)])
    figures = await read(store)
    assert (figures.answer_median, figures.answer_p99) == (25, 49.5)


@pytest.fixture
async def system(database: str) -> AsyncIterator[OrderSystem]:
    system = OrderSystem(database, FakeSettlement(MovedClock()))
    yield system
    await system.close()


async def test_the_last_payment_counts_from_the_services_time_of_it(system: OrderSystem) -> None:
    async def find() -> float | None:
        async with system.store.reading() as tx:
            return await StatisticsRepository(tx).find_last_payment()

    first, second, third = [await system.place() for _ in range(3)]
    for order, state, ago in ((first, "LN_INVOICE_PAID", 4), (second, "COMPLETED", 2), (first, "LN_SWAP_PENDING", 1)):
        now = system.clock.now()
        report = a_report(
            service_id=order.service_id or "",
            state=state,
            paid_at=now - ago * SECOND,
            updated_at=now,
            completed_at=now if state == "COMPLETED" else None,
        )
        assert await system.apply_report(order.reference, report)
        system.clock.at += SECOND
        assert await find() == (4 if order is first and state == "LN_INVOICE_PAID" else 2)
    assert not third.is_paid
