"""Two hundred calls at once before a slow service: none is lost, none is doubled, and what can be shared is."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tests.contract.agent_world import BCA, ORDERS, AgentWorld, agent_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

import pytest

CROWD = 200
SLOW = 0.3


@pytest.fixture
async def world() -> AsyncIterator[AgentWorld]:
    async with agent_world("live", patience=30) as made:
        yield made


async def slow(world: AgentWorld, method: str) -> None:
    await world.service.control("POST", "/faults", fault="delay", method=method, seconds=SLOW)


async def test_looks_at_once_are_one_request_each(world: AgentWorld) -> None:
    await slow(world, "GET")
    looks = ("get_btc_idr_quote", "list_payout_methods", "get_deposit_rails", "get_platform_stats")
    began = time.monotonic()
    results = await asyncio.gather(*(world.call(looks[number % 4]) for number in range(CROWD)))
    took = time.monotonic() - began
    assert not any(result.is_error for result in results)
    for path in ("/v1/quote/btc-idr", "/v1/payout/methods", "/v1/deposit/rails", "/v1/platform/stats"):
        assert len(await world.service.asked("GET", path)) == 1
    assert took < CROWD * SLOW / 4


async def test_one_order_asked_for_by_all_is_one_request(world: AgentWorld) -> None:
    order_id = (await world.orders())["orderId"]
    await slow(world, "GET")
    results = await asyncio.gather(*(world.call("get_offramp_order", orderId=order_id) for _ in range(CROWD)))
    assert {result.structured_content["id"] for result in results} == {order_id}
    assert len(await world.service.asked("GET", f"{ORDERS}/{order_id}")) == 1


async def test_different_orders_at_once_are_each_made_once(world: AgentWorld) -> None:
    await world.does("list_payout_methods")
    await slow(world, "POST")
    began = time.monotonic()
    results = await asyncio.gather(
        *(world.call("create_offramp_order", **BCA, idrAmount=50_000 + number) for number in range(CROWD))
    )
    took = time.monotonic() - began
    assert not any(result.is_error for result in results)
    amounts = sorted(result.structured_content["idrAmount"] for result in results)
    assert amounts == [50_000 + number for number in range(CROWD)]
    assert await world.service.orders_made() == CROWD
    assert took < CROWD * SLOW / 4


async def test_the_same_order_at_once_is_made_once(world: AgentWorld) -> None:
    await world.does("list_payout_methods")
    await slow(world, "POST")
    results = await asyncio.gather(*(world.call("create_offramp_order", **BCA, idrAmount=50_000) for _ in range(CROWD)))
    assert [result.is_error for result in results].count(False) == 1
    assert await world.service.orders_made() == 1
