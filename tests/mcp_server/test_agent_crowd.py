"""More calls at once than connections to a slow service: none is lost, none is doubled, and reads are shared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bot.settlement.transport import MAX_CONNECTIONS
from tests.mcp_server.agent_system import BCA, AgentSystem, open_agent_system
from tests.waiting import found

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

import pytest

BESIDE_ONE_ANOTHER = 50
CROWD = MAX_CONNECTIONS + 10

Calls = Sequence[asyncio.Task[Any]]


@pytest.fixture
def go_on() -> asyncio.Event:
    """Return the event that answers of a slow service wait for."""
    return asyncio.Event()


@pytest.fixture
async def system(go_on: asyncio.Event) -> AsyncIterator[AgentSystem]:
    async def sleep(_seconds: float) -> None:
        await go_on.wait()

    async with open_agent_system("live", sleep=sleep) as made:
        yield made
        go_on.set()


async def slow(system: AgentSystem, method: str) -> None:
    await system.service.control("POST", "/faults", fault="delay", method=method, seconds=1)


def called(system: AgentSystem, calls: Iterable[tuple[str, dict[str, object]]]) -> Calls:
    return [asyncio.create_task(system.call(tool, **arguments)) for tool, arguments in calls]


async def all_have_begun(system: AgentSystem, requests: int) -> None:
    """Wait until all calls have reached the tools, and at least this many requests the unanswering service."""

    async def held() -> int:
        faults = (await system.service.control("GET", "/faults"))["faults"]
        return sum(fault["used"] for fault in faults)

    await found(held, lambda count: count >= requests, what=f"{requests} requests")
    for _ in range(3):  # a later call is only answered after the earlier ones have begun
        await system.agent.list_tools()


async def test_looks_at_once_are_one_request_each(system: AgentSystem, go_on: asyncio.Event) -> None:
    await slow(system, "GET")
    looks = ("get_btc_idr_quote", "list_payout_methods", "get_deposit_rails", "get_platform_stats")
    calls = called(system, ((looks[number % 4], {}) for number in range(CROWD)))
    await all_have_begun(system, len(looks))
    go_on.set()
    results = await asyncio.gather(*calls)
    assert not any(result.is_error for result in results)
    for path in ("/v1/quote/btc-idr", "/v1/payout/methods", "/v1/deposit/rails", "/v1/platform/stats"):
        assert len(await system.service.list_requests("GET", path)) == 1


async def test_different_orders_at_once_are_each_made_once(system: AgentSystem, go_on: asyncio.Event) -> None:
    await system.does("list_payout_methods")
    await slow(system, "POST")
    requests = ({**BCA, "idrAmount": 50_000 + number} for number in range(CROWD))
    calls = called(system, (("create_offramp_order", request) for request in requests))
    await all_have_begun(system, BESIDE_ONE_ANOTHER)
    go_on.set()
    results = await asyncio.gather(*calls)
    assert not any(result.is_error for result in results)
    amounts = sorted(result.structured_content["idrAmount"] for result in results)
    assert amounts == [50_000 + number for number in range(CROWD)]
    assert await system.service.orders_made() == CROWD


async def test_the_same_order_at_once_is_made_once(system: AgentSystem, go_on: asyncio.Event) -> None:
    await system.does("list_payout_methods")
    await slow(system, "POST")
    calls = called(system, [("create_offramp_order", {**BCA, "idrAmount": 50_000})] * CROWD)
    await all_have_begun(system, 1)
    go_on.set()
    results = await asyncio.gather(*calls)
    assert [result.is_error for result in results].count(False) == 1
    assert await system.service.orders_made() == 1
