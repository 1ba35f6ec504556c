"""Fixtures with the parts that place and track orders."""

from collections.abc import AsyncIterator

import pytest

from tests.orders.order_system import OrderSystem
from tests.screens import NOW
from tests.settlement.fake_settlement import FakeSettlement, MovedClock


@pytest.fixture
def clock() -> MovedClock:
    """A clock that is set to the time of the screens in tests."""
    clock = MovedClock()
    clock.at = NOW
    return clock


@pytest.fixture
def service() -> FakeSettlement:
    return FakeSettlement(MovedClock())


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    system = OrderSystem(file, service)
    yield system
    await system.close()


@pytest.fixture
async def other_system(file: str, service: FakeSettlement) -> AsyncIterator[OrderSystem]:
    """Another process on the same database and the same service."""
    other = OrderSystem(file, service)
    yield other
    await other.close()
