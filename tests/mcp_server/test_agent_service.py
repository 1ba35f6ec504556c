"""The memory for shared answers of the service is limited."""

import asyncio
from typing import Any, cast

from bot.mcp_server.service import AgentRules, Service
from bot.mcp_server.unresolved_orders import REMEMBERED
from tests.settlement.fake_settlement import MovedClock
from tests.virtual_time import in_virtual_time, now


class NotedOrders:
    """A client that records which orders are read."""

    def __init__(self) -> None:
        self.read_ids: list[str] = []

    async def look_up(self, order_id: str, *, retry: bool) -> Any:
        assert retry
        self.read_ids.append(order_id)
        return object()


@in_virtual_time
async def test_one_order_too_many_costs_the_oldest_kept_answer_alone() -> None:
    client = NotedOrders()
    rules = AgentRules(requests_per_second=1000)
    service = Service(cast("Any", client), rules, clock=MovedClock(), seconds=now, sleep=asyncio.sleep)
    every = [f"svc-{number}" for number in range(REMEMBERED + 2)]
    for order_id in every:
        await service.order(order_id)
    client.read_ids.clear()
    for order_id in every[2:]:
        await service.order(order_id)
    assert client.read_ids == []
    assert len(service._orders) == REMEMBERED
    await service.order(every[0])
    assert client.read_ids == [every[0]]
