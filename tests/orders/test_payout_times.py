"""Payout times are measured from the bot's own orders, and shown only if there are enough of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.orders.destinations.health import PayoutTimeMeasurement
from bot.orders.destinations.model import PayoutTimes
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from tests.infra.keys import VAULT
from tests.orders.builders import an_open_order
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


class FailingStore(Database):
    """A database that counts how often it is read, and can fail."""

    reads, down = 0, False

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        self.reads += 1
        if self.down:
            raise StoreDown
        async with super().reading() as tx:
            yield tx


@pytest.fixture
async def store(file: str) -> AsyncIterator[FailingStore]:
    store = FailingStore(file, VAULT)
    yield store
    await store.close()


async def keep(store: Database, count: int, *, age: timedelta, took: Callable[[int], timedelta]) -> None:
    """Save completed orders that were created this long ago."""
    created = NOW - age
    sent: dict[str, Any] = {"state": "COMPLETED", "phase": Phase.DONE, "step": OrderStep.SENT, "paid_at": created}
    async with store.transaction() as tx:
        for number in range(count):
            order = an_open_order(
                reference=f"{age.days}D{number}", created_at=created, draft_id=f"{age.days}d{number:08}", **sent
            )
            assert await OrderRepository(tx).add(replace(order, service_id=None, ended_at=created + took(number)))


async def test_nothing_is_said_of_fewer_than_twenty_orders_of_the_last_thirty_days(
    store: FailingStore, clock: MovedClock
) -> None:
    await keep(store, 19, age=DAY, took=lambda number: (number + 1) * MINUTE)
    await keep(store, 30, age=31 * DAY, took=lambda _: MINUTE)
    assert await PayoutTimeMeasurement(store, clock).get() is None
    await keep(store, 1, age=29 * DAY, took=lambda _: 20 * MINUTE)
    times = await PayoutTimeMeasurement(store, clock).get()
    assert times == PayoutTimes(orders=20, median=10.5 * MINUTE, slow=18 * MINUTE)
