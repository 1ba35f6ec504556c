"""Statistics from the first order to its payout, and an export of orders at one moment."""

import csv
import io
from datetime import timedelta

import pytest

from bot.core.csv import CsvFile
from bot.core.date_ranges import Period, get_recent_span
from bot.core.zones import PRESUMED
from bot.operations import service as module
from bot.operations.service import StatisticsService
from bot.orders.repository import OrderRepository
from tests.orders.builders import an_order
from tests.orders.order_system import OSCAR, OrderSystem


@pytest.fixture
def statistics(system: OrderSystem) -> StatisticsService:
    return StatisticsService(system.store, system.settlement, system.clock)


async def place_orders(system: OrderSystem, count: int) -> None:
    """Place so many orders, a minute apart, the newest now."""
    async with system.store.transaction() as tx:
        for number in range(count):
            at = system.clock.now() - timedelta(minutes=number)
            assert await OrderRepository(tx).add(an_order(f"R{number:04}", created_at=at))


def references(export: CsvFile) -> list[str]:
    assert export.content is not None
    rows = csv.DictReader(io.StringIO(export.content.decode(), newline=""))
    return [row["reference"] for row in rows]


@pytest.mark.parametrize("count", [1, 3, 4, 7])
async def test_a_file_is_written_in_batches_of_which_none_is_lost(
    system: OrderSystem, statistics: StatisticsService, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 3)
    await place_orders(system, count)
    export = await statistics.export_orders(get_recent_span(Period.WEEK, system.clock.now(), PRESUMED), OSCAR)
    assert export.count == count
    assert references(export) == [f"R{number:04}" for number in reversed(range(count))]
