"""Faults over ASGI and, if the connection must really break, over a socket."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from bot.sandbox.settlement import SettlementSandboxSettings, create_app
from tests.sandbox.serving import serving
from tests.sandbox.settlement_system import BCA, KEY, ORDERS, SettlementSystem, error_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

QUOTE = "/v1/quote/btc-idr"
BODY = {"idrAmount": 150_000, **BCA}


@asynccontextmanager
async def served() -> AsyncIterator[httpx.AsyncClient]:
    """Serve the service as the sandbox does, on a free port."""
    async with (
        serving(create_app(SettlementSandboxSettings())) as url,
        httpx.AsyncClient(base_url=url, headers=KEY, trust_env=False) as client,
    ):
        yield client


@pytest.mark.parametrize(("fault", "orders"), [("drop_before", 0), ("drop_after", 1)])
async def test_a_dropped_connection_ends_without_a_single_byte(fault: str, orders: int) -> None:
    async with served() as client:
        await client.post("/control/faults", json={"fault": fault, "method": "POST", "times": 1})
        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            await client.post(ORDERS, json=BODY)
        assert len((await client.get(ORDERS)).json()["orders"]) == orders
        assert (await client.get("/control/requests")).json()["statuses"] == {"dropped": 1, "200": 1}
        assert (await client.post(ORDERS, json=BODY)).status_code == 201


@pytest.mark.parametrize(
    ("fault", "status", "orders"),
    [("500", 500, 0), ("500_before", 500, 0), ("500_after", 500, 1), ("503", 503, 0), ("429", 429, 0), ("400", 400, 0)],
)
async def test_a_failure_before_or_after_the_work_was_done(fault: str, status: int, orders: int) -> None:
    async with SettlementSystem() as system:
        await system.control("faults", fault=fault, method="POST", path=ORDERS, times=1, retryAfter=7)
        answer = await system.post(**BODY)
        assert (answer.status_code, answer.headers["retry-after"]) == (status, "7")
        assert error_of(answer)
        assert len(await system.listed()) == orders


async def test_an_empty_list_hides_orders_and_methods_and_leaves_the_rest_alone() -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place())["orderId"]
        await system.control("faults", fault="empty_list", method="GET")
        assert await system.listed() == []
        assert (await system.get("/v1/payout/methods")).json()["data"] == []
        assert (await system.read(order_id))["id"] == order_id
        assert (await system.get(QUOTE)).json()["btcIdr"]


async def test_faults_hit_whom_they_are_meant_for_as_often_as_they_are_meant_to() -> None:
    async with SettlementSystem() as system:
        await system.control("faults", fault="503", method="GET", path=ORDERS, times=2)
        assert (await system.post(**BODY)).status_code == 201
        assert (await system.get(QUOTE)).status_code == 200
        assert [(await system.get(ORDERS)).status_code for _ in range(3)] == [503, 503, 200]
        (fault,) = (await system.control("faults", "GET"))["faults"]
        assert (fault["used"], fault["times"]) == (2, 0)
        await system.control("faults", fault="503")
        assert (await system.get(QUOTE)).status_code == 503
        await system.control("faults", "DELETE")
        assert (await system.get(QUOTE)).status_code == 200
